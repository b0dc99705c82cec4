import type { Engine } from '../engine.ts'
import { AccessTokenError } from '../errors/access-token.ts'
import type { Exchange } from '../http/exchange.ts'
import type { RefreshGrant } from '../tokens/fresh-token.ts'
import { freshToken } from '../tokens/fresh-token.ts'
import type { GetAccessTokenOptions } from '../tokens/want.ts'
import { wantOf } from '../tokens/want.ts'

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

/** The protocol is loaded when a token is refreshed, not before. */
function refreshGrant({ config }: Engine): RefreshGrant {
  return async (request) => {
    const [{ refreshTokens }, { providerFor }] = await Promise.all([
      import('../oidc/refresh.ts'),
      import('../oidc/provider.ts'),
    ])
    return refreshTokens(providerFor(config), request)
  }
}

/**
 * An access token of the session for what `options` ask for:
 * 1. no session: `MISSING_SESSION`;
 * 2. a stored token that covers audience and scope and is still valid is handed out;
 * 3. else the refresh token is redeemed, once for all who wait, and the session that comes of it is kept.
 */
export async function getAccessToken(
  engine: Engine,
  exchange: Exchange,
  options: GetAccessTokenOptions = {},
): Promise<AccessToken> {
  const session = await engine.sessions.load(exchange)
  if (!session) throw new AccessTokenError('MISSING_SESSION')
  const want = wantOf(engine.config.authorization, options)
  const { config, sealer, sessions, client } = engine
  const parts = { config, sealer, sessions, client, refresh: refreshGrant(engine) }
  // What a request with an older cookie forces, another request has done already.
  const once = session.behind ? { ...want, force: false } : want
  const { accessToken, expiresAt, scope, token_type, audience } = await freshToken(
    parts,
    exchange,
    session,
    once,
  )
  return {
    token: accessToken,
    expiresAt,
    ...(scope === undefined ? {} : { scope }),
    ...(token_type === undefined ? {} : { token_type }),
    ...(audience === undefined ? {} : { audience }),
  }
}
