import type { CookieJar } from '../http/cookie-jar.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Clock } from '../lib/clock.ts'
import type { SessionData } from '../session/session-data.ts'
import type { SessionStorage } from '../session/storage.ts'
import type { StoredSession } from '../session/stored-session.ts'
import type { Line } from './lineage.ts'
import { closeLine, findLine, hasLines, markWritten, tokenKey } from './lineage.ts'

export interface HandOverParts {
  readonly clock: Clock
  readonly client: () => Promise<string>
}

/**
 * A session storage that knows what this process refreshed lately: a request that still carries the session from
 * before gets the one after, and everything that is saved becomes what later requests are led to.
 */
export function handedOver(storage: SessionStorage, { client, clock }: HandOverParts): SessionStorage {
  async function lineOf(session: StoredSession): Promise<Line | undefined> {
    const { refreshToken } = session.data.tokenSet
    if (!hasLines() || !refreshToken) return undefined
    return findLine(await tokenKey(await client(), refreshToken), session, clock())
  }

  /** By value: an update writes the tokens that it did not change. */
  function isBehind({ data }: StoredSession, { latest }: Line): boolean {
    const tokens = ({ accessTokens, connectionTokenSets, tokenSet }: SessionData): string =>
      JSON.stringify([tokenSet.refreshToken, tokenSet.accessToken, accessTokens, connectionTokenSets])
    return tokens(data) !== tokens(latest.data)
  }

  const seen = new WeakMap<CookieJar, StoredSession | null>()

  async function load(exchange: Exchange): Promise<StoredSession | null> {
    const session = await storage.load(exchange)
    const line = session && (await lineOf(session))
    const found: StoredSession | null =
      session && line && isBehind(session, line)
        ? { ...line.latest, usedAt: Math.max(session.usedAt, line.latest.usedAt), behind: true }
        : session
    if (!seen.has(exchange.cookies)) seen.set(exchange.cookies, found)
    return found
  }

  return {
    ...storage,
    load,

    async original(exchange) {
      const found = await load(exchange)
      return seen.get(exchange.cookies) ?? found
    },

    async save(exchange, session, options) {
      const { behind: _written, ...kept } = session
      await storage.save(exchange, kept, options)
      const line = await lineOf(kept)
      if (!line) return
      line.latest = kept
      if (exchange.canWrite()) markWritten(line)
    },

    async destroy(exchange) {
      const session = await storage.load(exchange)
      const line = session && (await lineOf(session))
      await storage.destroy(exchange)
      if (line) closeLine(line)
    },
  }
}
