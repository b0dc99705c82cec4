import type { Exchange, RequestHeaders } from '../http/exchange.ts'
import { isNavigation, isPrefetch } from '../http/request-kind.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { chain } from '../lib/chain.ts'
import { Lru } from '../lib/lru.ts'
import { processWide } from '../lib/registry.ts'
import { tokenKey } from './token-family.ts'

/** Maximum number of rejected tokens that are remembered. */
const MAX_TOKENS = 20_000

/** Seconds for which a session whose refresh token was rejected is not written. */
const QUIET_SECONDS = 60

/**
 * Refresh tokens in cookies that the provider rejected with `invalid_grant`, with the time. Another process may have
 * redeemed the token first, and its response may still be pending: a cookie of this process would replace its cookie. So
 * the token is remembered instead of removed.
 */
const deadTokens = (): Lru<string, number> =>
  processWide('mark:dead-refresh-tokens/1', () => new Lru(MAX_TOKENS))

export interface DeadTokenParts {
  readonly clientTag: () => MaybePromise<string>
}

export async function markDead(
  { clientTag }: DeadTokenParts,
  refreshToken: string,
  now: number,
): Promise<void> {
  deadTokens().set(await tokenKey(await clientTag(), refreshToken), now)
}

/**
 * Returns when the provider rejected the refresh token of a session, in seconds since the epoch; `undefined` if it did not.
 */
export function deadSince(
  { clientTag }: DeadTokenParts,
  session: { readonly tokenSet: { readonly refreshToken?: string } },
): MaybePromise<number | undefined> {
  const dead = deadTokens()
  // Usually empty: then the tokens of the session are not decoded.
  if (dead.size === 0) return undefined
  const { refreshToken } = session.tokenSet
  if (refreshToken === undefined) return undefined
  return chain(clientTag(), (tag) => chain(tokenKey(tag, refreshToken), (key) => dead.get(key)))
}

/** Returns whether a page of this application, or the user, caused the request. */
function isOwn(headers: RequestHeaders): boolean {
  const site = headers.get('sec-fetch-site')
  return site === null || site === 'same-origin' || site === 'none' || isNavigation(headers)
}

/**
 * Returns whether a session may be written without its rejected refresh token: after this time the browser would have sent a
 * newer one.
 */
export function mayRemove({ canWrite, request: { headers } }: Exchange, since: number, now: number): boolean {
  return canWrite() && now >= since + QUIET_SECONDS && !isPrefetch(headers) && isOwn(headers)
}
