import type { Exchange } from '../../http/exchange.ts'
import { isNavigation, isPrefetch, isSameOrigin } from '../../http/request-kind.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import { monotonic } from '../../lib/clock.ts'
import { Lru } from '../../lib/lru.ts'
import { processWide } from '../../lib/registry.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import { endStreamsOf } from '../../session/open-streams.ts'
import type { SessionEnd } from '../../session/storage.ts'
import type { FamilyParts, TokenFamily } from './families.ts'
import { closeFamily, tokenKey } from './families.ts'
import { forgetProcessTokens } from './process-tokens.ts'

/** Maximum number of sessions that are known to have ended. */
const MAX_ENDED = 20_000

/** How long after a login requests with the session that it replaced may still arrive, in milliseconds. */
const UNDERWAY_MILLISECONDS = 60_000

/** Until when such requests may arrive, in milliseconds of the process's monotonic clock; 0 if the session ended otherwise. */
const endedSessions = (): Lru<string, number> =>
  processWide('mark:ended-sessions/2', () => new Lru(MAX_ENDED))

/** Remembers that a session has ended, and drops what this process keeps of it. */
export function markEnded(sessionKey: string, end: SessionEnd = 'ended'): void {
  endedSessions().set(sessionKey, end === 'replaced' ? monotonic() + UNDERWAY_MILLISECONDS : 0)
  forgetProcessTokens(sessionKey)
}

/**
 * Ends a session in this process, because of a logout, another login or its end at the provider: later requests with its cookie
 * have no session, and its responses end.
 */
export async function endInProcess(
  { sessionKey }: StoredSession,
  family?: MaybePromise<TokenFamily | undefined>,
): Promise<void> {
  // Before the first `await`: whatever runs meanwhile must not keep tokens of the session.
  markEnded(sessionKey)
  const known = await family
  if (known) closeFamily(known)
  await endStreamsOf(new Set([sessionKey]))
}

export function hasEnded({ sessionKey }: Pick<StoredSession, 'sessionKey'>): boolean {
  return endedSessions().get(sessionKey) !== undefined
}

export function wasJustReplaced({ sessionKey }: Pick<StoredSession, 'sessionKey'>): boolean {
  return (endedSessions().get(sessionKey) ?? 0) > monotonic()
}

/** Maximum number of rejected tokens that are remembered. */
const MAX_DEAD = 20_000

/**
 * Refresh tokens in cookies that the provider rejected with `invalid_grant`, with the time. Another process may have
 * redeemed the token first, and its response may still be pending: a cookie of this process would replace its cookie. So
 * the token is remembered instead of removed.
 */
const deadTokens = (): Lru<string, number> =>
  processWide('mark:dead-refresh-tokens/1', () => new Lru(MAX_DEAD))

export async function markDead(parts: FamilyParts, refreshToken: string): Promise<void> {
  deadTokens().set(await tokenKey(parts, refreshToken), parts.config.clock())
}

/** Returns when the provider rejected the refresh token of a session, in seconds since the epoch; `undefined` if it did not. */
export function deadSince(
  parts: FamilyParts,
  session: { readonly tokenSet: { readonly refreshToken?: string } },
): MaybePromise<number | undefined> {
  // Usually empty: then the tokens of the session, which decodes them on first use, are not read.
  if (deadTokens().size === 0) return undefined
  const { refreshToken } = session.tokenSet
  return refreshToken === undefined
    ? undefined
    : tokenKey(parts, refreshToken).then((key) => deadTokens().get(key))
}

/** Seconds for which a session whose refresh token was rejected is not written. */
const QUIET_SECONDS = 60

/**
 * Returns whether a session may be written without its rejected refresh token: after `QUIET_SECONDS` the browser would have sent
 * a newer one.
 */
export function mayRemoveDead(exchange: Exchange, since: number, now: number): boolean {
  const { headers } = exchange.request
  const isOwn = isSameOrigin(headers) || isNavigation(headers)
  return exchange.canWrite() && now >= since + QUIET_SECONDS && !isPrefetch(headers) && isOwn
}
