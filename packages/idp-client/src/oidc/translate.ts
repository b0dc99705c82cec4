import type { Config } from '../config/config.ts'
import { rememberMfaChallenge } from '../errors/mfa-challenge.ts'
import { registeredError } from '../errors/protocol-errors.ts'
import type { DiscoveryErrorOptions, OAuthErrorOptions } from '../errors/provider.ts'
import { DiscoveryError, OAuthError } from '../errors/provider.ts'
import type { Remedy } from '../errors/remedies.ts'
import type { JsonObject } from './json.ts'
import { stringMember } from './json.ts'
import { mfaChallengeIn } from './mfa-challenge.ts'
import { TransportError, toTransportError } from './transport-error.ts'

/**
 * The one place where errors of `oauth4webapi`, `jose` and the transport become ours. Their own errors are not kept
 * as causes: they hold bodies, claims and tokens.
 */

/** What is known of a response of the provider when something is wrong with it. */
export interface ProviderResponse {
  readonly status: number
  /** The type of the body without parameters, in lower case; absent without a `Content-Type`. */
  readonly mediaType?: string | undefined
  /** The JSON object of the body; null when it was none. */
  readonly body: JsonObject | null
  /** Seconds of its `Retry-After`. */
  readonly retryAfter: number | undefined
  /** The `error` of its `WWW-Authenticate` (RFC 6750 section 3): how a protected resource says why it refuses. */
  readonly challenge?: string | undefined
}

const ERROR_LENGTH = 100
const DESCRIPTION_LENGTH = 500

/** Text for the `error` member: the characters of RFC 6749 section 5.2, at most 100. */
function errorText(value: string | undefined): string | undefined {
  return value?.replace(/[^\x20\x21\x23-\x5B\x5D-\x7E]/g, '').slice(0, ERROR_LENGTH) || undefined
}

/** The provider's own words, without control characters and bounded; still untrusted. */
export function descriptionText(value: string | undefined): string | undefined {
  return value?.replace(/\p{Cc}/gu, ' ').slice(0, DESCRIPTION_LENGTH) || undefined
}

type Given = { [Key in keyof OAuthErrorOptions]: OAuthErrorOptions[Key] | undefined }

function present(options: Given): OAuthErrorOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

/** What helps where the provider names the fault itself. */
const refusals: ReadonlyMap<string, Remedy> = new Map<string, Remedy>([
  ['invalid_client', 'CLIENT_REFUSED'],
  ['unauthorized_client', 'CLIENT_NOT_ALLOWED'],
  ['unsupported_grant_type', 'CLIENT_NOT_ALLOWED'],
  ['unsupported_response_type', 'CLIENT_NOT_ALLOWED'],
  ['invalid_redirect_uri', 'REDIRECT_URI_REFUSED'],
  ['invalid_scope', 'SCOPE_REFUSED'],
  ['invalid_target', 'AUDIENCE_REFUSED'],
  ['invalid_request', 'REQUEST_REFUSED'],
  ['invalid_authorization_details', 'REQUEST_REFUSED'],
  ['invalid_dpop_proof', 'DPOP_PROOF_REFUSED'],
  ['use_dpop_nonce', 'DPOP_NONCE_REFUSED'],
  ['invalid_token', 'USERINFO_TOKEN_REFUSED'],
  ['insufficient_scope', 'USERINFO_TOKEN_REFUSED'],
  ['server_error', 'PROVIDER_UNAVAILABLE'],
  ['temporarily_unavailable', 'PROVIDER_UNAVAILABLE'],
])

/** What helps where a response has another status than the protocol allows, and no word of it. */
function remedyOfStatus(status: number | undefined): Remedy | undefined {
  if (status === 429) return 'RATE_LIMITED'
  return status !== undefined && status >= 500 ? 'PROVIDER_UNAVAILABLE' : undefined
}

/** Options that tell what a refusal means. */
export interface RefusedClient extends Pick<Config, 'clientAuth' | 'dpop'> {
  /** How it authenticated, and what the provider advertises. */
  readonly authentication?: string
}

function remedyOfRefusal(error: string, client: RefusedClient | undefined): Remedy | undefined {
  if (error === 'invalid_client' && client?.clientAuth.kind === 'assertion') return 'CLIENT_ASSERTION_REFUSED'
  if (error === 'invalid_dpop_proof' && client?.dpop.enabled === false) return 'DPOP_REQUIRED'
  return refusals.get(error)
}

interface Refusal {
  readonly error: string
  readonly description?: string | undefined
  /** Absent for a redirect, which has no status. */
  readonly answer?: ProviderResponse
  readonly client?: RefusedClient
}

/** An error that the provider put into words: in a redirect or in a response. */
export function refusal({ answer, client, description, error }: Refusal): OAuthError {
  const said = errorText(error) ?? 'unknown_error'
  const registered = registeredError(said)
  const name = registered === 'other' ? 'an error code that is not registered' : registered
  const status = answer === undefined ? '' : ` with HTTP status ${answer.status}`
  const sent = said === 'invalid_client' && client?.authentication ? ` ${client.authentication}` : ''
  return new OAuthError(
    'OAUTH_ERROR',
    present({
      error: said,
      detail: `It responded ${name}${status}.${sent}`,
      remedy: remedyOfStatus(answer?.status) ?? remedyOfRefusal(said, client),
      description: descriptionText(description),
      status: answer?.status,
      retryAfter: answer?.retryAfter,
    }),
  )
}

