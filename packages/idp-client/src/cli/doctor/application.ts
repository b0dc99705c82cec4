import { isLoopback } from '../../config/base-url.ts'
import type { Config } from '../../config/config.ts'
import { isInternal } from '../../config/request-host.ts'
import { randomToken } from '../../crypto/random.ts'
import { parseUrl } from '../../lib/url.ts'
import type { ServerMetadata } from '../../oidc/metadata.ts'
import { toTransportError } from '../../oidc/transport-error.ts'
import { toRedirectUri } from '../../transaction/authorization.ts'
import type { FindingCode } from './codes.ts'
import type { Findings } from './findings.ts'
import { find, isRemedy } from './findings.ts'
import type { PlainRequest, PlainResponse } from './http.ts'
import { requestApplication } from './http.ts'
import { checkCookies } from './set-cookie.ts'

/** The running application. */
export interface Site {
  readonly config: Config
  readonly metadata: ServerMetadata | undefined
  /** Base URL as browsers see it, without trailing slash. */
  readonly app: string
  /** Whether the application has a session store, as far as that is known. */
  readonly hasStore: boolean
}

/** How a browser opens an address that was typed. */
const NAVIGATION = {
  accept: 'text/html',
  'sec-fetch-dest': 'document',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-site': 'none',
} as const

function send({ app, config }: Site, path: string, request: PlainRequest): Promise<PlainResponse> {
  return requestApplication(new URL(`${app}${config.basePath}${path}`), request, config.httpTimeout)
}

const openLogin = (site: Site, query = '', headers: PlainRequest['headers'] = {}): Promise<PlainResponse> =>
  send(site, `${site.config.routes.login}${query}`, { headers: { ...NAVIGATION, ...headers } })

function findUnreachable({ app }: Site, error: unknown): Findings {
  const { message, remedy } = toTransportError(error)
  const isLocal = app.startsWith('https:') && isLoopback(new URL(app).host)
  if (isLocal && remedy === 'NOT_TLS') return find('HTTPS_BASE_URL', `${app}: ${message}`)
  return find('APP_UNREACHABLE', `${app} did not respond. ${message}`)
}

/** Returns the code on a failure page of the library, or in its JSON. */
function toOwnCode(text: string): string | undefined {
  const [, onPage, inJson] = /<small>([A-Z_]+) · |"code":"([A-Z_]+)"/.exec(text) ?? []
  const code = onPage ?? inJson
  return code !== undefined && isRemedy(code) ? code : undefined
}

function findFailure({ headers, status, text }: PlainResponse): Findings {
  const code = toOwnCode(text)
  if (code !== undefined && isRemedy(code))
    return find(code, `The login route of the application responds with ${code} (HTTP status ${status}).`)
  if (status === 404) {
    const isNext = headers.get('x-powered-by')?.includes('Next.js') === true
    return find(
      isNext ? 'PROXY_NOT_REACHED' : 'LOGIN_ROUTE_NOT_FOUND',
      'The login route responds with HTTP status 404.',
    )
  }
  const isProxy = status === 502 || status === 503 || status === 504
  return find(isProxy ? 'PROXY_FAILED' : 'APP_FAILED', `The login route responds with HTTP status ${status}.`)
}

/** Compares the redirect URI that the application sends with the one of its public address. */
function checkSentRedirectUri(sent: string, { app, config }: Site): Findings {
  const expected = toRedirectUri(config, app, config.authorization.redirectUri)
  if (sent === expected) return []
  const [actual, wanted] = [new URL(sent), new URL(expected)]
  const message = `The application sends the redirect URI ${actual.origin}${actual.pathname}, but its address is ${app}.`
  if (actual.hostname === wanted.hostname && actual.protocol !== wanted.protocol)
    return find('FORWARDED_HEADERS_IGNORED', message)
  if (actual.host === wanted.host) {
    // The callback path itself may differ: the code can set it.
    const lacksBasePath =
      wanted.pathname.endsWith(actual.pathname) && actual.pathname.endsWith(config.routes.callback)
    return find(lacksBasePath ? 'BASE_PATH_MISSING' : 'APP_CONFIGURED_DIFFERENTLY', message)
  }
  return find(isInternal(actual.hostname) ? 'BASE_URL_INTERNAL' : 'STATE_HOST_MISMATCH', message)
}

/** Checks where the login route redirects to. */
function checkLocation(location: string, site: Site): Findings {
  const { app, config, metadata } = site
  const target = parseUrl(location, app)
  const isLoginOfProvider = target?.searchParams.has('client_id') === true
  if (!target || !isLoginOfProvider)
    return find('APP_REDIRECTS', 'The login route redirects to another address than that of the provider.')
  const endpoint = metadata?.authorizationEndpoint
  const isElsewhere = endpoint !== undefined && new URL(endpoint).host !== target.host
  if (isElsewhere || target.searchParams.get('client_id') !== config.clientId)
    return find('APP_CONFIGURED_DIFFERENTLY', 'The application uses another provider or client id.')
  const sent = target.searchParams.get('redirect_uri')
  return sent === null || !parseUrl(sent) ? [] : checkSentRedirectUri(sent, site)
}

