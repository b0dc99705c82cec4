import type { Config } from '../config/config.ts'
import { hashToken } from '../crypto/random.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { monotonic } from '../lib/clock.ts'
import { Lru } from '../lib/lru.ts'
import { processWide } from '../lib/registry.ts'
import type { SingleFlight } from '../lib/single-flight.ts'
import { sweeping } from '../lib/sweep.ts'
import { endsAt } from '../session/model/lifetime.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { forgetProcessTokens } from '../session/process-tokens.ts'
import type { Entry } from './select.ts'

/** The result of a redemption. With a `failure` the session may lack its refresh token, because that was rejected. */
export interface Redemption {
  readonly session: StoredSession
  /** The new access token; a session may not contain it. */
  readonly entry?: Entry
  readonly failure?: unknown
}

/**
 * One session and its recent refresh tokens (RFC 9700 section 4.14.2). Requests that carry an older token get the latest
 * session, so that this process never redeems a single-use token twice.
 */
export interface TokenFamily {
  /** The redemptions by purpose; undefined if none is running or waiting. */
  flights: SingleFlight<Redemption> | undefined
  /** How often its latest token was sent without a response yet; at rest those whose requests ended. */
  lost: number
  /** The latest session that is known to this process. */
  latest: StoredSession
  /** Whether `latest` has not reached a browser or store yet: a Server Component refreshed it. */
  pending: boolean
  /** The session has ended: it is neither returned nor written any more. */
  closed: boolean
  /** The key of its first token. */
  readonly key: string
  /** The tokens that resolve to this family. */
  readonly keys: FamilyToken[]
  /** When it was last advanced or written; milliseconds of the monotonic clock. */
  touchedAt: number
}

/* There are thousands of them: a list is a third of a map. */
interface FamilyToken {
  readonly key: string
  /** Seconds since the epoch. */
  until: number
  /** No response carried it, since the session was pending when it was received. */
  isUnsent: boolean
}

interface TokenFamilies {
  readonly byToken: Lru<string, TokenFamily>
  /** Pending families, and when their session ends at the latest. */
  readonly pending: Map<TokenFamily, number>
  /** Schedules the deletion of unused families. */
  readonly forgetLater: () => void
}

/** How long a consumed refresh token still resolves to its successor, in seconds. */
const JOIN_SECONDS = 60
/** After how long an unused family is deleted, in milliseconds. */
const KEPT_MILLISECONDS = JOIN_SECONDS * 1000 * 2
/** Maximum number of refresh tokens that resolve to a family, pending families excepted. */
const MAX_TOKENS = 20_000
/** Maximum number of pending families. */
const MAX_PENDING = 1000

const isRedeeming = ({ flights }: TokenFamily): boolean =>
  flights?.all().some((flight) => !flight.isLost) ?? false

/** Deletes unused families. Returns whether any are left. */
function forgetOld(byToken: Lru<string, TokenFamily>): boolean {
  const end = monotonic() - KEPT_MILLISECONDS
  for (const [key, family] of byToken.entries()) {
    if (family.touchedAt <= end && !family.pending && !isRedeeming(family)) byToken.delete(key)
  }
  return byToken.size > 0
}

const families = (): TokenFamilies =>
  processWide('state:token-families/8', () => {
    const byToken = new Lru<string, TokenFamily>(MAX_TOKENS, ({ pending }) => pending)
    return {
      byToken,
      pending: new Map(),
      forgetLater: sweeping(KEPT_MILLISECONDS, () => forgetOld(byToken)),
    }
  })

/** Returns a hash that identifies a refresh token of one client at one provider. */
export function tokenKey(clientTag: string, refreshToken: string): MaybePromise<string> {
  return hashToken(`${clientTag} ${refreshToken}`, 32)
}

/** Returns the family of a session that this process has recently refreshed. Deletes an expired key. */
export function findFamily(key: string, session: StoredSession, now: number): TokenFamily | undefined {
  const { byToken } = families()
  const family = byToken.get(key)
  if (!family) return undefined
  const until = family.keys.find((one) => one.key === key)?.until
  const over = until !== undefined && until <= now && !family.pending
  if (over) byToken.delete(key)
  // A token that appears in another session does not resolve to this family.
  return over || family.latest.sessionKey !== session.sessionKey ? undefined : family
}

