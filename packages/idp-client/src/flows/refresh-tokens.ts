import type { Engine } from '../engine.ts'
import { IdpError, isIdpError } from '../errors/base.ts'
import { AccessTokenError } from '../errors/tokens.ts'
import { defined } from '../lib/objects.ts'
import { isNonBlankString } from '../lib/strings.ts'
import type { Provider } from '../oidc/provider.ts'
import { getProvider } from '../oidc/provider.ts'
import { refreshTokens as sendRefresh } from '../oidc/token-endpoint.ts'
import { decodeClaims } from '../session/model/claims.ts'
import type { TokenSet, User } from '../session/model/session-data.ts'
import { orMfaRequired } from '../tokens/mfa-demand.ts'
import { redeemWithoutSession } from '../tokens/refresh/without-session.ts'

/** Options of `refreshTokens`. */
export interface RefreshTokensOptions {
  /** A refresh token of `getTokenByBackchannelAuth` or `customTokenExchange`; never that of a session. */
  refreshToken: string
  /** Space-delimited scope, at most the granted one. Default: none is sent, which requests the granted one. */
  scope?: string | undefined
  /** API that the new access token is for. Default: none is sent. */
  audience?: string | undefined
}

/** Result of `refreshTokens`. Nothing is stored. */
export interface RefreshTokensResult {
  /** The new tokens. `refreshToken` is the one to use from now on, also if the provider did not replace it. */
  tokenSet: TokenSet
  /** All claims of the new ID token, if the response had a valid one: compare its `sub` with that of your user. */
  idTokenClaims?: User
}

const isAbsentOrText = (value: unknown): boolean => value === undefined || isNonBlankString(value)

function checkOptions(options: Partial<RefreshTokensOptions>): void {
  const { audience, refreshToken, scope } = options
  if (!isNonBlankString(refreshToken))
    throw new AccessTokenError('MISSING_REFRESH_TOKEN', {
      detail: 'refreshToken of refreshTokens is a non-blank string.',
    })
  if (isAbsentOrText(audience) && isAbsentOrText(scope)) return
  throw new IdpError('INVALID_ARGUMENTS', {
    detail: 'scope and audience of refreshTokens are non-blank strings.',
  })
}

/** Returns the name of what the new tokens are bound to, if anything. */
async function toBinding({ config, dpop }: Provider): Promise<string | undefined> {
  if (config.dpop.enabled) return (await dpop.handle()).thumbprint
  return config.mutualTls?.boundTokens ? 'certificate' : undefined
}

/**
 * Redeems a refresh token that belongs to no session, once for all concurrent callers of this process. An ID token in the response
 * is verified as at the refresh of a session. Reads and writes no session. Throws `AccessTokenError` `MISSING_REFRESH_TOKEN`,
 * `FAILED_TO_REFRESH_TOKEN`; `INVALID_ARGUMENTS` if this process knows the token as that of a session; and `MfaRequiredError` when the
 * provider requires another factor.
 */
export async function refreshTokens(
  engine: Engine,
  options: RefreshTokensOptions,
): Promise<RefreshTokensResult> {
  checkOptions(options ?? {})
  const { audience, refreshToken, scope } = options
  const request = defined({ refreshToken, scope, audience })
  try {
    const provider = getProvider(engine.config)
    const bound = { ...request, ...defined({ binding: await toBinding(provider) }) }
    const tokenSet = await redeemWithoutSession(engine, bound, (input) => sendRefresh(provider, input))
    return defined({ tokenSet, idTokenClaims: decodeClaims(tokenSet.idToken) })
  } catch (cause) {
    if (isIdpError(cause, 'INVALID_CONFIGURATION') || isIdpError(cause, 'INVALID_ARGUMENTS')) throw cause
    const error = new AccessTokenError('FAILED_TO_REFRESH_TOKEN', { cause })
    const wanted = { wireParameters: defined({ scope, audience }), scope: scope ?? '' }
    throw await orMfaRequired(engine, error, { wanted })
  }
}
