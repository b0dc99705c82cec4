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
