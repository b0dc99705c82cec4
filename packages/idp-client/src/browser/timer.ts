// biome-ignore lint/nursery/noJsRestrictedProperties: no other clock of a browser counts sleep.
const readClocks = () => [performance.now(), Date.now()] as const

/**
 * Returns a function that returns the milliseconds since now. `performance.now()` stops while the computer or the phone sleeps, except on
 * Windows; the other clock may be set back.
 */
export function startTimer(): () => number {
  const [start, wallStart] = readClocks()
  return () => {
    const [now, wall] = readClocks()
    return Math.max(now - start, wall - wallStart)
  }
}
