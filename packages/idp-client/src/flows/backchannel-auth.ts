import type { AuthorizationParameters } from '../config/options.ts'
import type { Engine } from '../engine.ts'
import { isIdpError } from '../errors/base.ts'
import { BackchannelAuthenticationError } from '../errors/tokens.ts'
import { defined, isObject } from '../lib/objects.ts'
import { isNonBlankString } from '../lib/strings.ts'
import { mayConfigurationSet } from '../oidc/authorize.ts'
import type { LoginHint } from '../oidc/ciba.ts'
import { authenticateByBackchannel, orAborted } from '../oidc/ciba.ts'
import { getProvider } from '../oidc/provider.ts'
import { decodeClaims } from '../session/model/claims.ts'
import { coversScope } from '../session/model/scope.ts'
import { toTokenSet } from '../session/model/session.ts'
import type { AuthorizationDetail, TokenSet, User } from '../session/model/session-data.ts'
import { orMfaRequired } from '../tokens/mfa-demand.ts'
import { withOfferedScope } from '../tokens/offered-scope.ts'
import { usesDefaultScope } from '../tokens/token-request.ts'
import { effectiveAuthorization } from '../transaction/authorization.ts'

/** The user to approve the request: exactly one of three hints (OpenID Connect CIBA section 7.1). */
export type BackchannelHint =
  | {
      /**
       * The `sub` of the user, which the ID token must match; or a string that the provider understands (an e-mail
       * address, a telephone number), sent unchanged. With a string, check in the result who approved.
       */
      loginHint: { sub: string } | string
      loginHintToken?: undefined
      idTokenHint?: undefined
    }
  | {
      /** A token that identifies the user to the provider, sent unchanged. Check in the result who approved. */
      loginHintToken: string
      loginHint?: undefined
      idTokenHint?: undefined
    }
  | {
      /** An ID token of the user from this provider; the new one must have the same `sub`. */
      idTokenHint: string
      loginHint?: undefined
      loginHintToken?: undefined
    }

/** Options of `getTokenByBackchannelAuth`. */
export type BackchannelAuthenticationOptions = {
  /** Message shown to the user on both devices, sent unchanged. Providers limit its length and characters. */
  bindingMessage: string
  /** Seconds until the request expires; default 300. The provider may grant fewer. */
  requestedExpiry?: number | undefined
  /** Details that the user is requested to approve (Rich Authorization Requests, RFC 9396). */
  authorizationDetails?: readonly AuthorizationDetail[] | undefined
  /**
   * `scope`, `audience` and further parameters; they override the configured `authorizationParameters`. With `max_age`, the ID token
   * must have an `auth_time` that was recent enough when the request began.
   */
  authorizationParams?: AuthorizationParameters | undefined
  /** Stops waiting; the call then throws `BACKCHANNEL_AUTHENTICATION_ABORTED`. */
  signal?: AbortSignal | undefined
} & BackchannelHint

/** Result of an approved request. Nothing is stored: the session is unchanged. */
export interface BackchannelAuthenticationResult {
  tokenSet: TokenSet
  /** All claims of the validated ID token. */
  idTokenClaims: User
  /** The granted authorization details, those of `tokenSet`. */
  authorizationDetails?: AuthorizationDetail[]
}

const DEFAULT_EXPIRY = 300
const LONGEST_EXPIRY = 86_400

function refuse(option: string): never {
  throw new BackchannelAuthenticationError('INVALID_BACKCHANNEL_REQUEST', { detail: `Option: ${option}.` })
}

function readLoginHint(loginHint: unknown): LoginHint {
  if (isNonBlankString(loginHint)) return { name: 'login_hint', value: loginHint }
  const subject = isObject(loginHint) ? loginHint['sub'] : undefined
  if (!isNonBlankString(subject)) refuse('loginHint.sub, or loginHint as a non-blank string')
  return { name: 'login_hint', subject }
}

function readIdTokenHint(idTokenHint: unknown): LoginHint {
  const claims = typeof idTokenHint === 'string' ? decodeClaims(idTokenHint) : undefined
  if (typeof idTokenHint !== 'string' || !isNonBlankString(claims?.sub))
    refuse('idTokenHint (an ID token with a sub)')
  return { name: 'id_token_hint', value: idTokenHint, subject: claims.sub }
}

/** Validates that exactly one hint is set and returns it. */
function readHint(
  options: Partial<Record<'loginHint' | 'loginHintToken' | 'idTokenHint', unknown>>,
): LoginHint {
  const names = ['loginHint', 'loginHintToken', 'idTokenHint'] as const
  const [name = 'loginHint', ...others] = names.filter((each) => (options[each] ?? undefined) !== undefined)
  if (others.length > 0) refuse(`${[name, ...others].join(', ')} (exactly one of these)`)
  if (name === 'loginHint') return readLoginHint(options.loginHint)
  if (name === 'idTokenHint') return readIdTokenHint(options.idTokenHint)
  const { loginHintToken: token } = options
  if (!isNonBlankString(token)) refuse('loginHintToken (a non-blank string)')
  return { name: 'login_hint_token', value: token }
}

