import { isIdpError } from '../../errors/base.ts'
import { AccessTokenError } from '../../errors/tokens.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import type { ClientParts } from '../../session/storage.ts'
import { withoutRefreshToken } from '../apply.ts'
import { orMfaRequired } from '../mfa-demand.ts'
import type { Entry } from '../select.ts'
import type { TokenRequest } from '../token-request.ts'
import { deadSince, mayRemoveDead } from './ended.ts'
import { makeRoomForPending } from './families.ts'
import type { Selection } from './process-tokens.ts'
import { selectToken } from './process-tokens.ts'
import type { GrantParts } from './redeem.ts'
import type { RedemptionResult } from './state.ts'

export interface FreshTokenParts extends GrantParts, ClientParts {}

/** The token that a call needs, and the session of its request. */
interface Wanted extends Selection {
  readonly session: StoredSession
  readonly want: TokenRequest
}

/**
 * Returns a valid access token for a token request, refreshed if necessary. A forced refresh never returns the token that it
 * was to replace. Throws `AccessTokenError`: `MISSING_SESSION` if the session has ended meanwhile, `SESSION_EXPIRED` if the
 * provider has ended it, `MISSING_REFRESH_TOKEN`, `FAILED_TO_REFRESH_TOKEN` (`cause`: error of the provider or the network),
 * `REFRESH_NOT_PERSISTABLE`; `SESSION_STORE_FAILED`; `MfaRequiredError` if the provider requires another factor.
 */
export function getFreshToken(
  parts: FreshTokenParts,
  exchange: Exchange,
  session: StoredSession,
  want: TokenRequest,
): MaybePromise<Entry> {
  const selection = selectToken(parts.config, session, want, parts.config.tokenRefreshBuffer)
  return selection.usable ?? refreshedToken(parts, exchange, { session, want, ...selection })
}

/** Returns the refreshed token. */
async function refreshedToken(parts: FreshTokenParts, exchange: Exchange, wanted: Wanted): Promise<Entry> {
  const { fallback, session, stored: old, want } = wanted
  const checked = await checkRedeemable(parts, exchange, session)
  if ('obstacle' in checked) {
    if (fallback) return fallback
    throw new AccessTokenError(checked.obstacle)
  }
  // Loaded at the first refresh.
  const [{ failedWith, redeemOnce, reportFailed }, { toPurpose }] = await Promise.all([
    import('./coordinator.ts'),
    import('./redeem.ts'),
  ])
  try {
    const purpose = toPurpose(parts, session, checked.refreshToken, { want, old })
    const result = await redeemOnce(parts, exchange, purpose)
    const entry = tokenAfter(parts, want, old, result)
    if (entry) return entry
    // Another process has removed the refresh token, because the provider rejected it.
    if (result.failure === undefined && result.session.data.tokenSet.refreshToken === undefined)
      throw new AccessTokenError('MISSING_REFRESH_TOKEN')
    // Without a failure, a token that another request or process has stored has expired since.
    throw failedWith(result.failure)
  } catch (error) {
    // The session ended while its token was redeemed.
    if (isIdpError(error, 'MISSING_SESSION')) throw new AccessTokenError('MISSING_SESSION')
    if (isIdpError(error, 'SESSION_EXPIRED')) throw new AccessTokenError('SESSION_EXPIRED')
    if (fallback) {
      reportFailed(parts.config, error)
      return fallback
    }
    if (error instanceof AccessTokenError) throw error
    if (isIdpError(error, 'SESSION_STORE_FAILED')) throw error
    throw await orMfaRequired(parts, failedWith(error), { wanted: want, session })
  }
}

type Redeemable =
  | { readonly refreshToken: string }
  | { readonly obstacle: 'MISSING_REFRESH_TOKEN' | 'REFRESH_NOT_PERSISTABLE' }

/**
 * Returns the refresh token, or why it is not redeemed, without a request to the provider. Removes a rejected refresh
 * token from the session, where `mayRemoveDead` allows it.
 */
async function checkRedeemable(
  parts: FreshTokenParts,
  exchange: Exchange,
  session: StoredSession,
): Promise<Redeemable> {
  const { config, sessions } = parts
  const { refreshToken } = session.data.tokenSet
  const since = await deadSince(parts, session.data)
  if (since !== undefined && mayRemoveDead(exchange, since, config.clock()))
    await sessions.save(exchange, { ...session, data: withoutRefreshToken(session.data) }, { found: session })
  if (since !== undefined || refreshToken === undefined) return { obstacle: 'MISSING_REFRESH_TOKEN' }
  if (sessions.distributed || exchange.canWrite()) return { refreshToken }
  const canKeep = config.processLasts && makeRoomForPending(config.clock())
  return canKeep ? { refreshToken } : { obstacle: 'REFRESH_NOT_PERSISTABLE' }
}

/**
 * Returns the token after a redemption, which another request may have started; `undefined` if that has brought none. With
 * `force` never the `old` one.
 */
function tokenAfter(
  { config }: FreshTokenParts,
  want: TokenRequest,
  old: Entry | undefined,
  { entry, failure, session }: RedemptionResult,
): Entry | undefined {
  const { usable } = selectToken(config, session, { ...want, force: false }, 0)
  // The session's own has the audience, too, and the granted details, which the response of a refresh may leave out.
  if (entry) return usable ?? entry
  if (failure !== undefined) return undefined
  return want.force && usable?.accessToken === old?.accessToken ? undefined : usable
}
