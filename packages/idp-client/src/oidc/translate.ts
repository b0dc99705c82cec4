import type { Config } from '../config/config.ts'
import type { MfaChallenge } from '../errors/error-state.ts'
import { setMfaChallenge } from '../errors/error-state.ts'
import type { MfaRequirements } from '../errors/mfa.ts'
import { registeredError } from '../errors/protocol-errors.ts'
import type { DiscoveryErrorOptions, ProviderEndpoint } from '../errors/provider.ts'
import { DiscoveryError, OAuthError } from '../errors/provider.ts'
import type { Remedy } from '../errors/remedy.ts'
import { defined, isObject } from '../lib/objects.ts'
import type { JsonObject } from './json.ts'
import { stringProperty } from './json.ts'
import { TransportError, toTransportError } from './transport-error.ts'

/**
 * Converts errors of `oauth4webapi`, `jose` and the transport to ours. The original errors are not used as causes,
 * because they contain bodies, claims and tokens.
 */

/** The relevant parts of an unsuccessful or invalid response of the provider. */
export interface ProviderResponse {
  readonly status: number
  /** Media type in lower case, without parameters; absent without a `Content-Type`. */
  readonly mediaType?: string | undefined
  /** The JSON object of the body, or `null`. */
  readonly body: JsonObject | null
  /** `Retry-After` in seconds. */
  readonly retryAfter?: number | undefined
  /** The `error` of its `WWW-Authenticate`, by which a protected resource explains a refusal (RFC 6750 section 3). */
  readonly challenge?: string | undefined
}

const ERROR_LENGTH = 100
const DESCRIPTION_LENGTH = 500

/** Sanitizes an `error` value: characters of RFC 6749 section 5.2, at most 100. */
function errorText(value: string | undefined): string | undefined {
  return value?.replace(/[^\x20\x21\x23-\x5B\x5D-\x7E]/g, '').slice(0, ERROR_LENGTH) || undefined
}

/** Sanitizes a description of the provider: no control characters, limited length; still untrusted. */
export function descriptionText(value: string | undefined): string | undefined {
  return value?.replace(/\p{Cc}/gu, ' ').slice(0, DESCRIPTION_LENGTH) || undefined
}

/** Remedy by error code of the provider. */
const refusals: ReadonlyMap<string, Remedy> = new Map<string, Remedy>([
  ['unauthorized_client', 'CLIENT_NOT_ALLOWED'],
  ['unsupported_grant_type', 'CLIENT_NOT_ALLOWED'],
  ['unsupported_response_type', 'CLIENT_NOT_ALLOWED'],
  ['invalid_redirect_uri', 'REDIRECT_URI_REFUSED'],
  ['invalid_scope', 'SCOPE_REFUSED'],
  ['not_allowed', 'SCOPE_REFUSED'],
  ['invalid_target', 'AUDIENCE_REFUSED'],
  ['invalid_request', 'REQUEST_REFUSED'],
  // In a redirect; Microsoft Entra ID responds like this to an unknown scope.
  ['invalid_client', 'REQUEST_REFUSED'],
  ['invalid_authorization_details', 'REQUEST_REFUSED'],
  ['invalid_request_object', 'REQUEST_OBJECT_REQUIRED'],
  ['invalid_dpop_proof', 'DPOP_PROOF_REFUSED'],
  ['use_dpop_nonce', 'DPOP_NONCE_REFUSED'],
  ['server_error', 'PROVIDER_UNAVAILABLE'],
  ['temporarily_unavailable', 'PROVIDER_UNAVAILABLE'],
])

/** Returns the remedy for an unexpected status without an error code. */
function toStatusRemedy(status: number | undefined): Remedy | undefined {
  if (status === 429) return 'RATE_LIMITED'
  return status !== undefined && status >= 500 ? 'PROVIDER_UNAVAILABLE' : undefined
}

/** Options that determine what a refusal means, of an endpoint that authenticates the client. */
export interface RefusedClient extends Pick<Config, 'clientAuth' | 'dpop'> {
  /** How the client authenticated, and what the provider advertises. */
  readonly authentication?: string
}

/** Error codes by which Keycloak, Glewlwyd and Auth0 refuse a wrong client secret with status 401, the second one at PAR. */
const UNAUTHENTICATED: ReadonlySet<string> = new Set([
  'unauthorized_client',
  'invalid_request',
  'access_denied',
])

/**
 * Returns whether the provider rejects how the client authenticated. With another status than 401 these codes are about the
 * grant types of the client or about the request (RFC 6749 section 5.2). A redirect has no status, and no client authenticates for it.
 */
function isClientRefused(error: string, status: number | undefined, client?: RefusedClient): boolean {
  if (error === 'invalid_client') return status !== undefined
  return status === 401 && client !== undefined && UNAUTHENTICATED.has(error)
}

