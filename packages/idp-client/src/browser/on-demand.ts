import { browserError } from './request-error.ts'

/**
 * Loads the code that calls routes, which is larger than everything that loads at once. A failed load is not cached:
 * the next call tries again, as far as the application's module loader permits.
 */
export const requests = (): Promise<typeof import('./requests.ts')> =>
  import('./requests.ts').catch((cause: unknown) => {
    throw browserError('REQUEST_FAILED', 'The code of idp-client cannot be loaded.', { cause })
  })
