import { decodeJwt } from 'jose/jwt/decode'
import { authorizationCodeGrant } from 'openid-client'
import { CallbackError } from '../errors/callback.ts'
import { OAuthError } from '../errors/provider.ts'
import type { IdTokenChecks, IdTokenClaims } from './id-token.ts'
import { validateIdToken } from './id-token.ts'
import { stringMember } from './json.ts'
import type { ServerMetadata } from './metadata.ts'
import type { Provider } from './provider.ts'
import type { TokenAnswer } from './token-endpoint.ts'
import { requestTokens } from './token-endpoint.ts'
import { invalidResponse, refusal, reportFailure } from './translate.ts'

export type { IdTokenClaims } from './id-token.ts'

/** What a token request brought, checked. */
export interface TokenGrant {
  readonly accessToken: string
  readonly tokenType: 'Bearer' | 'DPoP'
  /** Seconds since the epoch; always finite. */
  readonly expiresAt: number
  /** Scope that the provider granted, when it says so. */
  readonly scope?: string
  readonly refreshToken?: string
  readonly idToken?: string
  /** All claims of the validated ID token. */
  readonly claims?: IdTokenClaims
}

export interface CodeExchange {
  /** Parameters of the callback (`code`, `state`, `iss`, `error` …), one value each. */
  readonly callback: ReadonlyMap<string, string>
  /** Exactly what was sent in the authorization request. */
  readonly redirectUri: string
  readonly codeVerifier: string
  readonly state: string
  readonly nonce: string
  /** Seconds. */
  readonly maxAge?: number
  /** When the login began, seconds since the epoch. */
  readonly startedAt: number
  /** The `organization` that was asked for. */
  readonly organization?: string
}

/** Seconds that a token counts as valid when the provider says nothing. */
const DEFAULT_LIFETIME = 300
/** Seconds; beyond ten years a lifetime is a mistake that would only overflow later arithmetic. */
const LONGEST_LIFETIME = 315_360_000

function lifetimeOf(expiresIn: unknown): number | undefined {
  const text = typeof expiresIn === 'string' ? expiresIn.trim() : undefined
  const seconds = text !== undefined && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : expiresIn
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) return undefined
  return Math.min(Math.max(0, Math.floor(seconds)), LONGEST_LIFETIME)
}

function expiryInside(accessToken: string): number | undefined {
  try {
    const { exp } = decodeJwt(accessToken)
    return typeof exp === 'number' && Number.isFinite(exp) && exp > 0 ? Math.floor(exp) : undefined
  } catch {
    return undefined
  }
}

function expiresAtOf({ accessToken, body }: TokenAnswer, now: number): number {
  const lifetime = lifetimeOf(body['expires_in'])
  if (lifetime !== undefined) return now + lifetime
  const exp = expiryInside(accessToken)
  return exp === undefined ? now + DEFAULT_LIFETIME : Math.min(exp, now + LONGEST_LIFETIME)
}

/** The grant in an answer, its ID token validated. `now` is when the request was sent: lifetimes count from there. */
export async function grantOf(
  provider: Provider,
  answer: TokenAnswer,
  checks: IdTokenChecks,
  now: number,
): Promise<TokenGrant> {
  const { accessToken, body, tokenType } = answer
  const idToken = stringMember(body, 'id_token')
  const refreshToken = stringMember(body, 'refresh_token')
  const scope = stringMember(body, 'scope')
  const claims = idToken && (await validateIdToken(provider, idToken, { ...checks, accessToken }))
  return {
    accessToken,
    tokenType,
    expiresAt: expiresAtOf(answer, now),
    ...(scope === undefined ? {} : { scope }),
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(idToken && claims ? { idToken, claims } : {}),
  }
}

/** RFC 9207 first, also for errors: what another provider sent is not even read. */
function checkCallback(metadata: ServerMetadata, { callback, state }: CodeExchange): string {
  if (state === '' || callback.get('state') !== state) throw new CallbackError('UNKNOWN_STATE')
  const issuer = callback.get('iss')
  if (issuer === undefined ? metadata.issuerInCallback : issuer !== metadata.issuer) {
    throw new CallbackError('ISSUER_MISMATCH')
  }
  const error = callback.get('error')
  if (error) {
    throw new CallbackError('AUTHORIZATION_ERROR', {
      cause: refusal(error, callback.get('error_description')),
    })
  }
  const code = callback.get('code')
  if (!code) throw new CallbackError('INVALID_CALLBACK', { detail: 'Parameter: code.' })
  return code
}

/** The callback as `openid-client` reads it: the parameters of a code response and nothing else. */
function callbackUrl(metadata: ServerMetadata, input: CodeExchange, code: string): URL {
  const url = new URL(input.redirectUri)
  url.search = new URLSearchParams({ code, state: input.state, iss: metadata.issuer }).toString()
  return url
}

async function exchange(
  provider: Provider,
  metadata: ServerMetadata,
  input: CodeExchange,
): Promise<TokenGrant> {
  const code = checkCallback(metadata, input)
  const { codeVerifier, maxAge, nonce, organization, redirectUri, startedAt, state } = input
  const now = provider.config.clock()
  const answer = await requestTokens({ provider, metadata, redirectUri }, (configuration) =>
    authorizationCodeGrant(configuration, callbackUrl(metadata, input, code), {
      pkceCodeVerifier: codeVerifier,
      expectedState: state,
    }),
  )
  const checks = {
    nonce,
    startedAt,
    ...(maxAge === undefined ? {} : { maxAge }),
    ...(organization === undefined ? {} : { organization }),
  }
  try {
    return await grantOf(provider, answer, checks, now)
  } catch (error) {
    if (error instanceof OAuthError) reportFailure(provider.config.log, 'token', error)
    throw error
  }
}

/**
 * Completes a login: checks the callback, sends the code once (never again, whatever happens), validates what comes
 * back. Throws
 * - `CallbackError` `AUTHORIZATION_ERROR` (the provider said no; cause: its words), `ISSUER_MISMATCH`,
 *   `UNKNOWN_STATE`, `INVALID_CALLBACK`,
 * - `AUTHORIZATION_CODE_GRANT_REQUEST_ERROR` when the answer is lost or may be another later (network, timeout, 429,
 *   5xx), `AUTHORIZATION_CODE_GRANT_ERROR` when code or tokens are refused; cause: an `OAuthError`,
 * - `DiscoveryError` when metadata or keys cannot be loaded.
 */
export async function exchangeCode(
  provider: Provider,
  input: CodeExchange,
): Promise<TokenGrant & { readonly idToken: string; readonly claims: IdTokenClaims }> {
  const metadata = await provider.metadata()
  try {
    const grant = await exchange(provider, metadata, input)
    const { claims, idToken } = grant
    if (idToken !== undefined && claims) return { ...grant, idToken, claims }
    throw invalidResponse('id_token is missing; the scope must contain openid.')
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    const code = error.transient ? 'AUTHORIZATION_CODE_GRANT_REQUEST_ERROR' : 'AUTHORIZATION_CODE_GRANT_ERROR'
    throw new CallbackError(code, { cause: error })
  }
}
