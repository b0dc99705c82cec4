import { expect, vi } from 'vitest'
import type { MaybePromise } from '../../src/lib/chain.ts'

/** Numbers from 0 to 1 that depend on the seed only. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0
    return ((state ^ (state >>> 12)) >>> 0) / 2 ** 32
  }
}

/** The calls that wait until they are chosen. */
export class Choices {
  readonly next: () => number
  readonly #waiting: (() => void)[] = []

  constructor(seed: number) {
    this.next = random(seed)
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)] ?? expect.fail('the list is empty')
  }

  readonly turn = (): Promise<void> => new Promise((resolve) => this.#waiting.push(resolve))

  /** Lets one continue, or time pass. */
  async step(): Promise<void> {
    const [chosen] = this.#waiting.splice(Math.floor(this.next() * this.#waiting.length), 1)
    if (chosen) chosen()
    else if (vi.isFakeTimers()) await vi.advanceTimersByTimeAsync(40)
    for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve))
  }

  /** Lets calls continue until the work has ended. */
  async drive<T>(work: MaybePromise<T>): Promise<T> {
    let isRunning = true
    const end = (): void => {
      isRunning = false
    }
    const running = Promise.resolve(work)
    running.then(end, end)
    while (isRunning) await this.step()
    return running
  }
}

export const ISSUER = 'https://idp.example.com/'

/** A provider, and the refresh tokens that it has received. `rotates`: each is valid once. */
export function interleavedProvider({ turn }: Choices, rotates = true) {
  const sent: string[] = []
  let current = 'rt'
  const respond = (url: string, body: unknown): object => {
    if (url.endsWith('/openid-configuration'))
      return {
        issuer: ISSUER,
        authorization_endpoint: `${ISSUER}authorize`,
        token_endpoint: `${ISSUER}token`,
      }
    const form = new URLSearchParams(String(body))
    const isExchange = form.has('subject_token')
    const token = form.get(isExchange ? 'subject_token' : 'refresh_token') ?? ''
    if (!isExchange) sent.push(token)
    if (token !== current) return { error: 'invalid_grant' }
    const access = { access_token: `at ${sent.length}`, token_type: 'Bearer', expires_in: 600 }
    if (isExchange) return access
    if (rotates) current = `${token}+`
    return { ...access, refresh_token: current }
  }
  const fetch: typeof globalThis.fetch = async (input, init) => {
    await turn()
    const body = respond(String(input), init?.body)
    await turn()
    return Response.json(body, { status: 'error' in body ? 400 : 200 })
  }
  return { sent, fetch }
}
