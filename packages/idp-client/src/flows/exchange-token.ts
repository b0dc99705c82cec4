import type { Engine } from '../engine.ts'
import { isIdpError } from '../errors/base.ts'
import { toParameter } from '../errors/configuration.ts'
import { CustomTokenExchangeError } from '../errors/tokens.ts'
import { defined, isObject } from '../lib/objects.ts'
import { isNonBlankString } from '../lib/strings.ts'
import { parseUrl } from '../lib/url.ts'
import { getProvider } from '../oidc/provider.ts'
import type { ExchangeParameters } from '../oidc/token-endpoint.ts'
import { exchangeTokens, mayExchangeSet } from '../oidc/token-endpoint.ts'
import type { AuthorizationDetail } from '../session/model/session-data.ts'
import { orMfaRequired } from '../tokens/mfa-demand.ts'
import { withOfferedScope } from '../tokens/offered-scope.ts'

/** Options of `customTokenExchange`. */
export interface CustomTokenExchangeOptions {
  /** The token to exchange. */
  subjectToken: string
  /** Type of `subjectToken`: a URI of 10 to 100 characters, as agreed with the provider. */
  subjectTokenType: string
  /** API that the new access token is for. */
  audience?: string | undefined
  /**
   * Space-delimited scope; default `openid profile email offline_access`, limited to the scopes that the provider
   * supports.
   */
  scope?: string | undefined
  organization?: string | undefined
  /** Token of the acting party (RFC 8693 section 1.1). */
  actorToken?: string | undefined
  /** Type of `actorToken`; required with it, ignored without it. */
  actorTokenType?: string | undefined
  /**
   * Further parameters of the request. Values are converted to strings, objects and lists of objects to JSON; other lists are
   * sent as repeated parameters, `null` and `undefined` are left out. Rejects names that have an option of their own,
   * `grant_type` and `client_*`; throws `InvalidConfigurationError` for a value that has no string form.
   */
  additionalParameters?: Readonly<Record<string, unknown>> | undefined
}

/** Result of a token exchange. Nothing is stored: the session is unchanged. */
export interface CustomTokenExchangeResult {
  /** The new token, also if another kind was requested (`requested_token_type`), which is not validated then. */
  accessToken: string
  /** The validated ID token, if the provider sent one. */
  idToken?: string
  refreshToken?: string
  /**
   * `Bearer`, `DPoP` for a token that is bound to this client's key, or `N_A` for another requested token, which is no access
   * token and must not be sent to an API as one (RFC 8693 section 2.2.1).
   */
  tokenType: string
  /** Lifetime of the access token, in seconds from now. */
  expiresIn: number
  scope?: string
  /** The details that the provider granted (RFC 9396 section 7). */
  authorizationDetails?: AuthorizationDetail[]
  /** The acting party: the `act` claim of the ID token (RFC 8693 section 4.1). */
  act?: { sub: string; [claim: string]: unknown }
}

const URN = /^urn:[a-z0-9][a-z0-9-]{0,31}:\S+$/i

function isTokenType(value: unknown): value is string {
  if (typeof value !== 'string' || value.length < 10 || value.length > 100 || /\s/.test(value)) return false
  return /^urn:/i.test(value) ? URN.test(value) : parseUrl(value) !== null
}

function checkOptions(options: Partial<CustomTokenExchangeOptions>): void {
  const { actorToken, actorTokenType, subjectToken, subjectTokenType } = options
  if (!isNonBlankString(subjectToken)) throw new CustomTokenExchangeError('MISSING_SUBJECT_TOKEN')
  if (!isTokenType(subjectTokenType)) throw new CustomTokenExchangeError('INVALID_SUBJECT_TOKEN_TYPE')
  if (actorToken === undefined || actorToken === null) return
  // Dropping the actor token would turn a delegation into an impersonation.
  if (!isNonBlankString(actorToken)) throw new CustomTokenExchangeError('MISSING_ACTOR_TOKEN')
  if (!isNonBlankString(actorTokenType)) throw new CustomTokenExchangeError('MISSING_ACTOR_TOKEN_TYPE')
  if (!isTokenType(actorTokenType)) throw new CustomTokenExchangeError('INVALID_ACTOR_TOKEN_TYPE')
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

/** A list of objects is one parameter, as `authorization_details`; any other list repeats its own. */
const toValues = (value: unknown): readonly unknown[] =>
  Array.isArray(value) && !value.some(isObject) ? value : [value]

function toParameters(options: CustomTokenExchangeOptions): ExchangeParameters {
  const { actorToken, actorTokenType, audience, organization, subjectToken, subjectTokenType } = options
  const given = Object.entries(options.additionalParameters ?? {}).flatMap(([name, value]) => {
    if (!mayExchangeSet(name)) throw new CustomTokenExchangeError('RESERVED_PARAMETER')
    const present = toValues(value).filter(isGiven)
    return present.map((each) => [name, toParameter('additionalParameters', name, each)] as const)
  })
  const own = {
    subject_token: subjectToken,
    subject_token_type: subjectTokenType,
    actor_token: actorToken,
    actor_token_type: actorToken ? actorTokenType : undefined,
    audience,
    organization,
  }
  const present = Object.entries(own).filter(([, value]) => isGiven(value) && value !== '')
  return [...given, ...present.map(([name, value]) => [name, String(value)] as const)]
}

function toActor(act: unknown): CustomTokenExchangeResult['act'] {
  const isActor = isObject(act) && typeof act['sub'] === 'string'
  return isActor ? (act as CustomTokenExchangeResult['act']) : undefined
}

/**
 * Exchanges a token for tokens of this provider (RFC 8693):
 * 1. validates the options before any request;
 * 2. sends one token request;
 * 3. validates the ID token, if the response has one.
 *
 * Reads and writes no session. Throws `CustomTokenExchangeError`, and `MfaRequiredError` when the provider requires
 * another factor. No message contains the subject token; a provider may quote it in `description`, which is its own text.
 */
export async function exchangeToken(
  engine: Engine,
  options: CustomTokenExchangeOptions,
): Promise<CustomTokenExchangeResult> {
  checkOptions(options ?? {})
  const { config } = engine
  const parameters = toParameters(options)
  const provider = getProvider(config)
  // The scope for an error before the metadata is loaded.
  let scope = options.scope || config.authorization.defaultScope
  try {
    if (!options.scope) scope = withOfferedScope(config, await provider.metadata()).defaultScope
    const grant = await exchangeTokens(provider, [...parameters, ['scope', scope]])
    const { accessToken, authorizationDetails, claims, expiresIn, idToken, refreshToken, tokenType } = grant
    const act = toActor(claims?.['act'])
    return defined({
      accessToken,
      tokenType,
      expiresIn,
      idToken,
      refreshToken,
      scope: grant.scope,
      authorizationDetails,
      act,
    })
  } catch (cause) {
    if (isIdpError(cause, 'INVALID_CONFIGURATION')) throw cause
    const error = new CustomTokenExchangeError('EXCHANGE_FAILED', { cause })
    const wireParameters = defined({ audience: options.audience || undefined, scope })
    throw await orMfaRequired(engine, error, { wanted: { wireParameters, scope } })
  }
}
