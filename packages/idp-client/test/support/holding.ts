/** A fetch that holds back the response to the first request of a refresh. */
export interface Holding {
  readonly fetch: typeof fetch
  /** Resolves when the provider has responded, and perhaps rotated the token. */
  readonly responded: Promise<void>
  /** Lets the response through. */
  release(): void
  /** Ends the connection of the response that is held back. */
  cut(): void
}

export function holding(): Holding {
  let release = (): void => {}
  let cut = (): void => {}
  let respond = (): void => {}
  const responded = new Promise<void>((resolve) => {
    respond = resolve
  })
  const gate = new Promise<void>((resolve, reject) => {
    release = resolve
    cut = () => reject(new TypeError('the connection was reset'))
  })
  gate.catch(() => {})
  let isFirst = true
  return {
    responded,
    release: () => release(),
    cut: () => cut(),
    async fetch(input, init) {
      const isHeld = isFirst && String(init?.body ?? '').includes('grant_type=refresh_token')
      if (isHeld) isFirst = false
      const response = await fetch(input, init)
      if (!isHeld) return response
      respond()
      await gate
      return response
    },
  }
}
