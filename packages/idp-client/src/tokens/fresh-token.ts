import type { Config } from '../config/config.ts'
import { AccessTokenError } from '../errors/access-token.ts'
import { isIdpError } from '../errors/base.ts'
import { mfaChallengeOf } from '../errors/mfa-challenge.ts'
import type { OAuthError } from '../errors/provider.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Authentication } from '../session/authentication.ts'
import { provenIn } from '../session/authentication.ts'
import { claimsOf } from '../session/claims.ts'
import { afterRefresh } from '../session/hooks.ts'
import type { SessionData } from '../session/session-data.ts'
import type { SessionStorage } from '../session/storage.ts'
import type { StoredSession } from '../session/stored-session.ts'
import { copyOf } from '../session/stored-session.ts'
import type { Refreshed } from './apply.ts'
import { applyRefresh, entryOf, withoutRefreshToken } from './apply.ts'
import { keep } from './keep.ts'
import { mayHandOver } from './lineage.ts'
import type { MfaContextParts } from './mfa-context.ts'
import { orMfaRequired } from './mfa-demand.ts'
import type { Redemption } from './refresh-once.ts'
import { refreshOnce } from './refresh-once.ts'
import type { Entry, Selection } from './select.ts'
import { select } from './select.ts'
import type { Want } from './want.ts'

/** The refresh grant, given by the flow, so that this folder knows no provider. */
export type RefreshGrant = (request: {
  readonly refreshToken: string
  readonly subject: string
  /** Claims of the session that a new ID token must agree with; absent where none are known. */
  readonly previous?: Readonly<Record<string, unknown>>
  readonly scope?: string
  readonly audience?: string
}) => Promise<Refreshed>

export interface FreshTokenParts extends MfaContextParts {
  readonly sessions: SessionStorage
  readonly refresh: RefreshGrant
}

/** The provider says that the grant is gone: the token is dead, whatever is tried. */
export function isFinal(error: unknown): error is OAuthError {
  return isIdpError(error, 'OAUTH_ERROR') && 'error' in error && error.error === 'invalid_grant'
}

function chosen({ config }: FreshTokenParts, session: StoredSession, want: Want, buffer: number): Selection {
  return select(config.authorization, session.data, want, { now: config.clock(), buffer })
}

/** What UserInfo told at the login is in no ID token, so a refreshed one does not take it away. */
function withUserInfo({ fetchUserInfo }: Config, before: SessionData, after: SessionData): SessionData {
  if (!fetchUserInfo || after.user === before.user) return after
  const told = claimsOf(before.tokenSet.idToken) ?? {}
  const beyond = Object.entries(before.user).filter(([name]) => !(name in told))
  return { ...after, user: { ...Object.fromEntries(beyond), ...after.user } }
}

/** Returns what a refreshed ID token is compared with: what was proven, and the nonce of the kept ID token. */
function comparableClaims(
  { tokenSet }: SessionData,
  proven: Authentication,
): Pick<Parameters<RefreshGrant>[0], 'previous'> {
  if (proven.iss === undefined) return {}
  return { previous: { ...proven, nonce: claimsOf(tokenSet.idToken)?.['nonce'] } }
}

/** The session with what a grant for its user brought, as the application's hook wants it saved. */
export async function withGrant(
  config: Config,
  session: StoredSession,
  want: Want,
  grant: Refreshed,
): Promise<Redemption> {
  const { data } = session
  const now = config.clock()
  const applied = withUserInfo(
    config,
    data,
    applyRefresh(data, { config: config.authorization, want, grant, now }),
  )
  const saved = await afterRefresh(config, applied, { ...grant, previous: data.user })
  return { session: { ...session, data: saved, usedAt: now }, entry: entryOf(grant, want) }
}

async function redeem(
  { config, refresh }: FreshTokenParts,
  session: StoredSession,
  want: Want,
  refreshToken: string,
): Promise<Redemption> {
  const { data } = session
  try {
    const authentication = provenIn(session)
    const subject = typeof authentication.sub === 'string' ? authentication.sub : data.user.sub
    const previous = comparableClaims(data, authentication)
    const grant = await refresh({ refreshToken, subject, ...previous, ...want.sent })
    return await withGrant(config, { ...session, authentication }, want, grant)
  } catch (failure) {
    if (!isFinal(failure)) throw failure
    return { session: { ...session, data: withoutRefreshToken(data) }, failure }
  }
}

function failedWith(cause: unknown): AccessTokenError {
  return new AccessTokenError('FAILED_TO_REFRESH_TOKEN', { cause })
}

/**
 * An access token that is valid for what is wanted, refreshed if need be. Throws `AccessTokenError`:
 * `MISSING_REFRESH_TOKEN`, `FAILED_TO_REFRESH_TOKEN` (cause: what the provider said or the network did),
 * `REFRESH_NOT_PERSISTABLE`; `MfaRequiredError` when the provider demands another factor.
 */
export async function freshToken(
  parts: FreshTokenParts,
  exchange: Exchange,
  session: StoredSession,
  want: Want,
): Promise<Entry> {
  const { config } = parts
  const selection = chosen(parts, session, want, config.tokenRefreshBuffer)
  if (selection.kind === 'usable') return selection.entry
  const { refreshToken } = session.data.tokenSet
  if (selection.kind === 'missing' || refreshToken === undefined)
    throw new AccessTokenError('MISSING_REFRESH_TOKEN')
  const { fallback } = selection
  if (!exchange.canWrite() && !mayHandOver(config.clock())) {
    if (fallback) return fallback
    throw new AccessTokenError('REFRESH_NOT_PERSISTABLE')
  }
  const unforced = { ...want, force: false }
  try {
    const { line, redemption } = await refreshOnce({
      session,
      refreshToken,
      client: await parts.client(),
      purpose: JSON.stringify([want.audience, want.scope, want.force]),
      clock: config.clock,
      isSatisfiedBy: (latest) => {
        const found = chosen(parts, latest, unforced, config.tokenRefreshBuffer)
        return found.kind === 'usable' && found.entry.accessToken !== fallback?.accessToken
      },
      ...(parts.sessions.shared ? { shared: parts.sessions.shared } : {}),
      redeem: (latest, token) => redeem(parts, latest, want, token),
    })
    const { entry, failure, session: redeemed } = await redemption
    const after = copyOf(redeemed)
    await keep(parts, exchange, { line, session: after })
    const found = chosen(parts, after, unforced, 0)
    if (found.kind === 'usable') return found.entry
    if (entry) return entry
    // Another process found out that it is dead.
    if (failure === undefined && after.data.tokenSet.refreshToken === undefined)
      throw new AccessTokenError('MISSING_REFRESH_TOKEN')
    throw failedWith(failure)
  } catch (error) {
    if (isIdpError(error) && error.name === 'AccessTokenError') throw error
    // The session ended on another machine, while its token was redeemed.
    if (isIdpError(error, 'MISSING_SESSION')) throw new AccessTokenError('MISSING_SESSION')
    // Whoever forces a refresh may have had the valid token refused for want of just that factor.
    const isDemanded = want.force && mfaChallengeOf(error) !== undefined
    if (fallback && !isDemanded) {
      const { reportFailure } = await import('../log/failure.ts')
      reportFailure(config.log, error)
      return fallback
    }
    if (isIdpError(error, 'SESSION_STORE_FAILED')) throw error
    throw await orMfaRequired(parts, failedWith(error), { wanted: want, session })
  }
}
