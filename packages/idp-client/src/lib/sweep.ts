import { monotonic } from './clock.ts'
import { outsideRequest } from './request-scope.ts'

/**
 * Returns a function to call after each addition. It schedules `sweep`, which removes what has expired, in that many
 * milliseconds, and again as long as `sweep` returns true because something is left. All additions share one timer, since a
 * timer keeps the scope in which it was created reachable. The timer does not keep the process alive.
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
