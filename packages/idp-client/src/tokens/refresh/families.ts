import type { Config } from '../../config/config.ts'
import { hashToken } from '../../crypto/random.ts'
import { monotonic } from '../../lib/clock.ts'
import { Lru } from '../../lib/lru.ts'
import { processWide } from '../../lib/registry.ts'
import { sweeping } from '../../lib/request-scope.ts'
import { endsAt } from '../../session/model/lifetime.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import type { ClientParts } from '../../session/storage.ts'
import { isInProgress } from './state.ts'
import type { Turn } from './turn.ts'

/**
 * One session and its recent refresh tokens (RFC 9700 section 4.14.2). Requests that carry an older token get the latest
 * session, so that this process never redeems a single-use token twice.
 */
export interface TokenFamily {
  /** The latest session that is known to this process. */
  latest: StoredSession
  /** The queue: redemptions in progress, and abandoned ones whose token was sent. */
  turns: readonly Turn[]
  /** The session has ended, or a session has taken over the tokens of the application: calls fail, and nothing advances the family. */
  closed: boolean
  /** The tokens that resolve to this family, the latest at the end. Empty until a redemption succeeds: then only `firstKey` does. */
  tokens: readonly FamilyToken[]
  /** The key of the token that it was opened for. */
  readonly firstKey: string
  /** When it was last advanced, sent or written; milliseconds of the monotonic clock. */
  touchedAt: number
}

/* In a list, because there are thousands: it takes a third of the memory of a map. */
interface FamilyToken {
  readonly key: string
  /** When it stops resolving to the family, unless that is pending; seconds since the epoch. */
  until: number
  /**
   * Whether a cookie of the browser may have it. `none`: no response has set one since this process received the token, because the
   * session was pending. `replaced`: a response has set a later token, but the browser may not have received it.
   */
  cookie: 'possible' | 'none' | 'replaced'
}

interface TokenFamilies {
  readonly byToken: Lru<string, TokenFamily>
  /** Families whose latest session has not reached a browser, and when their session ends at the latest. */
  readonly pending: Map<TokenFamily, number>
  /** Schedules the deletion of unused families. */
  readonly forgetLater: () => void
}

/** How long a consumed refresh token still resolves to its successor, in seconds. */
const JOIN_SECONDS = 60
/** How long an unused family is kept, and the interval of deletions, in milliseconds. */
const KEPT_MILLISECONDS = JOIN_SECONDS * 1000 * 2
/** Maximum number of refresh tokens that resolve to a family, except pending families and those with redemptions. */
const MAX_TOKENS = 20_000
/** Maximum number of pending families. */
const MAX_PENDING = 1000

const families = (): TokenFamilies =>
  processWide('state:token-families/14', () => {
    const pending = new Map<TokenFamily, number>()
    const isRunning = ({ redemption }: Turn): boolean =>
      isInProgress(redemption) && redemption.deadline > monotonic()
    const isNeeded = (family: TokenFamily): boolean => pending.has(family) || family.turns.some(isRunning)
    const byToken = new Lru<string, TokenFamily>(MAX_TOKENS, isNeeded)
    /** Deletes unused families. Returns whether any are left. */
    const forgetOld = (): boolean => {
      const before = monotonic() - KEPT_MILLISECONDS
      for (const [key, family] of byToken.entries())
        if (family.touchedAt <= before && !isNeeded(family)) byToken.delete(key)
      return byToken.size > 0
    }
    return { byToken, pending, forgetLater: sweeping(KEPT_MILLISECONDS, forgetOld) }
  })

/** Returns whether this process has families, to skip the hash of a refresh token. */
export const hasFamilies = (): boolean => families().byToken.size > 0

export const isPending = (family: TokenFamily): boolean => families().pending.has(family)

export type FamilyParts = Pick<ClientParts, 'clientTag' | 'config'>

/** The `sessionKey` of tokens that belong to no session, because the application keeps them. */
export const NO_SESSION = 'no-session'

/** Returns a hash that identifies a refresh token of one client at one provider: one of sessions, or one of `NO_SESSION`. */
export async function tokenKey(
  { clientTag }: Pick<FamilyParts, 'clientTag'>,
  token: string,
  owner?: typeof NO_SESSION,
): Promise<string> {
  return hashToken(`${owner ?? ''} ${await clientTag()} ${token}`, 32)
}

/** Returns whether a refresh token resolves to a family, or did a short while ago. */
export const isKnownToken = (key: string): boolean => families().byToken.get(key) !== undefined

