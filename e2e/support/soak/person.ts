import type { DevProvider } from 'idp-dev-provider'

export interface Answer {
  readonly status: number
  /** Which process answered. */
  readonly pid: number | undefined
  /** Our code in the body of an answer that is an error. */
  readonly code: string | undefined
  /** Our code of what stands behind it, for example a timeout. */
  readonly because: string | undefined
  /** The provider's own error, if the code stands for one. */
  readonly said: string | undefined
  readonly body: Readonly<Record<string, unknown>>
  readonly location: string | null
}

/** Only ends requests that hang: milliseconds, far longer than any response takes. */
const HANG_GUARD = 120_000

/** The connection broke before the answer: what happened to the request nobody knows. */
export const LOST = 'lost'

/** No answer came at all. */
export const HUNG = 'hung'

export type Outcome = Answer | typeof LOST | typeof HUNG

export function isAnswer(outcome: Outcome): outcome is Answer {
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

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function codeOf(body: Record<string, unknown>): string | undefined {
  const { error } = body
  const nested = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return textOf(nested) ?? textOf(body['code'])
}

/** A user with a browser: one cookie jar, any number of parallel requests. */
export class Person {
  readonly name: string
  readonly cookies = new Map<string, string>()
  readonly #url: string
  readonly #provider: DevProvider

  constructor(name: string, url: string, provider: DevProvider) {
    this.name = name
    this.#url = url
    this.#provider = provider
  }

  async send(path: string, init: RequestInit = {}, cookies = this.cookies): Promise<Outcome> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const signal = AbortSignal.timeout(HANG_GUARD)
    const headers = { accept: 'application/json', 'content-type': 'application/json', cookie }
    try {
      const url = new URL(path, this.#url)
      const response = await fetch(url, { ...init, headers, redirect: 'manual', signal })
      const body = parse(await response.text())
      for (const text of response.headers.getSetCookie()) this.#store(cookies, text)
      const pid = response.headers.get('x-process')
      return {
        status: response.status,
        pid: pid === null ? undefined : Number(pid),
        code: codeOf(body),
        because: textOf(body['because']),
        said: textOf(body['said']),
        body,
        location: response.headers.get('location'),
      }
    } catch {
      return signal.aborted ? HUNG : LOST
    }
  }

  #store(cookies: Map<string, string>, text: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? []
    if (/;\s*max-age=0(?:;|$)/i.test(text)) cookies.delete(name)
    else cookies.set(name, value)
  }

  /** The answer of the callback, or of the step that went wrong. */
  async logIn(): Promise<Outcome> {
    const begun = await this.send('/auth/login')
    if (!isAnswer(begun) || begun.location === null || begun.status !== 302) return begun
    const { location } = await this.#provider.login(begun.location, { user: this.name })
    if (location === undefined) throw new Error('the provider did not redirect')
    return this.send(location)
  }
}
