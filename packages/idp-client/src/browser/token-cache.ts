import { tokenEpoch } from './page-state.ts'
import { startTimer } from './timer.ts'

/** Response of the access-token route. */
export interface AccessTokenResponse {
  readonly token: string
  /** Expiry in seconds since the epoch, by the server's clock. */
  readonly expires_at: number
  /** Remaining lifetime in seconds at the time of the response; less by now if the token was cached. */
  readonly expires_in: number
  /** Granted scope, if the provider returned it. */
  readonly scope?: string
  /** `Bearer` or `DPoP`. */
  readonly token_type?: string
  /** The details that the provider granted (RFC 9396). */
  readonly authorization_details?: readonly { readonly type: string; readonly [property: string]: unknown }[]
}

/** A token request and the lifetime of its result, in milliseconds. */
interface CachedRequest {
  readonly epoch: number
  readonly age: () => number
  /** From the request on. Infinite while it is pending, so that every caller joins it. */
  lifetime: number
  readonly result: Promise<AccessTokenResponse>
}

/** A token is replaced this many milliseconds before it expires, so that it is still valid when it reaches an API. */
const BUFFER = 10_000

/**
 * A token of at most this age, in milliseconds, is kept although the user was away and may have signed in as another
 * user.
 */
const TRUSTED_AGE = 5_000

const cache = new Map<string, CachedRequest>()

/** Expires tokens when the user leaves the page or comes back: in another window the session may have changed. */
export function expireTokens(event: Event): void {
  const limit = (event as Partial<PageTransitionEvent>).persisted ? 0 : TRUSTED_AGE
  for (const one of cache.values()) if (one.age() >= limit) one.lifetime = 0
}

/**
 * Returns one token per URL, requested once for all concurrent callers. They share a failure, which is not cached. The
 * remaining lifetime comes from the server, because this machine's clock may be wrong.
 */
export function obtain(
  url: string,
  request: (url: string) => Promise<AccessTokenResponse>,
): Promise<AccessTokenResponse> {
  const epoch = tokenEpoch
  for (const [other, one] of cache) if (one.age() >= one.lifetime || one.epoch !== epoch) cache.delete(other)
  const found = cache.get(url)
  if (found) return found.result
  const entry: CachedRequest = {
    epoch,
    age: startTimer(),
    lifetime: Number.POSITIVE_INFINITY,
    result: request(url).then(
      (response) => {
        // The user may have changed since this request: its token may be another user's.
        if (epoch !== tokenEpoch) return obtain(url, request)
        // Concurrent callers still get the token; if the user was away meanwhile, it is not cached.
        if (entry.lifetime > 0) entry.lifetime = response.expires_in * 1000 - BUFFER
        return response
      },
      (error: unknown) => {
        entry.lifetime = 0
        throw error
      },
    ),
  }
  cache.set(url, entry)
  return entry.result
}
