import type { DevProvider } from 'idp-dev-provider'
import { CookieBrowser } from '../cookie-browser.ts'

export interface SoakResponse {
  readonly status: number
  /** Id of the process that responded. */
  readonly pid: number | undefined
  /** Error code of the library in the body. */
  readonly code: string | undefined
  /** Error code of its cause, for example of a timeout. */
  readonly because: string | undefined
  /** Error code of the provider, if its response is the cause. */
  readonly said: string | undefined
  readonly body: Readonly<Record<string, unknown>>
  readonly location: string | null
}

/** Only ends requests that hang: milliseconds, far longer than any response takes. */
const HANG_GUARD = 120_000

/** The connection broke before the response: the request may have had an effect. */
export const LOST = 'lost'

/** There was no response. */
export const HUNG = 'hung'

export type Outcome = SoakResponse | typeof LOST | typeof HUNG

export function isResponse(outcome: Outcome): outcome is SoakResponse {
  return outcome !== LOST && outcome !== HUNG
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function toErrorCode(body: Record<string, unknown>): string | undefined {
  const { error } = body
  const nested = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return toText(nested) ?? toText(body['code'])
}

/** A user with a browser that sends any number of parallel requests. */
export class SoakUser {
  readonly name: string
  readonly browser = new CookieBrowser()
  readonly #url: string
  readonly #provider: DevProvider

  constructor(name: string, url: string, provider: DevProvider) {
    this.name = name
    this.#url = url
    this.#provider = provider
  }

  async send(path: string, init: RequestInit = {}, browser = this.browser): Promise<Outcome> {
    const signal = AbortSignal.timeout(HANG_GUARD)
    const headers = { accept: 'application/json', 'content-type': 'application/json' }
    try {
      const response = await browser.send(new URL(path, this.#url).href, { ...init, headers, signal })
      const body = parse(await response.text())
      const pid = response.headers.get('x-process')
      return {
        status: response.status,
        pid: pid === null ? undefined : Number(pid),
        code: toErrorCode(body),
        because: toText(body['because']),
        said: toText(body['said']),
        body,
        location: response.headers.get('location'),
      }
    } catch {
      return signal.aborted ? HUNG : LOST
    }
  }

  /** Returns the response of the callback, or of the step that failed. */
  async logIn(): Promise<Outcome> {
    const begun = await this.send('/auth/login')
    if (!isResponse(begun) || begun.location === null || begun.status !== 302) return begun
    const { location } = await this.#provider.login(begun.location, { user: this.name })
    if (location === undefined) throw new Error('the provider did not redirect')
    return this.send(location)
  }
}
