import type { Engine } from '../engine.ts'
import { AccessTokenError } from '../errors/access-token.ts'
import type { Exchange } from '../http/exchange.ts'

/** An access token as it is handed to the application. */
export interface AccessToken {
  token: string
  /** Seconds since the epoch. */
  expiresAt: number
  /** Granted scope, when the provider named it. */
  scope?: string
  /** `Bearer` or `DPoP`. */
  token_type?: string
  audience?: string
}

/** The access token of the login's own audience, while it is valid. */
export async function getAccessToken(engine: Engine, exchange: Exchange): Promise<AccessToken> {
  const session = await engine.sessions.load(exchange)
  if (!session) throw new AccessTokenError('MISSING_SESSION')
  const { accessToken, expiresAt, refreshToken, scope, token_type, audience } = session.data.tokenSet
  if (expiresAt <= engine.config.clock()) {
    if (refreshToken === undefined) throw new AccessTokenError('MISSING_REFRESH_TOKEN')
    throw new AccessTokenError('NOT_AVAILABLE', { detail: 'Refreshing an expired access token.' })
  }
  return {
    token: accessToken,
    expiresAt,
    ...(scope === undefined ? {} : { scope }),
    ...(token_type === undefined ? {} : { token_type }),
    ...(audience === undefined ? {} : { audience }),
  }
}
