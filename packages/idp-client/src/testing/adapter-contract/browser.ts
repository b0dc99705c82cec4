import { ContractViolation, claim } from './claim.ts'
import type { CallingStyle, ContractHost, ContractUser, WayBack } from './host.ts'

/** A parsed `Set-Cookie` line. Attribute names are in lower case; those without a value are `''`. */
export interface SetCookie {
  readonly name: string
  readonly value: string
  readonly attributes: ReadonlyMap<string, string>
}

export interface BrowserResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly cookies: readonly SetCookie[]
  /** Absolute URL, as the browser resolves it. */
  readonly location: URL | null
}

export interface Sending {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

function parseSetCookie(line: string): SetCookie {
  const [pair = '', ...parts] = line.split(';')
  const cut = pair.indexOf('=')
  const attributes = new Map<string, string>()
  for (const part of parts) {
    const [name = '', value = ''] = part.split('=', 2)
    attributes.set(name.trim().toLowerCase(), value.trim())
  }
  return { name: pair.slice(0, cut).trim(), value: pair.slice(cut + 1).trim(), attributes }
}

function isDeletion({ attributes }: SetCookie): boolean {
  const maxAge = attributes.get('max-age')
  if (maxAge !== undefined) return Number(maxAge) <= 0
  const expires = attributes.get('expires')
  return expires !== undefined && Date.parse(expires) <= 0
}

/** Whether `fetch` failed because the server had closed the connection. */
function isConnectionLost(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return (
    cause instanceof Error &&
    'code' in cause &&
    /^(?:UND_ERR_SOCKET|ECONNRESET|EPIPE)$/.test(String(cause.code))
  )
}

/** A browser of one user in front of the host under test. Stores cookies like browsers and follows no redirect. */
export class Browser {
  readonly host: ContractHost
  readonly #cookies = new Map<string, SetCookie>()

  constructor(host: ContractHost) {
    this.host = host
  }

  /** Returns the absolute URL of a path below the base path. */
  url(path: string): URL {
    return new URL(this.host.url + path)
  }

  /** Adds a cookie to the jar, as if the host had set it. */
  plant(name: string, value: string): void {
    this.#cookies.set(name, { name, value, attributes: new Map([['path', '/']]) })
  }

  value(name: string): string | undefined {
    return this.#cookies.get(name)?.value
  }

  names(prefix: string): string[] {
    return [...this.#cookies.keys()].filter((name) => name.startsWith(prefix))
  }

  /** Returns the `Cookie` header for a URL. */
  cookieHeader(url: URL, crossSite = false): string {
    return [...this.#cookies.values()]
      .filter(({ attributes }) => {
        if (attributes.has('secure') && url.protocol !== 'https:') return false
        if (crossSite && attributes.get('samesite')?.toLowerCase() !== 'none') return false
        const path = attributes.get('path') ?? '/'
        return path === '/' || url.pathname === path || url.pathname.startsWith(`${path}/`)
      })
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
  }

  /** Returns the address that a request for a URL of the application is sent to. */
  address(url: URL): URL {
    const base = new URL(this.host.url).pathname.replace(/\/$/, '').length
    return new URL((this.host.listensAt ?? this.host.url) + url.pathname.slice(base) + url.search)
  }

  /** Returns the headers of every request: the cookies, and those of a proxy in front. */
  headers(url: URL, crossSite = false): Record<string, string> {
    const cookie = this.cookieHeader(url, crossSite)
    return { ...this.#forwarded(url), ...(cookie === '' ? {} : { cookie }) }
  }

  /** Sends one request, as `send`, and returns its response before its body has arrived. */
  async fetch(url: URL, { headers, ...init }: RequestInit = {}, crossSite = false): Promise<Response> {
    const response = await fetch(this.address(url), {
      ...init,
      redirect: 'manual',
      // A server may close an idle connection just when `fetch` uses it again.
      headers: {
        connection: 'close',
        ...this.headers(url, crossSite),
        ...Object.fromEntries(new Headers(headers)),
      },
    })
    for (const cookie of response.headers.getSetCookie().map(parseSetCookie)) {
      if (isDeletion(cookie)) this.#cookies.delete(cookie.name)
      else this.#cookies.set(cookie.name, cookie)
    }
    return response
  }

  /** Sends one request to a path below the base path, or to an absolute URL of the application. */
  send(target: string | URL, sending: Sending = {}): Promise<BrowserResponse> {
    return this.#load(typeof target === 'string' ? this.url(target) : target, sending)
  }

  async #load(url: URL, init: RequestInit, isCrossSite = false): Promise<BrowserResponse> {
    const place = url.origin + url.pathname
    const isInside = `${place}/`.startsWith(`${this.host.url}/`)
    claim(isInside, `the browser stays below ${this.host.url}, and is not sent to ${place}`)
    const response = await this.fetch(url, init, isCrossSite).catch((error: unknown) => {
      // A server may close an idle connection while it is used again; browsers then repeat the request, `fetch` of Node.js does not.
      if ((init.method ?? 'GET') !== 'GET' || !isConnectionLost(error)) throw error
      return this.fetch(url, init, isCrossSite)
    })
    const location = response.headers.get('location')
    return {
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      cookies: response.headers.getSetCookie().map(parseSetCookie),
      location: location === null ? null : new URL(location, url),
    }
  }

  /** Sends a request and parses the response as JSON. */
  async json(path: string, sending?: Sending): Promise<Record<string, unknown>> {
    const { text, status } = await this.send(path, sending)
    try {
      return JSON.parse(text) as Record<string, unknown>
    } catch {
      throw new ContractViolation(`${path} responds with JSON (status ${status})`)
    }
  }

  /** A calling style that the host supports. */
  get style(): CallingStyle {
    return this.host.styles[0] ?? 'explicit'
  }

  /** Returns the session of this browser as the application sees it. */
  whoami(style: CallingStyle = this.style): Promise<Record<string, unknown>> {
    return this.json(`/whoami?style=${style}`)
  }

  /** Opens the login route and returns the authorization URL. */
  async begin(returnTo?: string): Promise<string> {
    const query = returnTo === undefined ? '' : `?returnTo=${encodeURIComponent(returnTo)}`
    const { status, location } = await this.send(`/auth/login${query}`)
    claim(status === 302 && location !== null, `the login route redirects (status ${status})`)
    claim(location.origin !== this.url('').origin, 'the login route redirects to the provider')
    return location.href
  }

  /** Returns from the provider to the callback route. */
  comeBack(way: WayBack): Promise<BrowserResponse> {
    if (!way.form) return this.send(new URL(way.location))
    // A page of another site posts it, so that only SameSite=None cookies are sent.
    const headers = { origin: 'https://provider.example' }
    const body = new URLSearchParams(way.form.fields)
    return this.#load(new URL(way.form.action), { method: 'POST', headers, body }, true)
  }

  /** Logs in completely and returns the response of the callback route. */
  async logIn(user: ContractUser, returnTo?: string): Promise<BrowserResponse> {
    return this.comeBack(await this.host.signIn(await this.begin(returnTo), user))
  }

  #forwarded(url: URL): Record<string, string> {
    if (this.host.listensAt === undefined) return {}
    return { 'x-forwarded-host': url.host, 'x-forwarded-proto': url.protocol.slice(0, -1) }
  }
}

/** Returns a browser in which Alice has a session. */
export async function signedInBrowser(host: ContractHost): Promise<Browser> {
  const browser = new Browser(host)
  await browser.logIn({ user: 'alice' })
  return browser
}
