import type { Config } from '../config/config.ts'

/**
 * Returns the current time by the provider's clock, in seconds; for assertions and proofs, and to compare the
 * provider's times with.
 */
export function serverTime({ clock, dpop }: Pick<Config, 'clock' | 'dpop'>): number {
  return clock() + dpop.clockSkew
}
