import type { Engine } from '../engine.ts'
import { AccessTokenError, AccessTokenForConnectionError } from '../errors/tokens.ts'
import type { Exchange } from '../http/exchange.ts'
import { defined } from '../lib/objects.ts'
import { getProvider } from '../oidc/provider.ts'
import { requestConnectionToken } from '../oidc/vendor/connection-token.ts'
import type { ConnectionTokenParts } from '../tokens/connection-token.ts'
import { getFreshConnectionToken, storedConnectionToken } from '../tokens/connection-token.ts'
import { orMfaRequired } from '../tokens/mfa-demand.ts'
import { withMainToken } from '../tokens/refresh/process-tokens.ts'
import type { TokenSource } from '../tokens/token-request.ts'
import { toTokenRequest } from '../tokens/token-request.ts'

/** Options of `getAccessTokenForConnection`. */
export interface GetAccessTokenForConnectionOptions {
  /** Name of the connection at the provider, for example `google-oauth2`. */
  connection: string
  /** Account at the connection, if the user has several there. */
  login_hint?: string
  /** Token to exchange: the session's refresh token (default) or its access token (RFC 8693 section 3). */
  subject_token_type?:
    | 'urn:ietf:params:oauth:token-type:refresh_token'
    | 'urn:ietf:params:oauth:token-type:access_token'
}

/** An access token for the API of a connected account's provider. */
export interface ConnectionAccessToken {
  token: string
  /** Expiry, in seconds since the epoch. */
  expiresAt: number
  scope?: string
}

const REFRESH_TOKEN = 'urn:ietf:params:oauth:token-type:refresh_token'

/** Returns the error for a session whose access token could not be refreshed. */
function toConnectionError(cause: unknown): unknown {
  if (!(cause instanceof AccessTokenError)) return cause
  const { code } = cause
  if (code === 'MISSING_SESSION' || code === 'SESSION_EXPIRED')
    return new AccessTokenForConnectionError('MISSING_SESSION')
  if (code === 'MISSING_REFRESH_TOKEN') return new AccessTokenForConnectionError(code)
  return new AccessTokenForConnectionError('FAILED_TO_EXCHANGE_REFRESH_TOKEN', { cause })
}

/**
 * Returns the access token of a connection: the stored one until it expires, then a new one from the provider. An access token of the
 * session that is to be exchanged comes from `getToken`, which refreshes it if necessary. If the provider requires another factor
 * (`MfaRequiredError`), verify it and call again; the verification itself yields a token of the login, not of the connection.
 */
export async function getConnectionToken(
  engine: Engine,
  exchange: Exchange,
  options: Partial<GetAccessTokenForConnectionOptions>,
  getToken: TokenSource,
): Promise<ConnectionAccessToken> {
  const { connection, login_hint: loginHint, subject_token_type: type = REFRESH_TOKEN } = options
  if (typeof connection !== 'string' || connection === '') {
    throw new AccessTokenForConnectionError('MISSING_CONNECTION')
  }
  const { config, sessions } = engine
  const want = defined({ connection, loginHint })
  const session = await sessions.load(exchange)
  if (!session) throw new AccessTokenForConnectionError('MISSING_SESSION')
  if (type !== REFRESH_TOKEN && !storedConnectionToken(session.data, want, config.clock())) {
    try {
      await getToken({})
    } catch (cause) {
      throw toConnectionError(cause)
    }
  }
  const parts: ConnectionTokenParts = {
    ...engine,
    exchangeToken(latest, refreshToken, progress) {
      const subjectToken =
        type === REFRESH_TOKEN ? refreshToken : withMainToken(config, latest).tokenSet.accessToken
      const request = { ...want, subjectToken, subjectTokenType: type, ...progress }
      return requestConnectionToken(getProvider(config), request)
    },
  }
  try {
    const { accessToken, expiresAt, scope } = await getFreshConnectionToken(parts, exchange, session, want)
    return defined({ token: accessToken, expiresAt, scope })
  } catch (error) {
    const wanted = toTokenRequest(config.authorization, {})
    throw await orMfaRequired(engine, error, { wanted, session })
  }
}
