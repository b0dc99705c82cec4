/** Seconds since the Unix epoch, whole. The only unit of time that sessions, tokens and transactions use. */
export type Clock = () => number

export const systemClock: Clock = () => Math.floor(Date.now() / 1000)
