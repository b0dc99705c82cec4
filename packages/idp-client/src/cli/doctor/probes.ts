import { toUrls } from '../../config/base-url.ts'
import type { Config } from '../../config/config.ts'
import { randomToken } from '../../crypto/random.ts'
import { describe } from '../../errors/diagnosis.ts'
import { isInvalidGrant, OAuthError } from '../../errors/provider.ts'
import { defined } from '../../lib/objects.ts'
import { parseUrl } from '../../lib/url.ts'
import { authorizationUrl, newCodeVerifier } from '../../oidc/authorize.ts'
import { endSessionUrl, v2LogoutUrl } from '../../oidc/end-session.ts'
import { parseObject, stringProperty } from '../../oidc/json.ts'
import type { ServerMetadata } from '../../oidc/metadata.ts'
import { hasAlias } from '../../oidc/metadata.ts'
import type { Provider } from '../../oidc/provider.ts'
import { createProvider } from '../../oidc/provider.ts'
import { requestTokens } from '../../oidc/token-endpoint.ts'
import { oauthErrorAt, refusal } from '../../oidc/translate.ts'
import { withOfferedScope } from '../../tokens/offered-scope.ts'
import { effectiveAuthorization, toRedirectUri } from '../../transaction/authorization.ts'
import type { Findings } from './findings.ts'
import { find, findThrown } from './findings.ts'
import type { PlainResponse } from './http.ts'
import { requestProvider } from './http.ts'

/** One base URL of the application, and the provider. */
interface Probe {
  readonly config: Config
  readonly provider: Provider
  readonly metadata: ServerMetadata
  readonly baseUrl: string
  readonly redirectUri: string
}

/** Whether the response to a wrong code says nothing against the client: it was authenticated, or the code was read first. */
function isAccepted(refused: OAuthError): boolean {
  return isInvalidGrant(refused) || (refused.error === 'invalid_request' && refused.providerStatus === 400)
}

/** A refusal without a registered error: status 401 is about the authentication of the client (RFC 6749 section 5.2). */
function findRefusal(error: OAuthError): Findings {
  if (error.remedy !== 'OAUTH_ERROR') return findThrown(error)
  const code = error.providerStatus === 401 ? 'CLIENT_REFUSED' : 'AUTHORIZATION_CODE_GRANT_ERROR'
  return find(code, describe(error))
}

/** Redeems a code that the provider has not issued: a client that is authenticated gets `invalid_grant`. */
async function checkClient(
  { metadata, provider }: Pick<Probe, 'metadata' | 'provider'>,
  redirectUri: string | undefined,
): Promise<Findings> {
  const sent = defined({ redirect_uri: redirectUri })
  const parameters = { code: randomToken(), ...sent, code_verifier: newCodeVerifier() }
  try {
    await requestTokens({ provider, metadata }, 'authorization_code', parameters)
    return []
  } catch (error) {
    if (!(error instanceof OAuthError)) return findThrown(error)
    return isAccepted(error) ? [] : findRefusal(error)
  }
}

/** Errors by which a provider says that a user would have to act: the request itself is accepted (OpenID Connect Core 3.1.2.6). */
const NEEDS_USER: ReadonlySet<string> = new Set([
  'account_selection_required',
  'consent_required',
  'interaction_required',
  'login_required',
  'unmet_authentication_requirements',
])

const attribute = (html: string, name: string): string | undefined =>
  new RegExp(`name=["']?${name}["']?[^>]*value=["']?([\\w.-]+)`).exec(html)?.[1]

/** Google names an error in a parameter of its own, `authError`, of `/signin/oauth/error`. */
const ERROR_PAGE = /\/error(?:\/|$)/

/** Returns where the response sends the user. Better Auth names that in JSON to `fetch`, which it takes for a script of a page. */
function toLocation({ headers, status, text }: PlainResponse): string | undefined {
  if (status === 200) return stringProperty(parseObject(text), 'url')
  return status < 300 || status > 399 ? undefined : (headers.get('location') ?? undefined)
}

/** Returns the `error` that the response sends to the redirect URI; `null` if it sends nothing there. */
function toErrorSent(response: PlainResponse, { metadata, redirectUri }: Probe): string | null {
  const { text } = response
  // With response_mode=form_post, which some providers send with the status of an error.
  if (text.includes('<form') && text.includes(new URL(redirectUri).pathname))
    return attribute(text, 'error') ?? null
  const base = metadata.authorizationEndpoint
  const location = toLocation(response)
  const target = location === undefined ? null : parseUrl(location, base)
  if (!target) return null
  const error = target.searchParams.get('error')
  if (!target.href.startsWith(redirectUri)) {
    // A page of the provider for the login, unless it is about an error: prompt=none was ignored, the request was not.
    const isRefusal = error !== null || ERROR_PAGE.test(target.pathname)
    return isRefusal ? null : 'login_required'
  }
  return error ?? new URLSearchParams(target.hash.slice(1)).get('error') ?? 'login_required'
}

