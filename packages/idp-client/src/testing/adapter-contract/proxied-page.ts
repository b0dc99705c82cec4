import { atMost } from '../../lib/pause.ts'
import type { Browser } from './browser.ts'
import { signedInBrowser } from './browser.ts'
import { claim, claimEqual } from './claim.ts'
import type { ContractHost } from './host.ts'
import type { ContractUpstream, ProxiedRequest, ProxiedResponse } from './upstream.ts'

/** Ends a test that hangs, in milliseconds. */
const HANG_GUARD = 60_000

/** Headers of requests that scripts of the application send. */
export const own = { 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'empty' } as const

/** Headers that the API may get; those of the last line are of the connection, and of `fetch` itself. */
const ALLOWED: readonly RegExp[] = [
  /^(?:accept|accept-language|content-type|content-language|range|last-event-id|idempotency-key|prefer|traceparent|tracestate)$/,
  /^if-/,
  /^authorization$/,
  /^(?:host|connection|keep-alive|accept-encoding|content-length|transfer-encoding|user-agent|sec-fetch-mode|priority|cache-control|pragma|cf-.*)$/,
]

/** Ends a test that hangs with what did not happen. */
export async function within<T>(what: string, promise: Promise<T>): Promise<T> {
  claim(await atMost(HANG_GUARD, promise), `it did not happen that ${what}`)
  return promise
}

/** Returns the path of the proxy. */
export const getProxyPath = ({ proxyPath = '/proxied' }: ContractHost): string => proxyPath

export function getUpstream({ upstream }: ContractHost): ContractUpstream {
  claim(upstream !== undefined, 'the host has an upstream')
  return upstream
}

/** A page of a signed-in user that calls the API, at a path that no other page uses. */
export class ProxiedPage {
  readonly browser: Browser
  readonly upstream: ContractUpstream
  /** The token that the API gets. */
  readonly token: string
  /** The segment below the prefix, which only requests of this page contain. */
  readonly id: string = `page-${crypto.randomUUID()}`

  private constructor(browser: Browser, token: string) {
    this.browser = browser
    this.upstream = getUpstream(browser.host)
    this.token = token
  }

  /** Signs a user in. */
  static async open(host: ContractHost): Promise<ProxiedPage> {
    const browser = await signedInBrowser(host)
    const { token } = await browser.json(`/token?style=${browser.style}`)
    claim(typeof token === 'string', 'the session has an access token')
    return new ProxiedPage(browser, token)
  }

  /** Returns another page of the same user. */
  next(): ProxiedPage {
    return new ProxiedPage(this.browser, this.token)
  }

  /** Returns the URL of a path of the API. */
  url(rest = ''): URL {
    return this.browser.url(`${getProxyPath(this.browser.host)}/${this.id}${rest}`)
  }

  /** Returns the path of the API that a path below this page is for. */
  target(rest = ''): string {
    return `${new URL(this.upstream.url).pathname}/${this.id}${rest}`
  }

  /** Returns path and query of a request as they can be compared: servers may write the query anew. */
  toComparable(target: string): string {
    if (!this.browser.host.proxyLimits?.respellsQuery) return target
    const [path, ...query] = target.split('?')
    return `${path}?${new URLSearchParams(query.join('?'))}`
  }

  /** The requests of this page that the API has received. */
  received(): readonly ProxiedRequest[] {
    return this.upstream.requests.filter(({ target }) => target.includes(this.id))
  }

  /** Sets the response to requests of this page; returns its removal. */
  respond(response: ProxiedResponse, when: (request: ProxiedRequest) => boolean = () => true): () => void {
    return this.upstream.respond(response, {
      when: (request) => request.target.includes(this.id) && when(request),
    })
  }

  /** Waits until a condition is true for the first request of this page. */
  until(what: string, isTrue: (request: ProxiedRequest) => boolean): Promise<void> {
    return within(
      what,
      this.upstream.until(() => this.received().slice(0, 1).some(isTrue)),
    )
  }

  /** Sends a request as a script of the application does. */
  fetch(rest = '', { headers, method = 'GET', ...init }: RequestInit = {}): Promise<Response> {
    const { origin } = this.browser.url('')
    const isRead = method === 'GET' || method === 'HEAD'
    return this.browser.fetch(this.url(rest), {
      ...init,
      method,
      headers: { ...own, ...(isRead ? {} : { origin }), ...Object.fromEntries(new Headers(headers)) },
    })
  }

  /** Asserts that the API has got what it may get, and the token. */
  claimClean({ headers, header, method }: ProxiedRequest): void {
    claimEqual(header('authorization'), `Bearer ${this.token}`, `the credential of ${method}`)
    const names = headers.map(([name]) => name.toLowerCase())
    const others = names.filter((name) => !ALLOWED.some((allowed) => allowed.test(name)))
    claimEqual(others, [], `further headers that the API gets with ${method}`)
  }
}

/** Returns the SHA-256 of bytes in hexadecimal. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
