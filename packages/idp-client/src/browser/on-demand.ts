import { browserError } from './request-error.ts'

/**
 * What asks routes: it takes more than everything that has to be there at once. Nothing is kept of a load that failed:
 * the next call tries again, as far as the loader of the application lets it.
 */
export const requests = (): Promise<typeof import('./requests.ts')> =>
  import('./requests.ts').catch((cause: unknown) => {
    throw browserError('REQUEST_FAILED', 'The code of idp-client cannot be loaded.', { cause })
  })