/** Converts the details to JSON; returns undefined for anything but a list of objects with a type. */
function toJson(details: unknown): string | undefined {
  if (!Array.isArray(details) || !details.every((detail) => isNonBlankString(detail?.type))) return undefined
  try {
    return JSON.stringify(details)
  } catch {
    // It has a cycle, or a value that JSON does not know.
    return undefined
  }
}

function validateOptions(options: Partial<BackchannelAuthenticationOptions>) {
  const { authorizationDetails: details, bindingMessage, requestedExpiry = DEFAULT_EXPIRY } = options
  const authorizationParams = options.authorizationParams ?? {}
  if (!isNonBlankString(bindingMessage)) refuse('bindingMessage (a non-blank string)')
  const hint = readHint(options)
  const isExpiry =
    Number.isInteger(requestedExpiry) && requestedExpiry > 0 && requestedExpiry <= LONGEST_EXPIRY
  if (!isExpiry) refuse(`requestedExpiry (whole seconds from 1 to ${LONGEST_EXPIRY})`)
  const authorizationDetails = toJson(details)
  if (authorizationDetails === undefined && (details ?? undefined) !== undefined)
    refuse('authorizationDetails (a list of objects with a type, in JSON)')
  if (typeof authorizationParams !== 'object' || Array.isArray(authorizationParams))
    refuse('authorizationParams (an object)')
  return { authorizationParams, request: { bindingMessage, hint, requestedExpiry, authorizationDetails } }
}

/** Parameters that belong to the browser's authorization request only, or would add a second hint. */
const DROPPED: ReadonlySet<string> = new Set([
  'redirect_uri',
  'response_mode',
  'grant_type',
  'login_hint',
  'login_hint_token',
  'id_token_hint',
  'binding_message',
  'requested_expiry',
  'request',
  'request_uri',
  'dpop_jkt',
])

function toBackchannelError(cause: unknown): unknown {
  const isOurs = isIdpError(cause) && cause.name === 'BackchannelAuthenticationError'
  if (isOurs || isIdpError(cause, 'INVALID_CONFIGURATION')) return cause
  return new BackchannelAuthenticationError('BACKCHANNEL_AUTHENTICATION_ERROR', { cause })
}

/**
 * Requests the approval of a user on another device and waits for the decision (OpenID Connect CIBA, poll mode):
 * 1. validates the options before any request;
 * 2. sends the backchannel authentication request;
 * 3. polls the token endpoint, no faster than the provider allows, until the user decides or the request expires;
 *    temporary network failures do not end the polling;
 * 4. checks that the ID token is about the requested user, if the hint contains the `sub`.
 *
 * Reads and writes no session. Throws `BackchannelAuthenticationError`, and `MfaRequiredError` when the provider
 * requires another factor.
 */
export async function backchannelAuthentication(
  engine: Engine,
  options: BackchannelAuthenticationOptions,
): Promise<BackchannelAuthenticationResult> {
  const { config } = engine
  const { authorizationParams, request } = validateOptions(options ?? {})
  const intended = effectiveAuthorization(config, authorizationParams)
  if (!coversScope(intended.scope, 'openid')) refuse('authorizationParams.scope (it must contain openid)')
  const parameters = [...intended.parameters].filter(
    ([name]) => !DROPPED.has(name) && mayConfigurationSet(name),
  )
  const provider = getProvider(config)
  const isDefaultScope =
    (authorizationParams.scope ?? undefined) === undefined &&
    usesDefaultScope(config.authorization, intended.audience)
  let requested = intended
  try {
    if (isDefaultScope) {
      const metadata = await orAborted(options.signal, provider.metadata())
      const authorization = withOfferedScope(config, metadata)
      requested = effectiveAuthorization({ ...config, authorization }, authorizationParams)
    }
    const grant = await authenticateByBackchannel(
      provider,
      defined({
        ...request,
        parameters: new Map([...parameters, ['scope', requested.scope]]),
        signal: options.signal,
      }),
    )
    return defined({
      tokenSet: toTokenSet(grant, requested),
      idTokenClaims: { ...grant.claims } as User,
      authorizationDetails: grant.authorizationDetails,
    })
  } catch (cause) {
    const { audience, scope } = requested
    const { hint } = request
    throw await orMfaRequired(
      engine,
      toBackchannelError(cause),
      defined({
        wanted: { wireParameters: defined({ scope, audience }), scope },
        subject: 'subject' in hint ? hint.subject : undefined,
      }),
    )
  }
}