const CLIENT_REMEDIES: Readonly<Record<Config['clientAuth']['kind'], Remedy>> = {
  secret: 'CLIENT_REFUSED',
  assertion: 'CLIENT_ASSERTION_REFUSED',
  certificate: 'CLIENT_CERTIFICATE_REFUSED',
}

function toRefusalRemedy(
  error: string,
  status: number | undefined,
  client: RefusedClient | undefined,
): Remedy | undefined {
  if (isClientRefused(error, status, client)) return CLIENT_REMEDIES[client?.clientAuth.kind ?? 'secret']
  if (error === 'invalid_dpop_proof' && client?.dpop.enabled === false) return 'DPOP_REQUIRED'
  return refusals.get(error)
}

interface Refusal {
  readonly error: string
  readonly description?: string | undefined
  readonly suberror?: string | undefined
  /** Absent for a redirect, which has no status. */
  readonly response?: ProviderResponse
  readonly client?: RefusedClient | undefined
  /** A more specific remedy than that of the error code. */
  readonly remedy?: Remedy | undefined
}

/** Creates the error for an error response of the provider, in a redirect or in a response body. */
export function refusal({ response, client, description, error, remedy, suberror }: Refusal): OAuthError {
  const code = errorText(error) ?? 'unknown_error'
  const registered = registeredError(code)
  const name = registered === 'other' ? 'an unregistered error code' : registered
  const { retryAfter, status: providerStatus } = response ?? {}
  const status = providerStatus === undefined ? '' : ` with HTTP status ${providerStatus}`
  const isRefused = isClientRefused(code, providerStatus, client)
  const sent = isRefused && client?.authentication ? ` ${client.authentication}` : ''
  const options = {
    error: code,
    detail: `It returned ${name}${status}.${sent}`,
    remedy: toStatusRemedy(providerStatus) ?? remedy ?? toRefusalRemedy(code, providerStatus, client),
    description: descriptionText(description),
    suberror: errorText(suberror),
    providerStatus,
    retryAfter,
  }
  return new OAuthError('OAUTH_ERROR', defined(options))
}

export function invalidResponse(detail: string, response?: ProviderResponse, remedy?: Remedy): OAuthError {
  const { retryAfter, status: providerStatus } = response ?? {}
  return new OAuthError('RESPONSE_INVALID', defined({ detail, remedy, providerStatus, retryAfter }))
}

function toRequestError(fault: TransportError): OAuthError {
  const { kind, message: detail, remedy, systemCode } = fault
  const options = defined({ cause: fault, detail, remedy, systemCode })
  if (kind === 'timeout') return new OAuthError('REQUEST_TIMEOUT', options)
  if (kind === 'too-large' || kind === 'redirect' || kind === 'forbidden')
    return new OAuthError('RESPONSE_INVALID', options)
  return new OAuthError('REQUEST_FAILED', options)
}

/** Creates the error for a response with an unexpected status, such as an error page or a captive portal. */
export function unexpectedStatus(response: ProviderResponse): OAuthError {
  const { body, status } = response
  const remedy = toStatusRemedy(status) ?? (body ? undefined : 'RESPONSE_NOT_OAUTH')
  return invalidResponse(unexpected(status), response, remedy)
}

const unexpected = (status: number): string => `It has an unexpected HTTP status (HTTP status ${status}).`

/** Returns the `error` of a response. Okta names an unknown client by `errorCode`. */
function readError({ body, challenge }: ProviderResponse): string | undefined {
  return stringProperty(body, 'error') ?? challenge ?? stringProperty(body, 'errorCode')
}

/** Returns the error that a response of the provider contains, if any. */
export function refusalIn(
  response: ProviderResponse,
  { client, remedy }: Pick<Refusal, 'client' | 'remedy'> = {},
): OAuthError | undefined {
  const { body } = response
  const error = readError(response)
  if (error === undefined) return undefined
  const description = stringProperty(body, 'error_description')
  const suberror = stringProperty(body, 'suberror')
  const refused = refusal({ error, description, response, client, remedy, suberror })
  if (error === 'mfa_required' && body) setMfaChallenge(refused, readMfaChallenge(body))
  return refused
}

/** Errors about the proof of possession, not about the access token. */
const PROOF_ERRORS: ReadonlySet<string | undefined> = new Set(['invalid_dpop_proof', 'use_dpop_nonce'])

/** Returns the error of UserInfo, which few providers explain as RFC 6750 section 3.1 says, if any. */
export function tokenRefusal(response: ProviderResponse): OAuthError | undefined {
  const { mediaType, status } = response
  const isRefused = (status === 401 || status === 403) && !PROOF_ERRORS.has(readError(response))
  if (!isRefused) return refusalIn(response)
  const remedy = 'USERINFO_TOKEN_REFUSED'
  const refused = refusalIn(response, { remedy })
  // A page without a challenge is that of a firewall.
  if (refused || mediaType === 'text/html') return refused
  return invalidResponse(unexpected(status), response, remedy)
}

