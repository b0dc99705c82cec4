import type { toAdvice as toFullAdvice } from './advice.ts'

/** In place of `advice.ts` in `idp-client/edge`: refers to the guide, since the list of all fixes takes 6 kB. */
export const toAdvice: typeof toFullAdvice = (remedy) => ({
  remedy,
  advice: 'See https://github.com/idp-client/idp-client/blob/main/docs/guides/troubleshooting.md.',
})
