import { defined } from '../../lib/own-properties.ts'
import { toKey } from '../../lib/registry.ts'
import { toTokenSet } from '../../session/model/session.ts'
import type { TokenSet } from '../../session/model/session-data.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import type { Refreshed } from '../apply.ts'
import type { Progress, Purpose, RefreshParts } from './coordinator.ts'
import { redeemForCaller } from './coordinator.ts'

/* Refresh tokens that belong to no session: the application keeps them. */

/** A refresh token, and the token that it is redeemed for. */
export interface TokenRefresh {
  readonly refreshToken: string
  readonly scope?: string
  readonly audience?: string
}

/** Sends the refresh request. Passed in by the flow. */
type SendRefresh = (
  request: TokenRefresh & Partial<Pick<Progress, 'onOverdue' | 'onRequest' | 'onResponse'>>,
) => Promise<Refreshed>

/** The tokens in the form of a session, which is what the families of this process hold. Nothing else reads it. */
function toHolder(tokenSet: TokenSet): StoredSession {
  const data = { user: { sub: '' }, tokenSet, internal: { createdAt: 0 } }
  return { data, sessionKey: 'no-session', usedAt: 0 }
}

/**
 * Returns the tokens for a refresh token of the application. Concurrent calls for the same token share one request, a call for
 * another audience or scope redeems its successor, and for a minute the used token gets the result, so that no call loses a
 * rotated token. Keys differ from those of sessions, which never get these tokens.
 */
export async function redeemWithoutSession(
  { clientTag, config, sessions }: RefreshParts,
  request: TokenRefresh,
  send: SendRefresh,
): Promise<TokenSet> {
  const { audience, refreshToken, scope } = request
  const isSame = (tokenSet: TokenSet): boolean =>
    tokenSet.audience === audience && tokenSet.requestedScope === scope
  const purpose: Purpose = {
    session: toHolder({ accessToken: '', expiresAt: 0, refreshToken }),
    refreshToken,
    key: toKey(audience, scope),
    isSatisfiedBy({ data: { tokenSet } }) {
      const isNewer = tokenSet.refreshToken !== refreshToken && tokenSet.expiresAt > config.clock()
      return isNewer && isSame(tokenSet)
    },
    async redeem(_latest, latestToken, { onOverdue, onRequest, onResponse }) {
      const late = config.processLasts ? { onOverdue } : {}
      const grant = await send({ ...request, refreshToken: latestToken, onRequest, onResponse, ...late })
      const tokenSet = toTokenSet(grant, defined({ audience, scope }))
      return { session: toHolder({ refreshToken: latestToken, ...tokenSet }) }
    },
  }
  const parts = { config, sessions, clientTag: async () => `no-session ${await clientTag()}` }
  const { data } = await redeemForCaller(parts, purpose)
  return data.tokenSet
}