export function openFamily(key: string, session: StoredSession): TokenFamily {
  const family: TokenFamily = {
    latest: session,
    pending: false,
    closed: false,
    key,
    flights: undefined,
    lost: 0,
    keys: [],
    touchedAt: monotonic(),
  }
  families().byToken.set(key, family)
  return family
}

/** Deletes a family without tokens: none of its redemptions succeeded. */
export function dropUnused(family: TokenFamily): void {
  const { byToken } = families()
  if (family.lost === 0 && family.keys.length === 0 && byToken.get(family.key) === family)
    byToken.delete(family.key)
}

/**
 * Advances the family to a new session: its old token `from` resolves to it for a while, its new token `to`, if any,
 * from now on.
 */
export function advance(
  family: TokenFamily,
  latest: StoredSession,
  keys: { from: string; to?: string },
  now: number,
): void {
  if (family.closed) return
  const { byToken } = families()
  forgetSuperseded(family, now)
  family.latest = latest
  family.lost = 0
  for (const key of new Set([keys.from, keys.to ?? keys.from])) {
    addToken(family, key, now + JOIN_SECONDS)
    byToken.set(key, family)
  }
  touch(family)
}

function addToken(family: TokenFamily, key: string, until: number): void {
  const known = family.keys.find((one) => one.key === key)
  if (known) known.until = until
  else family.keys.push({ key, until, isUnsent: family.pending })
}

/** Deletes expired tokens. While the session is pending, keeps those that the browser may still have. */
function forgetSuperseded(family: TokenFamily, now: number): void {
  const { byToken } = families()
  const kept = family.keys.filter(({ isUnsent, until }) => until > now || (family.pending && !isUnsent))
  for (const one of family.keys) {
    if (!kept.includes(one) && byToken.get(one.key) === family) byToken.delete(one.key)
  }
  family.keys.splice(0, family.keys.length, ...kept)
}

/** Records that the latest token is sent. It counts as lost until `settleSend`; unused families are forgotten later. */
export function recordSend(family: TokenFamily): void {
  family.lost += 1
  touch(family)
}

export function settleSend(family: TokenFamily): void {
  if (family.lost > 0) family.lost -= 1
}

function touch(family: TokenFamily): void {
  family.touchedAt = monotonic()
  families().forgetLater()
}

/** Returns whether this process has families, to skip the hash of a refresh token. */
export function hasFamilies(): boolean {
  return families().byToken.size > 0
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
 * Keeps the session until it is written. If too many are pending, keeps it for `JOIN_SECONDS` only, like every refreshed
 * session.
 */
export function markPending(family: TokenFamily, end: number, now: number): void {
  if (!family.pending && !makeRoomForPending(now)) return
  family.pending = true
  families().pending.set(family, end)
}

/** Records that a response has carried a token of the family, not always the newest. */
export function markSent(family: TokenFamily): void {
  for (const one of family.keys) one.isUnsent = false
}

/** Keeps a session in this process until a response can carry it. */
export function deferPersistence(config: Config, family: TokenFamily, { data, usedAt }: StoredSession): void {
  const times = { createdAt: data.internal.createdAt, usedAt }
  markPending(family, endsAt(times, config.session), config.clock())
}

export function markPersisted(family: TokenFamily): void {
  if (family.pending) touch(family)
  family.pending = false
  markSent(family)
  families().pending.delete(family)
}

/** Closes the family of a session that has ended: no token resolves to it any more. */
export function closeFamily(family: TokenFamily): void {
  family.closed = true
  markPersisted(family)
  for (const { key } of [family, ...family.keys]) families().byToken.delete(key)
}

/** Maximum number of sessions that are known to have ended. */
const MAX_ENDED = 20_000

const endedSessions = (): Lru<string, true> => processWide('mark:ended-sessions/1', () => new Lru(MAX_ENDED))

/** Records that a session has ended, by a logout or another login: later requests with its cookie have no session. */
export function markEnded({ sessionKey }: StoredSession): void {
  endedSessions().set(sessionKey, true)
  forgetProcessTokens(sessionKey)
}

export function hasEnded({ sessionKey }: StoredSession): boolean {
  return endedSessions().get(sessionKey) === true
}
