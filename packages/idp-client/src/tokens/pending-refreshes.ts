import type { Config } from '../config/config.ts'
import type { Exchange } from '../http/exchange.ts'
import type { CookieSessionStorage } from '../session/cookie/in-cookie.ts'
import type { SessionData } from '../session/model/session-data.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { copySession } from '../session/model/stored-session.ts'
import { sessionSlot } from '../session/session-slot.ts'
import type { SessionStorage } from '../session/storage.ts'
import type { TokenFamily } from './token-family.ts'
import {
  closeFamily,
  deferPersistence,
  findFamily,
  hasEnded,
  hasFamilies,
  markEnded,
  markPersisted,
  markSent,
  tokenKey,
} from './token-family.ts'

export interface PendingRefreshParts {
  readonly config: Config
  readonly client: () => Promise<string>
}

/**
 * A storage of sessions in cookies that knows what this process refreshed lately: a request that still carries the session from
 * before gets the one after, and everything that is saved becomes what later requests are led to.
 */
export function withPendingRefreshes(
  storage: CookieSessionStorage,
  { client, config }: PendingRefreshParts,
): SessionStorage {
  async function familyOf(session: StoredSession): Promise<TokenFamily | undefined> {
    if (!hasFamilies()) return undefined
    const { refreshToken } = session.data.tokenSet
    return refreshToken
      ? findFamily(await tokenKey(await client(), refreshToken), session, config.clock())
      : undefined
  }

  async function load(exchange: Exchange): Promise<StoredSession | null> {
    const session = await storage.load(exchange)
    if (!session) return null
    const family = await familyOf(session)
    if (!family || !isBehind(session, family.latest)) return session
    const usedAt = Math.max(session.usedAt, family.latest.usedAt)
    const led: StoredSession = { ...copySession(family.latest), usedAt, stale: session.data }
    sessionSlot(exchange, config).refreshed ??= copySession(led)
    return led
  }

  async function end(sessions: readonly StoredSession[]): Promise<void> {
    for (const session of sessions) {
      markEnded(session)
      const family = await familyOf(session)
      if (family) closeFamily(family)
    }
  }

  return {
    load,

    async initial(exchange) {
      await load(exchange)
      return sessionSlot(exchange, config).refreshed ?? storage.initial(exchange)
    },

    async save(exchange, session, options) {
      const { stale: _written, ...given } = session
      // Its cookie would replace a logout, or the session of a later login.
      if (hasEnded(given)) return false
      const kept = ahead(given, await familyOf(given))
      const before = await storage.load(exchange)
      const replaced = before?.sessionKey === kept.sessionKey ? [] : await storage.loadAll(exchange)
      const isKept = await storage.save(exchange, kept, options)
      await end(replaced.filter(({ sessionKey }) => sessionKey !== kept.sessionKey))
      // A session that lost its token leads on under the one that it had.
      const own = await familyOf(kept)
      const family = own ?? (before ? await familyOf(before) : undefined)
      if (!family) return isKept
      // Without what did not fit: who carries the cookie is not behind.
      const saved = (await storage.load(exchange)) ?? kept
      // A refresh may complete during the save or before the flush: its newer tokens are kept, and stay pending.
      family.latest = copySession(ahead(saved, own))
      exchange.cookies.whenFlushed(() => {
        if (hasSameTokens(saved, family.latest)) return markPersisted(family)
        markSent(family)
        // The newer tokens may have been sent before: then the browser has lost them.
        if (!family.closed) deferPersistence(config, family, family.latest)
      })
      return isKept
    },

    ...(storage.assertFits ? { assertFits: storage.assertFits } : {}),

    async destroy(exchange) {
      const sessions = await storage.loadAll(exchange)
      await storage.destroy(exchange)
      await end(sessions)
    },

    sweep: storage.sweep,
  }
}

/** A session that was loaded before a refresh and is saved after it gets the tokens of now: the old ones are spent. */
function ahead(session: StoredSession, family: TokenFamily | undefined): StoredSession {
  const newer = family?.latest.data
  if (!newer || newer.tokenSet.refreshToken === session.data.tokenSet.refreshToken) return session
  const { accessTokens: _older, ...data } = session.data
  const { authentication: _earlier, ownScope: _smaller, ...rest } = session
  const { authentication, ownScope } = family.latest
  const { accessTokens, internal, tokenSet } = newer
  const tokens = { tokenSet, ...(accessTokens ? { accessTokens } : {}) }
  return {
    ...rest,
    data: { ...data, ...tokens, internal } as SessionData,
    ...(authentication ? { authentication } : {}),
    ...(ownScope === undefined ? {} : { ownScope }),
  }
}

/** Whether a request carries less than this process knows. By value, since an update writes what it did not change. */
function isBehind(mine: StoredSession, latest: StoredSession): boolean {
  const [token, newer] = [mine.data.tokenSet.refreshToken, latest.data.tokenSet.refreshToken]
  // With a token that does not rotate, another process may have gone on from here.
  if (token === newer && mine.usedAt >= latest.usedAt) return false
  return !hasSameTokens(mine, latest)
}

function hasSameTokens(one: StoredSession, other: StoredSession): boolean {
  const tokens = ({ data: { accessTokens, connectionTokenSets, tokenSet } }: StoredSession): string =>
    JSON.stringify([tokenSet.refreshToken, tokenSet.accessToken, accessTokens, connectionTokenSets])
  return tokens(one) === tokens(other)
}
