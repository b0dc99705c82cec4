import type { Config } from '../config/config.ts'
import type { AuthorizationParameters } from '../config/options.ts'
import type { Engine } from '../engine.ts'
import { BackchannelAuthenticationError } from '../errors/backchannel-authentication.ts'
import { isIdpError } from '../errors/base.ts'
import type { BackchannelGrant, LoginHint } from '../oidc/ciba.ts'
import { decodeClaims } from '../session/model/claims.ts'
import type { TokenSet, User } from '../session/model/session-data.ts'
import { usesDefaultScope } from '../tokens/default-scope.ts'
import type { RequestedToken } from '../tokens/mfa-context.ts'
import { orMfaRequired } from '../tokens/mfa-demand.ts'
import { withOfferedScope } from '../tokens/offered-scope.ts'
import type { EffectiveAuthorization } from '../transaction/authorization.ts'
import { effectiveAuthorization } from '../transaction/authorization.ts'

/** One entry of `authorization_details` (RFC 9396). */
export interface AuthorizationDetail {
  type: string
  [member: string]: unknown
}

/** Who is asked to approve: exactly one of three hints (OpenID Connect CIBA section 7.1). */
export type BackchannelHint =
  | {
      /**
       * The `sub` of the user at the provider, which the ID token must be about; or a text that the provider understands
       * (an e-mail address, a telephone number), sent as it is. With a text, check in the result who approved.
       */
      loginHint: { sub: string } | string
      loginHintToken?: undefined
      idTokenHint?: undefined
    }
  | {
      /** A token that names the user to the provider, sent as it is. Check in the result who approved. */
      loginHintToken: string
      loginHint?: undefined
      idTokenHint?: undefined
    }
  | {
      /** An ID token of the user from this provider; the new one must be about the same `sub`. */
      idTokenHint: string
      loginHint?: undefined
      loginHintToken?: undefined
    }

interface BackchannelRequestOptions {
  /** Shown to the user on both devices, sent as it is. Providers limit its length and characters. */
  bindingMessage: string
  /** Seconds that the user has to answer; default 300. The provider may grant fewer. */
  requestedExpiry?: number | undefined
  /** What the user is asked to approve in detail (Rich Authorization Requests). */
  authorizationDetails?: readonly AuthorizationDetail[] | undefined
  /** `scope`, `audience` and further parameters, over the configured `authorizationParameters`. */
  authorizationParams?: AuthorizationParameters | undefined
  /** Ends the waiting, with the code `BACKCHANNEL_AUTHENTICATION_ABORTED`. */
  signal?: AbortSignal | undefined
}

/** Options of `getTokenByBackchannelAuth`. */
export type BackchannelAuthenticationOptions = BackchannelRequestOptions & BackchannelHint

/** What the user's approval brought. None of it is kept: the session is untouched. */
export interface BackchannelAuthenticationResult {
  tokenSet: TokenSet
  /** All claims of the validated ID token. */
  idTokenClaims: User
  /** What was granted of the details that were asked for. */
  authorizationDetails?: AuthorizationDetail[]
}

const DEFAULT_EXPIRY = 300
const LONGEST_EXPIRY = 86_400

