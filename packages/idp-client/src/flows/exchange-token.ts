import type { Engine } from '../engine.ts'
import { isIdpError } from '../errors/base.ts'
import { CustomTokenExchangeError } from '../errors/token-exchange.ts'
import type { ExchangeParameters } from '../oidc/token-exchange.ts'
import type { RequestedToken } from '../tokens/mfa-context.ts'
import { orMfaRequired } from '../tokens/mfa-demand.ts'
import { withOfferedScope } from '../tokens/offered-scope.ts'

/** Options of `customTokenExchange`. */
export interface CustomTokenExchangeOptions {
  /** The token to exchange. */
  subjectToken: string
  /** What kind of token that is: a URI of 10 to 100 characters, as agreed with the provider. */
  subjectTokenType: string
  /** API that the new access token is for. */
  audience?: string | undefined
  /** Space-delimited; default `openid profile email offline_access`, or what of it the provider lists. */
  scope?: string | undefined
  organization?: string | undefined
  /** Token of the party that acts for the subject (RFC 8693 section 1.1). */
  actorToken?: string | undefined
  /** What kind of token the actor's is; needed with `actorToken`, ignored without. */
  actorTokenType?: string | undefined
  /**
   * Further parameters of the request, sent as text, a list once per entry; null and undefined are left out. Names that
   * have an option of their own, and `grant_type` and `client_*`, are refused.
   */
  additionalParameters?: Readonly<Record<string, unknown>> | undefined
}

/** What a token exchange brought. None of it is kept: the session is untouched. */
export interface CustomTokenExchangeResult {
  accessToken: string
  /** Validated, when the provider sent one. */
  idToken?: string
  refreshToken?: string
  /** `Bearer`, or `DPoP` for a token that is bound to this client's key. */
  tokenType: string
  /** Seconds that the access token is valid from now. */
  expiresIn: number
  scope?: string
  /** Who acts for the subject: the claim of the ID token (RFC 8693 section 4.1). */
  act?: { sub: string; [claim: string]: unknown }
}

function isBlank(value: unknown): boolean {
  return typeof value !== 'string' || value.trim() === ''
}

const URN = /^urn:[a-z0-9][a-z0-9-]{0,31}:\S+$/i

function isTokenType(value: unknown): value is string {
  if (typeof value !== 'string' || value.length < 10 || value.length > 100 || /\s/.test(value)) return false
  return /^urn:/i.test(value) ? URN.test(value) : URL.canParse(value)
}

function checkOptions(options: Partial<CustomTokenExchangeOptions>): void {
  const { actorToken, actorTokenType, subjectToken, subjectTokenType } = options
  if (isBlank(subjectToken)) throw new CustomTokenExchangeError('MISSING_SUBJECT_TOKEN')
  if (!isTokenType(subjectTokenType)) throw new CustomTokenExchangeError('INVALID_SUBJECT_TOKEN_TYPE')
  if (actorToken === undefined || actorToken === null) return
  // To send none instead would turn a delegation into an impersonation.
  if (isBlank(actorToken)) throw new CustomTokenExchangeError('MISSING_ACTOR_TOKEN')
  if (isBlank(actorTokenType)) throw new CustomTokenExchangeError('MISSING_ACTOR_TOKEN_TYPE')
  if (!isTokenType(actorTokenType)) throw new CustomTokenExchangeError('INVALID_ACTOR_TOKEN_TYPE')
}

type Pair = readonly [string, string]

function pair(name: string, value: string | null | undefined): Pair[] {
  return value === undefined || value === null || value === '' ? [] : [[name, value]]
}

function additional(
  given: CustomTokenExchangeOptions['additionalParameters'],
  maySet: (name: string) => boolean,
): Pair[] {
  return Object.entries(given ?? {}).flatMap(([name, value]) => {
    if (!maySet(name)) throw new CustomTokenExchangeError('RESERVED_PARAMETER')
    const values: readonly unknown[] = Array.isArray(value) ? value : [value]
    return values.flatMap((each) =>
      each === undefined || each === null ? [] : [[name, String(each)] as const],
    )
  })
}

function toParameters(
  options: CustomTokenExchangeOptions,
  maySet: (name: string) => boolean,
): ExchangeParameters {
  const { actorToken, actorTokenType, additionalParameters, audience, organization } = options
  return [
    ...additional(additionalParameters, maySet),
    ...pair('subject_token', options.subjectToken),
    ...pair('subject_token_type', options.subjectTokenType),
    ...pair('actor_token', actorToken),
    ...(actorToken ? pair('actor_token_type', actorTokenType) : []),
    ...pair('audience', audience),
    ...pair('organization', organization),
  ]
}

function toRequestedToken({ audience }: CustomTokenExchangeOptions, scope: string): RequestedToken {
  return { wireParameters: { ...(audience ? { audience } : {}), scope }, scope }
}

function toActor(act: unknown): CustomTokenExchangeResult['act'] {
  const isActor = typeof act === 'object' && act !== null && 'sub' in act && typeof act.sub === 'string'
  return isActor ? (act as CustomTokenExchangeResult['act']) : undefined
}

/**
 * Exchanges a token for tokens of this provider (RFC 8693):
 * 1. the options are checked before anything is sent;
 * 2. the provider is asked, once;
 * 3. an ID token that comes back is validated.
 * Reads and writes no session. Throws `CustomTokenExchangeError`, and `MfaRequiredError` when the provider demands
 * another factor; the subject token is in no error.
 */
export async function exchangeToken(
  engine: Engine,
  options: CustomTokenExchangeOptions,
): Promise<CustomTokenExchangeResult> {
  checkOptions(options ?? {})
  const { config } = engine
  const [{ exchangeTokens, mayExchangeSet }, { getProvider: providerFor }] = await Promise.all([
    import('../oidc/token-exchange.ts'),
    import('../oidc/provider.ts'),
  ])
  const parameters = toParameters(options, mayExchangeSet)
  const provider = providerFor(config)
  let scope = options.scope || config.authorization.defaultScope
  try {
    if (!options.scope) scope = withOfferedScope(config, await provider.metadata()).defaultScope
    const grant = await exchangeTokens(provider, [...parameters, ['scope', scope]])
    const act = toActor(grant.claims?.['act'])
    return {
      accessToken: grant.accessToken,
      tokenType: grant.tokenType,
      expiresIn: grant.expiresIn,
      ...(grant.idToken === undefined ? {} : { idToken: grant.idToken }),
      ...(grant.refreshToken === undefined ? {} : { refreshToken: grant.refreshToken }),
      ...(grant.scope === undefined ? {} : { scope: grant.scope }),
      ...(act === undefined ? {} : { act }),
    }
  } catch (cause) {
    if (isIdpError(cause, 'INVALID_CONFIGURATION')) throw cause
    const error = new CustomTokenExchangeError('EXCHANGE_FAILED', { cause })
    throw await orMfaRequired(engine, error, { wanted: toRequestedToken(options, scope) })
  }
}
