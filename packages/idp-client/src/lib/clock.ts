/** Seconds since the Unix epoch, whole. The only unit of time that sessions, tokens and transactions use. */
export type Clock = () => number

// biome-ignore lint/nursery/noJsRestrictedProperties: the one place that reads the system clock.
export const systemClock: Clock = () => Math.floor(Date.now() / 1000)