function refuse(option: string): never {
  throw new BackchannelAuthenticationError('INVALID_BACKCHANNEL_REQUEST', { detail: `Option: ${option}.` })
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''

interface Checked {
  readonly bindingMessage: string
  readonly hint: LoginHint
  readonly requestedExpiry: number
  readonly authorizationDetails?: string
}

function readLoginHint(given: unknown): LoginHint {
  if (isText(given)) return { kind: 'text', text: given }
  const subject = typeof given === 'object' && given !== null && 'sub' in given ? given.sub : undefined
  if (!isText(subject)) refuse('loginHint.sub, or loginHint as a text (not blank)')
  return { kind: 'subject', subject }
}

function readIdTokenHint(given: unknown): LoginHint {
  const claims = typeof given === 'string' ? decodeClaims(given) : undefined
  if (typeof given !== 'string' || !isText(claims?.sub)) refuse('idTokenHint (an ID token with a sub)')
  return { kind: 'id-token', idToken: given, subject: claims.sub }
}

/** The one hint that is given. */
function readHint(
  options: Partial<Record<'loginHint' | 'loginHintToken' | 'idTokenHint', unknown>>,
): LoginHint {
  const names = ['loginHint', 'loginHintToken', 'idTokenHint'] as const
  const [name = 'loginHint', ...others] = names.filter((each) => (options[each] ?? undefined) !== undefined)
  if (others.length > 0) refuse(`${[name, ...others].join(', ')} (exactly one of these)`)
  if (name === 'loginHint') return readLoginHint(options.loginHint)
  if (name === 'idTokenHint') return readIdTokenHint(options.idTokenHint)
  const { loginHintToken: token } = options
  if (!isText(token)) refuse('loginHintToken (a text that is not blank)')
  return { kind: 'token', token }
}

function checkOptions(options: Partial<BackchannelAuthenticationOptions>): Checked {
  const { authorizationDetails: details, bindingMessage, requestedExpiry = DEFAULT_EXPIRY } = options
  if (!isText(bindingMessage)) refuse('bindingMessage (a text that is not blank)')
  const hint = readHint(options)
  const isExpiry =
    Number.isInteger(requestedExpiry) && requestedExpiry > 0 && requestedExpiry <= LONGEST_EXPIRY
  if (!isExpiry) refuse(`requestedExpiry (whole seconds from 1 to ${LONGEST_EXPIRY})`)
  if (details === undefined || details === null) return { bindingMessage, hint, requestedExpiry }
  if (!Array.isArray(details) || !details.every((detail) => isText(detail?.type))) {
    refuse('authorizationDetails (a list of objects with a type)')
  }
  return { bindingMessage, hint, requestedExpiry, authorizationDetails: JSON.stringify(details) }
}

/** What belongs to the browser's request only, or would be a second hint beside ours. */
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

function toParameters(
  { parameters, scope }: EffectiveAuthorization,
  maySet: (name: string) => boolean,
): ReadonlyMap<string, string> {
  if (!scope.split(' ').includes('openid')) refuse('authorizationParams.scope (it must contain openid)')
  return new Map([...parameters].filter(([name]) => !DROPPED.has(name) && maySet(name)))
}

function toResult(grant: BackchannelGrant, asked: EffectiveAuthorization): BackchannelAuthenticationResult {
  const { authorizationDetails: details } = grant
  const isDetail = (detail: object): detail is AuthorizationDetail =>
    'type' in detail && typeof detail.type === 'string'
  return {
    tokenSet: {
      accessToken: grant.accessToken,
      expiresAt: grant.expiresAt,
      token_type: grant.tokenType,
      idToken: grant.idToken,
      requestedScope: asked.scope,
      ...(grant.refreshToken === undefined ? {} : { refreshToken: grant.refreshToken }),
      ...(grant.scope === undefined ? {} : { scope: grant.scope }),
      ...(asked.audience === undefined ? {} : { audience: asked.audience }),
    },
    idTokenClaims: { ...grant.claims } as User,
    ...(details ? { authorizationDetails: details.filter(isDetail) } : {}),
  }
}

function isDefaultScope(
  { authorization }: Config,
  { scope }: AuthorizationParameters,
  { audience }: EffectiveAuthorization,
): boolean {
  return (scope ?? undefined) === undefined && usesDefaultScope(authorization, audience)
}

function toRequestedToken({ audience, scope }: EffectiveAuthorization): RequestedToken {
  return { wireParameters: { scope, ...(audience === undefined ? {} : { audience }) }, scope }
}

function failedWith(cause: unknown): unknown {
  const isOurs = isIdpError(cause) && cause.name === 'BackchannelAuthenticationError'
  if (isOurs || isIdpError(cause, 'INVALID_CONFIGURATION')) return cause
  return new BackchannelAuthenticationError('BACKCHANNEL_AUTHENTICATION_ERROR', { cause })
}

/**
 * Has a user approve on another device (OpenID Connect CIBA, poll mode) and waits for it:
 * 1. the options are checked before anything is sent;
 * 2. the provider is told whom to ask;
 * 3. the token endpoint is polled, no faster than the provider wants, until the user has decided or the time is up; a
 *    provider that cannot be reached for a while does not end it;
 * 4. the ID token must be about the user who was asked, where the hint tells the `sub`.
 * Reads and writes no session. Throws `BackchannelAuthenticationError`, and `MfaRequiredError` when the provider demands
 * another factor.
 */
export async function backchannelAuthentication(
  engine: Engine,
  options: BackchannelAuthenticationOptions,
): Promise<BackchannelAuthenticationResult> {
  const { config } = engine
  const checked = checkOptions(options ?? {})
  const { authorizationParams = {} } = options
  const intended = effectiveAuthorization(config, authorizationParams)
  const [{ authenticateByBackchannel }, { mayConfigurationSet }, { getProvider: providerFor }] =
    await Promise.all([
      import('../oidc/ciba.ts'),
      import('../oidc/authorize.ts'),
      import('../oidc/provider.ts'),
    ])
  const parameters = toParameters(intended, mayConfigurationSet)
  const provider = providerFor(config)
  const { signal } = options
  let asked = intended
  try {
    if (isDefaultScope(config, authorizationParams, intended)) {
      const authorization = withOfferedScope(config, await provider.metadata())
      asked = effectiveAuthorization({ ...config, authorization }, authorizationParams)
    }
    const grant = await authenticateByBackchannel(provider, {
      ...checked,
      parameters: new Map([...parameters, ['scope', asked.scope]]),
      ...(signal ? { signal } : {}),
    })
    return toResult(grant, asked)
  } catch (cause) {
    const { hint } = checked
    throw await orMfaRequired(engine, failedWith(cause), {
      wanted: toRequestedToken(asked),
      ...('subject' in hint ? { subject: hint.subject } : {}),
    })
  }
}
