import type { Config } from '../config/config.ts'
import type { GetAccessTokenOptions } from '../config/token-options.ts'
import type { Engine } from '../engine.ts'
import { AccessTokenError } from '../errors/access-token.ts'
import type { Exchange } from '../http/exchange.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import type { RefreshGrant } from '../tokens/fresh-token.ts'
import { freshToken } from '../tokens/fresh-token.ts'
import type { refreshScope } from '../tokens/offered-scope.ts'
import { storedEntry } from '../tokens/select.ts'
import type { TokenRequest } from '../tokens/token-request.ts'
import { toTokenRequest } from '../tokens/token-request.ts'
import type { TokenSource } from '../tokens/token-source.ts'

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
function refreshGrant({ config }: Engine, wanted: Parameters<typeof refreshScope>[2]): RefreshGrant {
  return async (request) => {
    const [{ refreshTokens }, { getProvider: providerFor }, offered] = await Promise.all([
      import('../oidc/refresh.ts'),
      import('../oidc/provider.ts'),
      import('../tokens/offered-scope.ts'),
    ])
    const provider = providerFor(config)
    const scope = await offered.refreshScope(config, provider.metadata, wanted)
    return refreshTokens(provider, { ...request, ...scope })
  }
}

/** Whether another request has brought what this one forces: its token is not the one that the browser still has. */
function isNewer(
  { authorization }: Config,
  { stale: behind, data }: StoredSession,
  want: TokenRequest,
): boolean {
  if (!behind) return false
  const [older, newer] = [behind, data].map(
    (session) => storedEntry(authorization, session, want)?.accessToken,
  )
  return older !== newer
}

/**
 * An access token of the session for what `options` ask for:
 * 1. no session: `MISSING_SESSION`;
 * 2. a stored token that covers audience and scope and is still valid is handed out;
 * 3. else the refresh token is redeemed, once for all who wait, and the session that comes of it is kept.
 *
 * With `inProcess` the token itself is kept in this process, and not in the session.
 */
export async function getAccessToken(
  engine: Engine,
  exchange: Exchange,
  options: GetAccessTokenOptions = {},
  inProcess = false,
): Promise<AccessToken> {
  const session = await engine.sessions.load(exchange)
  if (!session) throw new AccessTokenError('MISSING_SESSION')
  const want = toTokenRequest(engine.config.authorization, options, session)
  const { config, sealer, sessions, client } = engine
  const parts = { config, sealer, sessions, client, refresh: refreshGrant(engine, { options, want }) }
  const force = want.force && !isNewer(config, session, want)
  const once = { ...want, force, ...(inProcess ? { inProcess } : {}) }
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

/** Gets the tokens that the library needs itself, for the account API: an application has no use for them in its session. */
export function accountTokens(engine: Engine, exchange: Exchange): TokenSource {
  return (options) => getAccessToken(engine, exchange, options, true)
}
