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

/** Resolves when `work` settles, or after that many milliseconds; never rejects. */
export async function atMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController()
  const settled = work.then(
    () => over.abort(),
    () => over.abort(),
  )
  await Promise.race([settled, pause(milliseconds, over.signal)])
}