/** Errors that may be caused by an unregistered redirect URI; few providers have a code for it. */
const REDIRECT_URI_ERRORS = ['invalid_request', 'invalid_redirect_uri', 'invalid_grant']

/** Adds the redirect URI that was sent to the error message, if it may be the cause. */
export function redirectUriSent(error: OAuthError, redirectUri: string | null): { readonly detail?: string } {
  const isPossible = REDIRECT_URI_ERRORS.includes(error.error ?? '') && error.providerStatus !== 401
  if (redirectUri === null || !isPossible) return {}
  return { detail: `The redirect URI that was sent: ${redirectUri}.` }
}

/** Converts an error of a request to this endpoint, or of reading its response, to an `OAuthError`. */
export function oauthErrorAt(endpoint: ProviderEndpoint, thrown: unknown): OAuthError {
  const error = oauthError(thrown)
  error.endpoint ??= endpoint
  return error
}

export function oauthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error
  if (error instanceof TransportError) return toRequestError(error)
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  // Of library errors only the code is used: messages and causes contain bodies and tokens.
  const name = /^[A-Z][A-Z_]{1,63}$/.test(code) ? ` (${code})` : ''
  return invalidResponse(`It could not be processed${name}.`)
}

/** The request for a document of the provider that could not be loaded. */
export interface DocumentRequest {
  readonly endpoint: 'discovery' | 'jwks'
  /** URL of the discovery document. The URL of the keys is chosen by the provider, so it is not quoted. */
  readonly url?: string
}

function documentRemedy({ endpoint }: DocumentRequest, status: number): Remedy | undefined {
  if (endpoint === 'jwks') return undefined
  if (status === 200) return 'DISCOVERY_NOT_JSON'
  return toStatusRemedy(status) ?? 'DISCOVERY_NOT_FOUND'
}

function documentError(
  code: DiscoveryError['code'],
  { endpoint, url }: DocumentRequest,
  options: DiscoveryErrorOptions & { readonly detail: string },
): DiscoveryError {
  const detail = url === undefined ? options.detail : `Requested: ${url}. ${options.detail}`
  return new DiscoveryError(code, defined({ ...options, detail, endpoint, url }))
}

/** Creates the error for a document with a status other than 200, or that is not a JSON object. */
export function unusableDocument(request: DocumentRequest, status: number): DiscoveryError {
  const detail =
    status === 200 ? 'The response is not a JSON object.' : `The response has HTTP status ${status}.`
  const remedy = documentRemedy(request, status)
  const code = request.endpoint === 'jwks' ? 'JWKS_ERROR' : 'DISCOVERY_ERROR'
  return documentError(code, request, defined({ detail, providerStatus: status, remedy }))
}

/** Creates the error for a document that could not be loaded; `thrown` comes from loading or reading it. */
export function discoveryError(request: DocumentRequest, thrown: unknown): DiscoveryError {
  if (thrown instanceof DiscoveryError) return thrown
  const cause = toTransportError(thrown)
  const { message: detail, remedy, systemCode } = cause
  if (request.endpoint === 'jwks')
    return documentError('JWKS_ERROR', request, defined({ cause, detail, systemCode }))
  const code = cause.kind === 'timeout' ? 'DISCOVERY_TIMEOUT' : 'DISCOVERY_ERROR'
  return documentError(code, request, defined({ cause, detail, systemCode, remedy }))
}

/** Maximum number of challenge types, far above any provider's, so that the sealed token stays small. */
const TYPE_LIMIT = 20
/** Maximum length in characters, far above any real token. */
const TOKEN_LENGTH = 8192
/** Characters of a header value: the token is sent as a bearer token. */
const TOKEN = /^[\x21-\x7e]+$/

function readTypes(value: unknown): MfaRequirements['challenge'] {
  if (!Array.isArray(value)) return undefined
  const types = value.map((entry) => (isObject(entry) ? stringProperty(entry, 'type') : undefined) ?? '')
  const known = types.filter((type) => /^[\w:./-]{1,64}$/.test(type))
  return known.slice(0, TYPE_LIMIT).map((type) => ({ type }))
}

function readRequirements(value: unknown): MfaRequirements | undefined {
  if (!isObject(value)) return undefined
  const [challenge, enroll] = [readTypes(value['challenge']), readTypes(value['enroll'])]
  return challenge || enroll ? defined({ challenge, enroll }) : undefined
}

/** Reads the MFA challenge from the body of an `mfa_required` error. */
export function readMfaChallenge(body: JsonObject): MfaChallenge {
  const token = stringProperty(body, 'mfa_token')
  return defined({
    token: token && token.length <= TOKEN_LENGTH && TOKEN.test(token) ? token : undefined,
    requirements: readRequirements(body['mfa_requirements']),
  })
}
