import type { StoredSession } from './stored-session.ts'

/** Durations in seconds. */
export interface LifetimeRules {
  readonly rolling: boolean
  readonly absoluteDuration: number
  readonly inactivityDuration: number
}

/** A session, of which only the times are read. */
interface SessionTimes extends Pick<StoredSession, 'usedAt'> {
  readonly data: Pick<StoredSession['data'], 'internal'>
}

/** A session that was not read, or not verified: only its key and its times are known. */
export interface KnownSession extends SessionTimes, Pick<StoredSession, 'sessionKey'> {}

/**
 * Returns when a session ends: `absoluteDuration` after the login, earlier if it ends at the provider, or with `rolling` after
 * inactivity.
 */
export function endsAt({ data, usedAt }: SessionTimes, rules: LifetimeRules): number {
  const { createdAt, sessionExpiresAt = Number.POSITIVE_INFINITY } = data.internal
  const absolute = Math.min(createdAt + rules.absoluteDuration, sessionExpiresAt)
  return rules.rolling ? Math.min(usedAt + rules.inactivityDuration, absolute) : absolute
}

/** Returns whether the time has passed at which the session ends at the provider. */
export function hasEndedAtProvider({ data: { internal } }: SessionTimes, now: number): boolean {
  return internal.sessionExpiresAt !== undefined && internal.sessionExpiresAt <= now
}

/**
 * Tolerance for clocks that differ, in seconds. A session with a later start is rejected, because it would last too long.
 */
const CLOCKS_APART = 3600

/** Returns whether a session started in the future: the clock of this server is behind that of another one. */
export function isAhead(start: number, now: number): boolean {
  return start > now + CLOCKS_APART
}

/** Returns the time of use to record now: never earlier than the recorded one, unless that is too far ahead. */
export function laterUse(usedAt: number, now: number): number {
  return isAhead(usedAt, now) ? now : Math.max(usedAt, now)
}

/** Returns the later of two times of use that are recorded for a session, unless the other one is in the future. */
export function mergedUse(usedAt: number, other: number, now: number): number {
  return Math.max(usedAt, Math.min(other, now))
}

export function isAlive(session: SessionTimes, rules: LifetimeRules, now: number): boolean {
  return !isAhead(session.data.internal.createdAt, now) && now < endsAt(session, rules)
}

/** Returns the remaining lifetime in seconds; never negative, also after the clock was changed. */
export function remaining(session: SessionTimes, rules: LifetimeRules, now: number): number {
  return Math.max(0, Math.min(endsAt(session, rules) - now, rules.absoluteDuration))
}

const ROLLING_SHARE = 0.1
const ROLLING_SECONDS = 300

/**
 * Returns whether use is recorded: after 10 % of the inactivity duration, at the latest after five minutes. Also after the clock was
 * set back, if the browser, which measures the lifetime of the cookie itself, could delete it before that.
 */
export function isRollingDue(usedAt: number, rules: LifetimeRules, now: number): boolean {
  if (!rules.rolling) return false
  const { inactivityDuration } = rules
  const pause = Math.min(inactivityDuration * ROLLING_SHARE, ROLLING_SECONDS)
  const unrecorded = now - usedAt
  return unrecorded >= pause || unrecorded < pause - inactivityDuration
}
