import type { Clock } from '../lib/clock.ts'

/** A clock that stands still until it is moved; pass it as `[customClock]`. */
export interface FakeClock extends Clock {
  /** Moves on by whole seconds; negative ones turn it back. */
  advance(seconds: number): void
  /** Seconds since the epoch. */
  set(seconds: number): void
}

/** Starts at `start` seconds since the epoch, by default 2025-01-01T00:00:00Z, so that tests show the same numbers every day. */
export function fakeClock(start = 1_735_689_600): FakeClock {
  let now = start
  const clock: Clock = () => now
  return Object.assign(clock, {
    advance(seconds: number): void {
      now += seconds
    },
    set(seconds: number): void {
      now = seconds
    },
  })
}
