import type { Config } from '../config/config.ts'
import type { GetAccessTokenOptions } from '../config/token-options.ts'
import type { Engine } from '../engine.ts'
import { AccessTokenError } from '../errors/tokens.ts'
import type { Exchange } from '../http/exchange.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { chain } from '../lib/chain.ts'
import { copyJson, defined } from '../lib/objects.ts'
import { lazyPromise } from '../lib/request-scope.ts'
import type { AuthorizationDetail } from '../session/model/session-data.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import type { ScopedCall } from '../tokens/offered-scope.ts'
import { getFreshToken } from '../tokens/refresh/access-token.ts'
import type { SendRefresh } from '../tokens/refresh/redeem.ts'
import type { Entry } from '../tokens/select.ts'
import { storedEntry } from '../tokens/select.ts'
import type { TokenRequest, TokenSource } from '../tokens/token-request.ts'
import { toTokenRequest } from '../tokens/token-request.ts'

/** An access token as the application gets it. */
export interface AccessToken {
  token: string
  /** Expiry, in seconds since the epoch. */
  expiresAt: number
  /** Granted scope, if the provider has named it; empty if that of a further audience was neither requested nor named. */
  scope?: string
  /** `Bearer` or `DPoP`. */
  token_type?: string
  audience?: string
  /** The details that the provider granted (RFC 9396), see `TokenSet`. */
  authorizationDetails?: AuthorizationDetail[]
}

/* The protocol code is loaded at the first refresh. */
const loadProtocol = lazyPromise(() =>
  Promise.all([
    import('../oidc/token-endpoint.ts'),
    import('../oidc/provider.ts'),
    import('../tokens/offered-scope.ts'),
  ]),
)

/** Creates the function that sends the refresh request. */
function createRefresh({ config }: Engine, request: ScopedCall): SendRefresh {
  return async (input) => {
    const [{ refreshTokens }, { getProvider }, offered] = await loadProtocol()
    const provider = getProvider(config)
    const scope = input.scope && (await offered.refreshScope(input.scope, config, provider.metadata, request))
    return refreshTokens(provider, { ...input, ...defined({ scope }) })
  }
}

/** Returns whether another request has already refreshed the token that the browser's cookie still has. */
function isRefreshed({ authorization }: Config, { data, older }: StoredSession, want: TokenRequest): boolean {
  if (!older) return false
  const [before, now] = [older, data].map((session) => storedEntry(authorization, session, want)?.accessToken)
  return before !== now
}

/**
 * Returns an access token of the session for the requested audience and scope:
 * 1. throws `MISSING_SESSION` without a session;
 * 2. returns a stored token that covers audience and scope and has not expired;
 * 3. otherwise redeems the refresh token, once for all concurrent callers, and stores the new session.
 *
 * `internal`: with `processOnly`, a token of an audience is cached in this process instead of the session; with `isBackground`, a
 * refresh does not count as use of the session.
 */
export function getAccessToken(
  engine: Engine,
  exchange: Exchange,
  options: GetAccessTokenOptions = {},
  internal: Pick<TokenRequest, 'isBackground' | 'processOnly'> = {},
): MaybePromise<AccessToken> {
  return chain(engine.sessions.load(exchange), (session) => {
    if (!session) throw new AccessTokenError('MISSING_SESSION')
    const want = toTokenRequest(engine.config.authorization, options, session)
    const parts = { ...engine, sendRefresh: createRefresh(engine, { options, want }) }
    const force = want.force && !isRefreshed(engine.config, session, want)
    const effective = { ...want, ...internal, force }
    return chain(getFreshToken(parts, exchange, session, effective), toAccessToken)
  })
}

function toAccessToken({ accessToken, audience, ...entry }: Entry): AccessToken {
  const { expiresAt, scope, token_type } = entry
  // A copy, since the entry belongs to the session, or to this process for all requests of it.
  const authorizationDetails = copyJson(entry.authorizationDetails)
  return defined({ token: accessToken, expiresAt, scope, token_type, audience, authorizationDetails })
}

/** Creates the source of tokens of the session. */
export function sessionTokens(engine: Engine, exchange: Exchange): TokenSource {
  return async (options) => getAccessToken(engine, exchange, options)
}

/**
 * Creates the source of tokens for the account API. They are not stored in the session, since only the library uses
 * them.
 */
export function accountTokens(engine: Engine, exchange: Exchange): TokenSource {
  return async (options) => getAccessToken(engine, exchange, options, { processOnly: true })
}
