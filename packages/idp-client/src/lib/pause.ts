/** Resolves after that many milliseconds (at most 2^31 - 1), or at once when `signal` is aborted; never rejects. */
export type Pause = (milliseconds: number, signal?: AbortSignal) => Promise<void>

export const pause: Pause = (milliseconds, signal) =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    signal?.addEventListener('abort', done, { once: true })
  })

/** Resolves to true when `work` settles, or to false after that many milliseconds; never rejects. */
export function atMost(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), milliseconds)
    const done = (): void => {
      clearTimeout(timer)
      resolve(true)
    }
    work.then(done, done)
  })
}