function readAuthorization(response: PlainResponse, probe: Probe): Findings {
  const { status } = response
  if (status === 429)
    return find('RATE_LIMITED', 'The authorization endpoint responded with HTTP status 429.')
  if (status >= 500)
    return find('PROVIDER_UNAVAILABLE', `The authorization endpoint responded with HTTP status ${status}.`)
  const error = toErrorSent(response, probe)
  if (error === null)
    return find(
      'REDIRECT_URI_REFUSED',
      `The provider did not accept the authorization request with the redirect URI ${probe.redirectUri} (HTTP status ${status}, no response to that URI).`,
    )
  if (NEEDS_USER.has(error)) return []
  const refused = oauthErrorAt('authorization', refusal({ error }))
  return refused.remedy === 'OAUTH_ERROR' ? find('REQUEST_REFUSED', describe(refused)) : findThrown(refused)
}

/** Parameters that name a user. */
const PERSONAL = ['login_hint', 'id_token_hint', 'login_hint_token']

/** Sends the authorization request of a login, and does not follow the redirect. */
async function requestAuthorization(
  { config, metadata, provider, redirectUri }: Probe,
  given: Readonly<Record<string, string>>,
): Promise<PlainResponse> {
  const authorization = withOfferedScope(config, metadata)
  const { parameters } = effectiveAuthorization({ ...config, authorization }, given)
  const url = await authorizationUrl(provider, {
    parameters: new Map([...parameters].filter(([name]) => !PERSONAL.includes(name))),
    redirectUri,
    state: randomToken(),
    nonce: randomToken(),
    codeVerifier: newCodeVerifier(),
  })
  return requestProvider(url, config)
}

/** Returns whether a response is a page, neither a redirect nor an error: the login page, unless the request had `prompt=none`. */
const isPage = (response: PlainResponse, probe: Probe): boolean =>
  response.status === 200 && toLocation(response) === undefined && toErrorSent(response, probe) === null

/** Requests a login with `prompt=none`, and as users do if the provider fails at that, as django-oauth-toolkit does. */
async function checkRedirectUri(probe: Probe): Promise<Findings> {
  try {
    const silent = await requestAuthorization(probe, { prompt: 'none' })
    if (silent.status < 500) return readAuthorization(silent, probe)
    const response = await requestAuthorization(probe, {})
    return isPage(response, probe) ? [] : readAuthorization(response, probe)
  } catch (error) {
    return findThrown(error)
  }
}

/** Requests the logout page without a session, with and without the URL to return to: only the difference says something. */
async function checkLogout({ baseUrl, config, provider }: Probe): Promise<Findings> {
  const { logoutStrategy } = config
  if (logoutStrategy === 'local') return []
  const url =
    logoutStrategy === 'v2' ? null : await endSessionUrl(provider, { returnTo: baseUrl, federated: false })
  if (url === null) {
    const v2 = v2LogoutUrl(config, { returnTo: baseUrl, federated: false })
    const isOffered = logoutStrategy !== 'oidc' && (await requestProvider(v2, config)).status !== 404
    return isOffered ? [] : find('LOGOUT_NOT_OFFERED', 'The metadata has no usable end_session_endpoint.')
  }
  const { status } = await requestProvider(url, config)
  url.searchParams.delete('post_logout_redirect_uri')
  const plain = await requestProvider(url, config)
  if (status < 400 || status > 499 || status === 429 || plain.status >= 400) return []
  return find(
    'POST_LOGOUT_URL_REFUSED',
    `The provider did not accept a logout with the post-logout redirect URI ${baseUrl} (HTTP status ${status}).`,
  )
}

/** Returns the base URLs of the application; that of the parameter if they follow from requests. */
export function toBaseUrls({ appBaseUrl }: Config, app: string | undefined): readonly string[] {
  const configured = toUrls(appBaseUrl)
  return configured.length === 0 && app !== undefined ? [app] : configured
}

/** Codes that every further request to the provider would repeat. */
const CLIENT_CODES: ReadonlySet<string> = new Set([
  'CLIENT_REFUSED',
  'CLIENT_ASSERTION_REFUSED',
  'CLIENT_CERTIFICATE_REFUSED',
  'RATE_LIMITED',
])

/**
 * Sends the provider requests that it can refuse: one with a wrong code, and for each base URL one to log in and one to log out,
 * without a user.
 */
export async function probeProvider(
  given: Config,
  metadata: ServerMetadata,
  app: string | undefined,
): Promise<Findings> {
  // A `fetch` of its own has documents of its own.
  const config: Config = { ...given, fetch: (input, init) => given.fetch(input, init) }
  const provider = createProvider(config)
  const probes = toBaseUrls(config, app).map((baseUrl): Probe => {
    const redirectUri = toRedirectUri(config, baseUrl, config.authorization.redirectUri)
    return { config, provider, metadata, baseUrl, redirectUri }
  })
  // Without a base URL the code has no redirect URI, which does not matter for one that is wrong.
  const isChecked = metadata.tokenEndpoint !== undefined || hasAlias(metadata, 'tokenEndpoint', config)
  const client = isChecked ? await checkClient({ metadata, provider }, probes[0]?.redirectUri) : []
  if (client.some(({ code }) => CLIENT_CODES.has(code))) return client
  const found = [...client]
  for (const probe of probes) {
    found.push(...(await checkRedirectUri(probe)))
    found.push(...(await checkLogout(probe).catch(findThrown)))
  }
  return found
}
