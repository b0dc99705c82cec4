import { IdpError } from '../../errors/base.ts'
import { defined } from '../../lib/objects.ts'
import { toKey } from '../../lib/registry.ts'
import { outsideRequest, requestScope } from '../../lib/request-scope.ts'
import { toTokenSet } from '../../session/model/session.ts'
import type { TokenSet } from '../../session/model/session-data.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import { copySession } from '../../session/model/stored-session.ts'
import type { Purpose } from './coordinator.ts'
import { joinOrStart } from './coordinator.ts'
import type { FamilyParts, TokenFamily } from './families.ts'
import { findFamily, isKnownToken, NO_SESSION, openFamily, tokenKey } from './families.ts'
import type { SendRefresh } from './redeem.ts'

/* Refresh tokens that belong to no session: the application keeps them. */

function belongsToSession(): IdpError {
  const detail =
    'refreshToken is that of a session, which would not receive its successor: call getAccessToken, with refresh: true for a new token.'
  return new IdpError('INVALID_ARGUMENTS', { detail })
}

/** A refresh token, and the token that it is redeemed for. */
export interface TokenRefresh {
  readonly refreshToken: string
  readonly scope?: string
  readonly audience?: string
  /** Thumbprint of the key that the tokens are bound to, or `certificate`: calls with another binding do not share them. */
  readonly binding?: string
}

/** Returns the tokens in the form of a session, since families hold sessions. Its user is the key of the purpose. */
function toHolder(tokenSet: TokenSet, key: string): StoredSession {
  const data = { user: { sub: key }, tokenSet, internal: { createdAt: 0 } }
  return { data, sessionKey: NO_SESSION, usedAt: 0 }
}

/**
 * Returns the family of a refresh token of the application. Throws `INVALID_ARGUMENTS` if the token is, or has become, that of a
 * session: its next refresh would send a consumed token.
 */
function ownFamily([key, keyOfSession]: [string, string], holder: StoredSession, now: number): TokenFamily {
  const family = findFamily(key, holder, now)
  if (family?.closed || isKnownToken(keyOfSession)) throw belongsToSession()
  return family ?? openFamily(key, holder)
}

/**
 * Returns the tokens for a refresh token of the application. Concurrent calls for the same token share one request, a call for
 * another audience, scope or binding redeems its successor, and for a minute the consumed token gets the result, so that no call loses
 * a rotated token. Keys differ from those of sessions; one whose token was redeemed here takes over the successor (`withSuccessor`).
 */
export async function redeemWithoutSession(
  parts: FamilyParts,
  { binding, ...request }: TokenRefresh,
  send: SendRefresh,
): Promise<TokenSet> {
  const { config } = parts
  const { audience, refreshToken, scope } = request
  const key = toKey(audience, scope, binding)
  const holder = toHolder({ accessToken: '', expiresAt: 0, refreshToken }, key)
  // Awaited before the family is found: it is removed if its only redemption fails meanwhile.
  const keys = await Promise.all([tokenKey(parts, refreshToken, NO_SESSION), tokenKey(parts, refreshToken)])
  const family = ownFamily(keys, holder, config.clock())
  const purpose: Purpose = {
    session: holder,
    refreshToken,
    key,
    isSatisfiedBy({ data: { tokenSet, user } }) {
      const isNewer = tokenSet.refreshToken !== refreshToken && tokenSet.expiresAt > config.clock()
      return isNewer && user.sub === key
    },
    async redeem(_latest, latestToken, progress) {
      // A session may have taken over while this call waited for another one.
      if (family.closed) throw belongsToSession()
      const grant = await send({ ...request, ...progress, refreshToken: latestToken })
      const tokenSet = toTokenSet(grant, defined({ audience, scope }))
      return { session: toHolder({ refreshToken: latestToken, ...tokenSet }, key) }
    },
  }
  const job = { parts, purpose, store: undefined, requestScope: requestScope() }
  const { session } = await outsideRequest(() => joinOrStart(family, job))
  return copySession(session).data.tokenSet
}
