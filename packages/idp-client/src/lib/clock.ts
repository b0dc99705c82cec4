/** Returns integer seconds since the Unix epoch. Times of sessions, tokens and transactions have no other unit. */
export type Clock = () => number

/** Returns milliseconds of a monotonic clock, for durations only. */
export const monotonic = (): number => performance.now()

// biome-ignore lint/nursery/noJsRestrictedProperties: the one place that reads the system clock.
export const systemClock: Clock = () => Math.floor(Date.now() / 1000)
