import type { Engine } from '../engine.ts'
import { isIdpError } from '../errors/base.ts'
import { reportLargeHead } from '../http/cookie-budget.ts'
import type { Exchange } from '../http/exchange.ts'
import { defined } from '../lib/objects.ts'
import { atMost } from '../lib/pause.ts'
import { outliveRequest } from '../lib/request-scope.ts'
import { parseUrl } from '../lib/url.ts'
import { asIdpError, reportFailure, reportOutcome } from '../log/failure.ts'
import { endSessionUrl, revokeToken, v2LogoutUrl } from '../oidc/end-session.ts'
import { getProvider } from '../oidc/provider.ts'
import type { SessionData } from '../session/model/session-data.ts'

export interface LogoutInput {
  /** Unvalidated target after the logout; the provider checks it against its allow-list. */
  readonly returnTo?: string
  readonly state?: string
  readonly federated: boolean
  readonly correlationId: string
}

/** Where a logout redirects to, and which session of the provider it ends. */
interface LogoutRedirect {
  readonly strategy: 'oidc' | 'v2' | 'local'
  readonly location: string
}

/** Returns the target after the logout as an absolute http(s) URL, or `null` if it is not one. */
function toTarget(returnTo: string | undefined, baseUrl: string): URL | null {
  const target = returnTo === undefined ? null : parseUrl(returnTo, baseUrl)
  return target?.protocol === 'https:' || target?.protocol === 'http:' ? target : null
}

/** An absolute URL that every parser reads alike: ASCII without blanks and backslashes. */
const ABSOLUTE = /^https?:\/\/(?!\/)[!-[\]-~]+$/i

/**
 * Returns the target to send to the provider, which compares it as a string (RP-Initiated Logout 1.0, section 3), and allows
 * wildcards with `v2`: an absolute URL as given, since a parser would add a slash to an origin; anything else made absolute.
 */
function toSentTarget(given: string | undefined, target: URL | null, baseUrl: string): string {
  if (!target || given === undefined) return baseUrl
  return ABSOLUTE.test(given) ? given : target.href
}

/** Returns a target within the application, without user name and password, which the browser would send with its next requests. */
function toLocalTarget(target: URL | null, baseUrl: string): string {
  if (target?.origin !== new URL(baseUrl).origin) return baseUrl
  return target.origin + target.pathname + target.search + target.hash
}

/**
 * Chooses the redirect by the strategy. If the metadata of the provider cannot be loaded, logs that and ends the local
 * session only.
 */
async function resolveRedirect(
  engine: Engine,
  baseUrl: string,
  session: SessionData | undefined,
  input: LogoutInput,
): Promise<LogoutRedirect> {
  const { config } = engine
  const target = toTarget(input.returnTo, baseUrl)
  const returnTo = toSentTarget(input.returnTo, target, baseUrl)
  const v2 = (): LogoutRedirect => ({
    strategy: 'v2',
    location: v2LogoutUrl(config, { returnTo, federated: input.federated }).href,
  })
  const local = (): LogoutRedirect => ({ strategy: 'local', location: toLocalTarget(target, baseUrl) })
  if (config.logoutStrategy === 'v2') return v2()
  if (config.logoutStrategy === 'local') return local()
  try {
    const url = await endSessionUrl(
      getProvider(config),
      defined({
        returnTo,
        federated: input.federated,
        state: input.state,
        idTokenHint: config.includeIdTokenHint ? session?.tokenSet.idToken : undefined,
        logoutHint: session?.internal.sid,
      }),
    )
    if (url) return { strategy: 'oidc', location: url.href }
    if (config.logoutStrategy === 'auto') {
      config.log.once(
        'The provider offers no RP-initiated logout: /v2/logout is used (logoutStrategy: auto), which few providers ' +
          "have. If that page does not exist, set logoutStrategy: 'local' to end the session of this application only.",
        'LOGOUT_NOT_OFFERED',
      )
      return v2()
    }
    config.log.once(
      'logoutStrategy is oidc, but the provider offers no RP-initiated logout: only the local session ends.',
      'LOGOUT_NOT_OFFERED',
    )
  } catch (error) {
    const { correlationId: id } = input
    reportOutcome(config.log, asIdpError(error), { level: 'warn', code: 'REQUEST_FAILED', id })
  }
  return local()
}

/** Longest time that a logout waits for the revocation, in milliseconds. The revocation itself is not cancelled. */
const REVOCATION_PATIENCE = 1000

/**
 * Revokes the refresh token if the provider supports it (RFC 7009), unless `revokeRefreshTokenAtLogout` is off. Best
 * effort: failures are logged and never block the logout.
 */
async function revoke({ config }: Engine, session: SessionData | undefined): Promise<void> {
  const refreshToken = session?.tokenSet.refreshToken
  if (refreshToken === undefined || !config.revokeAtLogout) return
  const revoked = revokeToken(getProvider(config), refreshToken).catch((error: unknown) =>
    reportFailure(config.log, error),
  )
  outliveRequest(revoked)
  await atMost(Math.min(REVOCATION_PATIENCE, config.httpTimeout), revoked)
}

/** Returns the session for the hints and the revocation. A store that cannot be read does not prevent the logout. */
async function loadSession(engine: Engine, exchange: Exchange): Promise<SessionData | undefined> {
  try {
    return (await engine.sessions.load(exchange))?.data
  } catch (error) {
    if (!isIdpError(error, 'SESSION_STORE_FAILED')) throw error
    reportFailure(engine.config.log, error)
    return undefined
  }
}

const LONG_LOCATION =
  'The address of a logout at the provider is long, because it contains the ID token. nginx responds with 502 to a response ' +
  'head above 4096 bytes unless proxy_buffer_size allows more (16k), and the provider may reject the address (414): set ' +
  'includeIdTokenHintInOIDCLogoutUrl to false, or remove claims from the ID token at the provider.'

/**
 * Ends the local session and returns the URL that ends the provider's session:
 * 1. loads the session for the hints;
 * 2. builds the URL; an unreachable provider does not prevent the local logout;
 * 3. deletes the session and every transaction;
 * 4. revokes the refresh token, waiting at most a second.
 */
export async function logout(engine: Engine, exchange: Exchange, input: LogoutInput): Promise<string> {
  const baseUrl = engine.baseUrl(exchange)
  const session = await loadSession(engine, exchange)
  const { strategy, location } = await resolveRedirect(engine, baseUrl, session, input)
  await engine.sessions.destroy(exchange)
  engine.transactions.clearAll(exchange)
  await revoke(engine, session)
  reportLargeHead(exchange.cookies, engine.config.log.once, { location, message: LONG_LOCATION })
  engine.config.log.emit({ level: 'info', code: 'LOGOUT', id: input.correlationId, strategy })
  return location
}