const isNoStore = ({ headers }: PlainResponse): boolean =>
  /\bno-store\b/i.test(headers.get('cache-control') ?? '')

/** A cache returns the `state` of an earlier login. */
async function checkCaching(first: PlainResponse, site: Site): Promise<Findings> {
  const again = await openLogin(site)
  if (again.headers.get('location') === first.headers.get('location'))
    return find('RESPONSE_CACHED', 'Two requests for the login route get the same response.')
  return isNoStore(first) ? [] : find('NO_STORE_LOST', 'The login route responds without no-store.')
}

/** Bytes of all cookies of the library, and of the response that carries them. */
const COOKIE_BYTES = 7900
/** Makes the head of the response larger than 4096 bytes: the transaction cookie and the address contain it. */
const RESPONSE_BYTES = 2500

/** Statuses of proxies and servers for a head that is too large. */
const TOO_LARGE: ReadonlySet<number> = new Set([400, 413, 414, 431, 494, 502])

const findTooLarge = ({ status }: PlainResponse, code: FindingCode, what: string): Findings =>
  TOO_LARGE.has(status) ? find(code, `${what} gets HTTP status ${status}.`) : []

async function checkHeaders(site: Site): Promise<Findings> {
  const request = await openLogin(site, '', { cookie: `idp_doctor=${'x'.repeat(COOKIE_BYTES)}` })
  const query = `?ui_locales=${'x'.repeat(RESPONSE_BYTES)}&returnTo=/${'x'.repeat(1000)}`
  const response = await openLogin(site, query)
  return [
    ...findTooLarge(request, 'REQUEST_HEADERS_REFUSED', `A request with ${COOKIE_BYTES} bytes of cookies`),
    ...findTooLarge(response, 'RESPONSE_HEADERS_REFUSED', 'A response with a head of about 5000 bytes'),
  ]
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' } as const

/** Posts an invalid logout token, as a server of the provider would: without `Origin` and cookies. */
async function checkBackchannel(site: Site): Promise<Findings> {
  const { config, hasStore } = site
  if (config.disabledRoutes.has('backChannelLogout')) return []
  const response = await send(site, config.routes.backChannelLogout, {
    method: 'POST',
    headers: FORM,
    body: 'logout_token=none',
  })
  const code = toOwnCode(response.text)
  if (code === 'BACKCHANNEL_LOGOUT_NOT_SUPPORTED')
    return hasStore ? find(code, 'The back-channel logout route responds with HTTP status 501.') : []
  if (code !== undefined) return []
  return find(
    'BACKCHANNEL_LOGOUT_BLOCKED',
    `A POST to the back-channel logout route does not reach the library (HTTP status ${response.status}).`,
  )
}

/** Posts a callback that belongs to no login, as a page of the provider would. */
async function checkFormPost(site: Site): Promise<Findings> {
  const { config } = site
  if (config.authorization.parameters.get('response_mode') !== 'form_post') return []
  const response = await send(site, config.routes.callback, {
    method: 'POST',
    headers: {
      ...FORM,
      ...NAVIGATION,
      origin: new URL(config.provider.url).origin,
      'sec-fetch-site': 'cross-site',
    },
    body: `error=login_required&state=${randomToken()}`,
  })
  if (toOwnCode(response.text) !== undefined) return []
  return find(
    'FORM_POST_BLOCKED',
    `A cross-site POST to the callback route does not reach the library (HTTP status ${response.status}).`,
  )
}

/** Cookies need https, except on this machine. */
function checkScheme({ app }: Site): Findings {
  const { host, protocol } = new URL(app)
  if (protocol === 'https:' || isLoopback(host)) return []
  return find('APP_URL_INSECURE', `The address of the application, ${app}, is http.`)
}

/** Starts logins at the running application as a browser, and posts what a provider posts. */
export async function checkApplication(site: Site): Promise<Findings> {
  const scheme = checkScheme(site)
  try {
    const first = await openLogin(site)
    const location = first.headers.get('location')
    if (first.status < 300 || first.status > 399 || location === null)
      return [...scheme, ...findFailure(first)]
    const redirect = checkLocation(location, site)
    if (redirect.some(({ code }) => code === 'APP_REDIRECTS')) return [...scheme, ...redirect]
    return [
      ...scheme,
      ...redirect,
      ...checkCookies(first, site),
      ...(await checkCaching(first, site)),
      ...(await checkHeaders(site)),
      ...(await checkBackchannel(site)),
      ...(await checkFormPost(site)),
    ]
  } catch (error) {
    return [...scheme, ...findUnreachable(site, error)]
  }
}
