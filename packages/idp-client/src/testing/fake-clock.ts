import type { Clock } from '../lib/clock.ts'

/** A clock that only moves on request; pass it as `[customClock]`. */
export interface FakeClock extends Clock {
  /** Moves the clock by integer seconds; negative values turn it back. */
  advance(seconds: number): void
  /** Sets the clock to seconds since the epoch. */
  set(seconds: number): void
}

/**
 * Creates a clock that starts at `start` seconds since the epoch, by default 2025-01-01T00:00:00Z, so that tests are
 * reproducible.
 */
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
