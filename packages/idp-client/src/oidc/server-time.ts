import type { Config } from '../config/config.ts'

/** Now by the provider's clock, in seconds: what goes into assertions and proofs, and what its times are compared with. */
export function serverTime({ clock, dpop }: Pick<Config, 'clock' | 'dpop'>): number {
  return clock() + dpop.clockSkew
}