export function invalidResponse(detail: string, answer?: ProviderResponse, remedy?: Remedy): OAuthError {
  return new OAuthError(
    'RESPONSE_INVALID',
    present({
      detail,
      remedy,
      status: answer?.status,
      retryAfter: answer?.retryAfter,
    }),
  )
}

function wireError(fault: TransportError): OAuthError {
  const { kind, message: detail, remedy, systemCode } = fault
  const options = present({ cause: fault, detail, remedy, systemCode })
  if (kind === 'timeout') return new OAuthError('REQUEST_TIMEOUT', options)
  if (kind === 'network' || kind === 'aborted') return new OAuthError('REQUEST_FAILED', options)
  return new OAuthError('RESPONSE_INVALID', options)
}

/** A response with another status than the protocol allows: an error page, a portal. */
export function unexpectedStatus(answer: ProviderResponse): OAuthError {
  const { body, status } = answer
  const remedy = remedyOfStatus(status) ?? (body ? undefined : 'RESPONSE_NOT_OAUTH')
  return invalidResponse(`It has an unexpected HTTP status (HTTP status ${status}).`, answer, remedy)
}

/** The provider's own words in a response, if it has some. */
export function refusalIn(answer: ProviderResponse, client?: RefusedClient): OAuthError | undefined {
  const { body, challenge } = answer
  const error = (body ? stringMember(body, 'error') : undefined) ?? challenge
  if (error === undefined) return undefined
  const description = body ? stringMember(body, 'error_description') : undefined
  const refused = refusal({ error, description, answer, ...(client ? { client } : {}) })
  if (error === 'mfa_required' && body) rememberMfaChallenge(refused, mfaChallengeIn(body))
  return refused
}

/** Refusals whose reason may be a redirect URI that is not registered: the provider seldom says so in its code. */
const OF_REDIRECT_URI: ReadonlySet<string | undefined> = new Set([
  'invalid_request',
  'invalid_redirect_uri',
  'invalid_grant',
])

/** The redirect URI that was sent, as part of the reason, where it may be what the provider refuses. */
export function redirectUriSent(error: OAuthError, redirectUri: string | null): { readonly detail?: string } {
  if (redirectUri === null || !OF_REDIRECT_URI.has(error.error)) return {}
  return { detail: `${error.message} The redirect URI that was sent: ${redirectUri}.` }
}

/** Converts an error of a request, or of reading its response, into one of ours. */
export function oauthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error
  if (error instanceof TransportError) return wireError(error)
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  // Of errors of libraries only the code is kept: messages and causes hold bodies and tokens.
  const name = /^[A-Z][A-Z_]{1,63}$/.test(code) ? ` (${code})` : ''
  return invalidResponse(`It could not be processed${name}.`)
}

/** Seconds that a `Retry-After` header asks for (RFC 9110 section 10.2.3): a number, or a date seen from `now`. */
export function retryAfterSeconds(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text)
  // HTTP dates begin with the name of a day; the parser would make a date of many other texts.
  const date = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isFinite(date) ? Math.max(0, Math.ceil(date / 1000) - now) : undefined
}

/** What was requested where a document of the provider could not be loaded. */
export interface DocumentRequest {
  readonly endpoint: 'discovery' | 'jwks'
  /** Of the discovery document. That of the keys is the provider's to choose, so it is not repeated. */
  readonly url?: string
}

function documentRemedy({ endpoint }: DocumentRequest, status: number): Remedy | undefined {
  if (endpoint === 'jwks') return undefined
  if (status === 200) return 'DISCOVERY_NOT_JSON'
  return remedyOfStatus(status) ?? 'DISCOVERY_NOT_FOUND'
}

function documentError(
  code: DiscoveryError['code'],
  { endpoint, url }: DocumentRequest,
  options: DiscoveryErrorOptions & { readonly detail: string },
): DiscoveryError {
  const detail = url === undefined ? options.detail : `Requested: ${url}. ${options.detail}`
  return new DiscoveryError(code, { ...options, detail, endpoint, ...(url === undefined ? {} : { url }) })
}

/** A document that came with another status than 200, or is no JSON object. */
export function unusableDocument(request: DocumentRequest, status: number): DiscoveryError {
  const detail =
    status === 200 ? 'The response is not a JSON object.' : `The response has HTTP status ${status}.`
  const remedy = documentRemedy(request, status)
  const code = request.endpoint === 'jwks' ? 'JWKS_ERROR' : 'DISCOVERY_ERROR'
  return documentError(code, request, { detail, status, ...(remedy ? { remedy } : {}) })
}

/** A document that no response brought. `thrown` is what loading or reading threw. */
export function discoveryError(request: DocumentRequest, thrown: unknown): DiscoveryError {
  if (thrown instanceof DiscoveryError) return thrown
  const cause = toTransportError(thrown)
  const { message: detail, systemCode } = cause
  const options = { cause, detail, ...(systemCode === undefined ? {} : { systemCode }) }
  if (request.endpoint === 'jwks') return documentError('JWKS_ERROR', request, options)
  const code = cause.kind === 'timeout' ? 'DISCOVERY_TIMEOUT' : 'DISCOVERY_ERROR'
  return documentError(code, request, { ...options, ...(cause.remedy ? { remedy: cause.remedy } : {}) })
}
