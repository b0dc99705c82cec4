/** Another number whenever a token may be that of another user. */
export let tokenEpoch = 0

/** Drops all tokens; what is on its way is asked for again. */
export function forgetTokens(): void {
  tokenEpoch++
}
