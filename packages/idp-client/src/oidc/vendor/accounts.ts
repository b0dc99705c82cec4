import type { Config } from '../../config/config.ts'
import type { ConnectedAccount } from '../../config/hooks.ts'
import { isIdpError } from '../../errors/base.ts'
import type { AccountApiFailure, AccountApiValidationError } from '../../errors/connected-accounts.ts'
import { AccountApiError } from '../../errors/connected-accounts.ts'
import { defined, isObject } from '../../lib/objects.ts'
import { pause } from '../../lib/pause.ts'
import { toCodeChallenge } from '../authorize.ts'
import type { ReceivedResponse } from '../call.ts'
import { isNonceChallenge, nonceRetryDelay } from '../dpop.ts'
import type { JsonObject } from '../json.ts'
import { parseObject, stringList, stringProperty } from '../json.ts'
import { requireEndpoint, unusableReason } from '../metadata.ts'
import type { Provider } from '../provider.ts'
import { descriptionText, invalidResponse, oauthErrorAt } from '../translate.ts'

/** Scopes of the account API, which manages the connected accounts of the signed-in user. */
const SCOPES = ['accountCreateScope', 'accountReadScope', 'accountDeleteScope'] as const

/** Returns the options of `getAccessToken` for the account API: one token with its three scopes only. */
export function accountToken(config: Config): { audience: string; scope: string; mergeScopes: false } {
  const { href: audience } = new URL(config.vendor.accountAudience, `${config.provider.url}/`)
  const scope = SCOPES.map((key) => config.vendor[key]).join(' ')
  return { audience, scope, mergeScopes: false }
}

/** The user's access token, as `getAccessToken` returns it. */
export interface AccountAccess {
  readonly token: string
  readonly token_type?: string
}

interface Call {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Relative to the path of connected accounts. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: JsonObject
}

async function send(
  provider: Provider,
  { token, token_type }: AccountAccess,
  { body, method, path, query = {} }: Call,
): Promise<ReceivedResponse> {
  const { config } = provider
  const url = new URL(config.vendor.accountApiPath + path, config.provider.url)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  const dpop = token_type === 'DPoP' ? provider.dpop : undefined
  let nonce: string | null | undefined
  const sendOnce = async (): Promise<ReceivedResponse> => {
    const proof = await dpop?.prove({ method, url, accessToken: token })
    const headers = defined({
      'content-type': body && 'application/json',
      accept: 'application/json, application/problem+json',
      authorization: `${dpop ? 'DPoP' : 'Bearer'} ${token}`,
      dpop: proof,
    })
    const json = body && JSON.stringify(body)
    const received = await provider.send(url.href, defined({ method, headers, body: json }))
    nonce = dpop?.learn(url, received.response)
    return received
  }
  const first = await sendOnce()
  if (!nonce || !isNonceChallenge(first.response, null)) return first
  await pause(nonceRetryDelay(config))
  return sendOnce()
}

/** Maximum number of validation errors. */
const ENTRIES = 20

/** Returns those of the named properties that are strings; truncated, but still untrusted. */
function pickStrings<Name extends string>(object: JsonObject, names: readonly Name[]) {
  const texts = names.map((name) => [name, descriptionText(stringProperty(object, name))])
  return defined(Object.fromEntries(texts) as Record<Name, string | undefined>)
}

function toValidationErrors(value: unknown): AccountApiValidationError[] | undefined {
  const entries: readonly unknown[] = Array.isArray(value) ? value.slice(0, ENTRIES) : []
  const errors = entries
    .filter(isObject)
    .map((entry) => pickStrings(entry, ['field', 'detail', 'pointer', 'source']))
  return errors.length > 0 ? errors : undefined
}

/**
 * Parses an error response of the account API (problem JSON, RFC 9457). Without a readable body only the status is
 * known.
 */
function readProblem(providerStatus: number, body: JsonObject | null): AccountApiFailure {
  if (!body) return { providerStatus }
  const validationErrors = toValidationErrors(body['validation_errors'])
  return defined({ providerStatus, ...pickStrings(body, ['type', 'title', 'detail']), validationErrors })
}

/**
 * Sends one request and returns what `read` takes from the JSON of the response. The only retry is one after a DPoP
 * nonce challenge.
 */
async function callApi<T>(
  provider: Provider,
  access: AccountAccess,
  call: Call,
  read: (body: JsonObject | null) => T,
): Promise<T> {
  try {
    const { response, text } = await send(provider, access, call)
    const body = parseObject(text)
    if (!response.ok) throw new AccountApiError(readProblem(response.status, body))
    return read(body)
  } catch (thrown) {
    if (isIdpError(thrown) && thrown.name !== 'OAuthError') throw thrown
    throw oauthErrorAt('account', thrown)
  }
}

function required(object: JsonObject | null, name: string): string {
  const value = stringProperty(object, name)
  if (value === undefined) throw invalidResponse(`${name} is missing.`)
  return value
}

