import { monotonic } from './clock.ts'
import { outsideRequest } from './request-scope.ts'

/**
 * Returns a function to call after something was added that `sweep` is to remove. `sweep` runs in so many milliseconds,
 * and again for as long as it returns that something is left. There is one timer, however much is added: a timer keeps the
 * scopes of the application that it was created in reachable. It keeps no process alive.
 */
export function sweeping(milliseconds: number, sweep: () => boolean): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let dueAt = Number.POSITIVE_INFINITY

  function schedule(): void {
    clearTimeout(timer)
    dueAt = monotonic() + milliseconds
    timer = outsideRequest(() => setTimeout(run, milliseconds))
    const given: unknown = timer
    if (typeof given === 'object' && given !== null && 'unref' in given) (given as { unref(): void }).unref()
  }

  function run(): void {
    timer = undefined
    if (sweep()) schedule()
  }

  return () => {
    // Some runtimes end the timers of a request with it.
    if (timer === undefined || monotonic() > dueAt + milliseconds) schedule()
  }
}
