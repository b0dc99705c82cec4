import type { DevProvider, DevProviderOptions } from 'idp-dev-provider'
import { startDevProvider } from 'idp-dev-provider'
import { customClock } from '../../src/config/options.ts'
import type { IdpClientOptions, LogEvent, SessionData } from '../../src/index.ts'
import { IdpClient } from '../../src/index.ts'
import { SECRET } from './engine.ts'
import { PATIENT } from './timeouts.ts'

export const APP = 'http://localhost:3000'

/** Start time of a world: about real time, which decides whether a cookie of the provider has expired. */
export const currentTime = (): number => Math.floor(Date.now() / 1000)

interface StoredCookie {
  readonly value: string
  readonly text: string
  readonly path: string
}

/** A browser that sends requests to a Web client: keeps cookies like a browser, and follows no redirect. */
export class Browser {
  readonly cookies = new Map<string, StoredCookie>()
  readonly #client: IdpClient
  readonly #origin: string

  constructor(client: IdpClient, origin = APP) {
    this.#client = client
    this.#origin = origin
  }

  request(path: string, init: RequestInit = {}): Request {
    const url = new URL(path, this.#origin)
    const headers = new Headers(init.headers)
    headers.set('host', url.host)
    const cookie = [...this.cookies]
      .filter(([, { path: scope }]) => url.pathname.startsWith(scope))
      .map(([name, { value }]) => `${name}=${value}`)
    if (cookie.length > 0) headers.set('cookie', cookie.join('; '))
    return new Request(url, { ...init, headers })
  }

  store(response: Response): Response {
    for (const text of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? []
      if (/;\s*max-age=0(;|$)/i.test(text)) this.cookies.delete(name)
      else this.cookies.set(name, { value, text, path: /;\s*path=([^;]*)/i.exec(text)?.[1] ?? '/' })
    }
    return response
  }

  async send(path: string, init: RequestInit = {}): Promise<Response> {
    return this.store(await this.#client.middleware(this.request(path, init)))
  }

  names(prefix: string): string[] {
    return [...this.cookies.keys()].filter((name) => name.startsWith(prefix))
  }

  /** The session, as the application reads it. */
  async session(): Promise<SessionData> {
    const session = await this.#client.getSession(this.request('/'))
    if (!session) throw new Error('there is no session')
    return session
  }
}

export interface World {
  readonly provider: DevProvider
  readonly client: IdpClient
  readonly browser: Browser
  readonly events: LogEvent[]
  /** The clock of client and provider; only tests move it. `provider.clock` changes that of the provider alone. */
  readonly clock: { now: number }
  newBrowser(): Browser
  /** A second client of the same application, with other options. */
  another(options?: IdpClientOptions): { client: IdpClient; browser: Browser }
  /** From the login route to the URL that the provider sends the browser to. */
  begin(browser: Browser, query?: string): Promise<string>
  authorize(url: string, options?: Parameters<DevProvider['login']>[1]): Promise<string>
  /** Requests of the token endpoint that redeem a refresh token. */
  refreshes(): ReturnType<DevProvider['requests']>
  /** A complete login; returns the response of the callback route. */
  login(browser: Browser, query?: string, options?: Parameters<DevProvider['login']>[1]): Promise<Response>
}

export async function startWorld(
  options: IdpClientOptions = {},
  providerOptions: DevProviderOptions = {},
): Promise<World> {
  const clock = { now: currentTime() }
  const provider = await startDevProvider({
    host: '127.0.0.1',
    clock: () => clock.now,
    ...providerOptions,
  })
  const events: LogEvent[] = []
  const defaults: IdpClientOptions = {
    domain: provider.issuer,
    clientId: provider.clientId,
    clientSecret: provider.clientSecret,
    secret: SECRET,
    appBaseUrl: APP,
    allowInsecureRequests: true,
    httpTimeout: PATIENT,
    logger: (event) => events.push(event),
    [customClock]: () => clock.now,
  }
  const client = new IdpClient({ ...defaults, ...options })

  async function begin(browser: Browser, query = ''): Promise<string> {
    const response = await browser.send(`/auth/login${query}`)
    const location = response.headers.get('location')
    if (response.status !== 302 || location === null)
      throw new Error(`login responded with ${response.status}`)
    return location
  }

  async function authorize(
    url: string,
    login: Parameters<DevProvider['login']>[1] = { user: 'alice' },
  ): Promise<string> {
    const result = await provider.login(url, login)
    if (result.location === undefined) throw new Error('the provider did not redirect')
    return result.location
  }

  return {
    provider,
    client,
    browser: new Browser(client),
    events,
    clock,
    newBrowser: () => new Browser(client),
    another(changes = {}) {
      const other = new IdpClient({ ...defaults, ...options, ...changes })
      const origin = typeof changes.appBaseUrl === 'string' ? changes.appBaseUrl : APP
      return { client: other, browser: new Browser(other, origin) }
    },
    begin,
    authorize,
    refreshes: () => provider.requests('token').filter(({ body }) => body['grant_type'] === 'refresh_token'),
    login: async (browser, query, login) => browser.send(await authorize(await begin(browser, query), login)),
  }
}
