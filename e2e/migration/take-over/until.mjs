const DAY = 86_400_000

/** The end of the take-over: in a month. */
export const until = new Date(Date.now() + 30 * DAY).toISOString().slice(0, 10)