function readAccount(object: JsonObject | null): ConnectedAccount {
  return defined({
    id: required(object, 'id'),
    connection: required(object, 'connection'),
    scopes: stringList(object, 'scopes') ?? [],
    access_type: stringProperty(object, 'access_type'),
    created_at: stringProperty(object, 'created_at'),
    expires_at: stringProperty(object, 'expires_at'),
  })
}

/** Returns the origins of the provider, to which a browser with a ticket may be redirected. */
async function listOrigins(provider: Provider): Promise<readonly string[]> {
  const endpoint = requireEndpoint(await provider.metadata(), 'authorizationEndpoint')
  return [provider.config.provider.url, endpoint].map((url) => new URL(url).origin)
}

function connectUrl({ config }: Provider, body: JsonObject | null, origins: readonly string[]): URL {
  const connectUri = required(body, 'connect_uri')
  const reason = unusableReason(connectUri, config.allowInsecureRequests)
  if (reason !== null) throw invalidResponse(`connect_uri ${reason}.`)
  const url = new URL(connectUri)
  if (!origins.includes(url.origin)) throw invalidResponse('connect_uri is on another origin.')
  const parameters = body?.['connect_params']
  url.searchParams.set('ticket', required(isObject(parameters) ? parameters : null, 'ticket'))
  return url
}

export interface ConnectRequest {
  readonly connection: string
  readonly scopes: readonly string[]
  /** Parameters of the connection's own authorization request. */
  readonly parameters: Readonly<Record<string, string>>
  /** Sent byte for byte. */
  readonly redirectUri: string
  readonly state: string
  readonly codeVerifier: string
}

export interface Connecting {
  /** URL to which the user is redirected. */
  readonly url: URL
  /** Passed to `completeConnect`, with the parameters of the callback. */
  readonly authSession: string
}

/**
 * Limit in characters: the value is stored in the transaction cookie, and browsers silently drop a cookie that is too
 * large.
 */
const LONGEST_AUTH_SESSION = 1536

/**
 * Starts connecting an account. All functions here throw `AccountApiError` for an error of the API, `OAuthError` for
 * network failures and invalid responses, and `InvalidConfigurationError` if the token is DPoP-bound and there is no
 * key.
 */
export async function beginConnect(
  provider: Provider,
  access: AccountAccess,
  request: ConnectRequest,
): Promise<Connecting> {
  const { codeVerifier, connection, parameters, redirectUri, scopes, state } = request
  const origins = await listOrigins(provider)
  const body = defined({
    connection,
    redirect_uri: redirectUri,
    state,
    code_challenge: await toCodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
    scopes: scopes.length > 0 ? scopes : undefined,
    authorization_params: Object.keys(parameters).length > 0 ? parameters : undefined,
  })
  return callApi(provider, access, { method: 'POST', path: '/connect', body }, (response) => {
    const url = connectUrl(provider, response, origins)
    const authSession = required(response, 'auth_session')
    if (authSession.length <= LONGEST_AUTH_SESSION) return { url, authSession }
    throw invalidResponse('auth_session is too long for a cookie.')
  })
}

export interface ConnectCompletion {
  readonly authSession: string
  readonly connectCode: string
  /** Exactly as in `beginConnect`. */
  readonly redirectUri: string
  readonly codeVerifier: string
}

/** Redeems the code of the callback, once. */
export async function completeConnect(
  provider: Provider,
  access: AccountAccess,
  { authSession, codeVerifier, connectCode, redirectUri }: ConnectCompletion,
): Promise<ConnectedAccount> {
  const body = {
    auth_session: authSession,
    connect_code: connectCode,
    redirect_uri: redirectUri,
    code_verifier: codeVerifier,
  }
  return callApi(provider, access, { method: 'POST', path: '/complete', body }, readAccount)
}

/** Maximum number of pages. */
const PAGES = 100

/** Returns the accounts of all pages. Rejects cursors that repeat, and more than 100 pages. */
export async function listAccounts(provider: Provider, access: AccountAccess): Promise<ConnectedAccount[]> {
  const all: ConnectedAccount[] = []
  const cursors = new Set<string>()
  let query: Record<string, string> = {}
  for (;;) {
    const next = await callApi(provider, access, { method: 'GET', path: '/accounts', query }, (body) => {
      const accounts = body?.['accounts']
      if (!Array.isArray(accounts)) throw invalidResponse('accounts is missing.')
      all.push(...accounts.map((account: unknown) => readAccount(isObject(account) ? account : null)))
      const cursor = stringProperty(body, 'next')
      if (cursor !== undefined && cursors.has(cursor)) throw invalidResponse('next is repeated.')
      if (cursor !== undefined && cursors.size + 1 >= PAGES)
        throw invalidResponse('There are too many pages.')
      return cursor
    })
    if (next === undefined) return all
    cursors.add(next)
    query = { [provider.config.vendor.accountCursorParameter]: next }
  }
}

/** Disconnects one account. */
export async function deleteAccount(provider: Provider, access: AccountAccess, id: string): Promise<void> {
  const call: Call = { method: 'DELETE', path: `/accounts/${encodeURIComponent(id)}` }
  await callApi(provider, access, call, () => undefined)
}