/** Returns the family of a session that this process has recently refreshed. */
export function findFamily(key: string, session: StoredSession, now: number): TokenFamily | undefined {
  const { byToken, forgetLater, pending } = families()
  forgetLater()
  const family = byToken.get(key)
  if (!family) return undefined
  const until = family.tokens.find((one) => one.key === key)?.until
  // While its latest token is being redeemed, `advance` has yet to renew the time.
  const { refreshToken } = family.latest.data.tokenSet
  const isBeingRedeemed = family.turns.length > 0 && session.data.tokenSet.refreshToken === refreshToken
  const isOver = until !== undefined && until <= now && !pending.has(family) && !isBeingRedeemed
  // A token that appears in another session does not resolve to this family.
  return isOver || family.latest.sessionKey !== session.sessionKey ? undefined : family
}

export function openFamily(firstKey: string, latest: StoredSession): TokenFamily {
  const touchedAt = monotonic()
  const family = { latest, turns: [], closed: false, tokens: [], firstKey, touchedAt }
  resolveTo(family, firstKey)
  return family
}

export const resolveTo = (family: TokenFamily, key: string): void => families().byToken.set(key, family)

/** Removes a redemption that has ended, and then a family without tokens: none of its redemptions succeeded. */
export function removeTurn(turn: Turn): void {
  const { byToken } = families()
  const { family } = turn
  family.turns = family.turns.filter((other) => other !== turn)
  const isUnused = family.turns.length === 0 && family.tokens.length === 0
  if (isUnused && byToken.get(family.firstKey) === family) byToken.delete(family.firstKey)
}

/**
 * Advances the family to a new session. `keys`, those of its previous tokens and at the end that of its new one, resolve to it for
 * `JOIN_SECONDS`. Deletes expired tokens; while the session is pending, keeps those that the browser may still have.
 */
export function advance(
  family: TokenFamily,
  latest: StoredSession,
  keys: readonly string[],
  now: number,
): void {
  if (family.closed) return
  const { byToken } = families()
  const pending = isPending(family)
  const kept = family.tokens.filter(({ cookie, until }) => until > now || (pending && cookie !== 'none'))
  for (const { key } of family.tokens) if (byToken.get(key) === family) byToken.delete(key)
  const others = kept.filter(({ key }) => !keys.includes(key))
  const added = keys.map((key) => ({
    key,
    until: now + JOIN_SECONDS,
    cookie: kept.find((one) => one.key === key)?.cookie ?? (pending ? 'none' : 'possible'),
  }))
  family.tokens = [...others, ...added]
  for (const { key } of family.tokens) byToken.set(key, family)
  family.latest = latest
  // Their token is no longer the latest.
  family.turns = family.turns.filter(({ redemption }) => isInProgress(redemption))
  touch(family)
}

/** Keeps an unused family for a while from now on. */
export function touch(family: TokenFamily): void {
  family.touchedAt = monotonic()
  families().forgetLater()
}

/**
 * Closes families whose session has expired if too many are pending. Returns whether one more session may be refreshed in
 * a request that cannot set cookies.
 */
export function makeRoomForPending(now: number): boolean {
  const { pending } = families()
  if (pending.size < MAX_PENDING) return true
  for (const [family, end] of pending) if (end <= now) closeFamily(family)
  return pending.size < MAX_PENDING
}

/**
 * Keeps the latest session in this process until a response has sent it, unless the family is closed. If too many are pending,
 * keeps it for `JOIN_SECONDS` only, like every refreshed session. `session` says when it ends: it may have been used later.
 */
export function keepUntilSent(config: Config, family: TokenFamily, session: StoredSession): void {
  if (family.closed) return
  if (!isPending(family) && !makeRoomForPending(config.clock())) return
  families().pending.set(family, endsAt(session, config.session))
}

/** Records that a response has set a cookie with a token of the family. It is not known with which, so that all count. */
export function markSent(family: TokenFamily): void {
  for (const one of family.tokens) one.cookie = 'possible'
}

/**
 * Records that a response has set the cookie of the latest session. Requests that the browser has sent with the token before may
 * arrive for `JOIN_SECONDS` from now on.
 */
export function markPersisted(family: TokenFamily, now: number): void {
  const latest = family.tokens.at(-1)
  for (const one of family.tokens) {
    if (one === latest) one.cookie = 'possible'
    else if (one.cookie === 'possible') {
      one.cookie = 'replaced'
      one.until = now + JOIN_SECONDS
    }
  }
  if (families().pending.delete(family)) touch(family)
}

/** Closes the family of a session that has ended: no token resolves to it any more. */
export function closeFamily(family: TokenFamily): void {
  family.closed = true
  const { byToken, pending } = families()
  pending.delete(family)
  for (const { key } of [{ key: family.firstKey }, ...family.tokens])
    if (byToken.get(key) === family) byToken.delete(key)
}
