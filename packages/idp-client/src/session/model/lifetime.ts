/** Seconds throughout; the end has no tolerance, since both sides of the comparison are our own clock. */
export interface LifetimeRules {
  readonly rolling: boolean
  readonly absoluteDuration: number
  readonly inactivityDuration: number
}

export interface SessionTimes {
  readonly createdAt: number
  /** When use was last recorded. */
  readonly usedAt: number
}

/** The absolute limit is anchored at the login; inactivity counts only where use is recorded, that is with `rolling`. */
export function endsAt(times: SessionTimes, rules: LifetimeRules): number {
  const absolute = times.createdAt + rules.absoluteDuration
  return rules.rolling ? Math.min(times.usedAt + rules.inactivityDuration, absolute) : absolute
}

/**
 * Seconds by which clocks may differ, or one may be set back. A session that began later than that is rejected, because it
 * would not end.
 */
const CLOCKS_APART = 3600

export function isAlive(times: SessionTimes, rules: LifetimeRules, now: number): boolean {
  return times.createdAt <= now + CLOCKS_APART && now < endsAt(times, rules)
}

/** Seconds that a cookie written now may live; never negative, also after the clock was set back or forth. */
export function remaining(times: SessionTimes, rules: LifetimeRules, now: number): number {
  return Math.max(0, Math.min(endsAt(times, rules) - now, rules.absoluteDuration))
}

const ROLLING_SHARE = 0.1
const ROLLING_SECONDS = 300

/** Whether the time of use is written: once per 10 % of the inactivity window, at most every five minutes. */
export function isRollingDue(times: SessionTimes, rules: LifetimeRules, now: number): boolean {
  if (!rules.rolling) return false
  return now - times.usedAt >= Math.min(rules.inactivityDuration * ROLLING_SHARE, ROLLING_SECONDS)
}
