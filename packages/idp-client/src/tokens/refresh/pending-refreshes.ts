import { IdpError } from '../../errors/base.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import { chain } from '../../lib/chain.ts'
import { defined } from '../../lib/objects.ts'
import type { CookieSessionStorage } from '../../session/cookie/in-cookie.ts'
import { withFewerTokens } from '../../session/model/further-tokens.ts'
import { isAlive, mergedUse } from '../../session/model/lifetime.ts'
import type { SessionDifference } from '../../session/model/session.ts'
import { withDifference } from '../../session/model/session.ts'
import type { SessionData } from '../../session/model/session-data.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import { asStored, copySession } from '../../session/model/stored-session.ts'
import { inTurn, sessionSlot } from '../../session/session-slot.ts'
import type { SaveOptions, SessionStorage } from '../../session/storage.ts'
import type { RedemptionParts } from './coordinator.ts'
import { endInProcess, hasEnded } from './ended.ts'
import type { FamilyParts, TokenFamily } from './families.ts'
import { findFamily, hasFamilies, keepUntilSent, markPersisted, markSent, tokenKey } from './families.ts'

async function getFamily(parts: FamilyParts, session: StoredSession): Promise<TokenFamily | undefined> {
  if (!hasFamilies()) return undefined
  const { refreshToken } = session.data.tokenSet
  return refreshToken
    ? findFamily(await tokenKey(parts, refreshToken), session, parts.config.clock())
    : undefined
}

/** Returns the refreshed session of this process, if the request has older tokens; null if the refresh set an end that is past. */
async function withRefresh(parts: FamilyParts, session: StoredSession): Promise<StoredSession | null> {
  const { clock, session: rules } = parts.config
  const family = await getFamily(parts, session)
  if (!family || !hasOlderTokens(session, family.latest)) return session
  // The refresh was one of an earlier cookie: only its tokens are newer.
  const isUpdated = session.usedAt > family.latest.usedAt
  const latest = isUpdated ? withLatestTokens(session, family.latest) : family.latest
  const refreshed: StoredSession = { ...copySession(latest), needsWrite: true, older: session.data }
  return isAlive(refreshed, rules, clock()) ? refreshed : null
}

/**
 * Returns a storage of sessions in cookies that applies the refreshes of this process: a request whose cookie is from before a
 * refresh loads and saves the session with the new tokens.
 */
export function withPendingRefreshes(storage: CookieSessionStorage, parts: FamilyParts): SessionStorage {
  const { config } = parts

  const load = (exchange: Exchange): MaybePromise<StoredSession | null> =>
    chain(storage.load(exchange), (session) => {
      if (!session) return null
      // Without families nothing is awaited.
      return chain(hasFamilies() ? withRefresh(parts, session) : session, (latest) => {
        const slot = sessionSlot(exchange, config)
        // Updates are compared with the session that the request has read first.
        if (slot.refreshed === undefined)
          slot.refreshed = latest === session ? null : latest && copySession(latest)
        return latest
      })
    })

  async function endSessions(sessions: readonly StoredSession[]): Promise<void> {
    for (const session of sessions) await endInProcess(session, getFamily(parts, session))
  }

  /**
   * Saves a session:
   * 1. applies its change since `found` to the session that the request has by now;
   * 2. if its refresh token belongs to a family, replaces consumed tokens by those of the family, or applies the change to the latest
   *    session of the family, where another request has changed that;
   * 3. sets the cookie, and ends the sessions that it replaces;
   * 4. applies what the cookie has to the family, which may have advanced meanwhile.
   */
  async function save(
    exchange: Exchange,
    session: StoredSession,
    options: SaveOptions = {},
  ): Promise<boolean> {
    const { found } = options
    const loaded = found ? await load(exchange) : null
    const own = found ? withSaved(loaded, session, found) : asStored(session)
    // Its cookie would replace a logout, or the session of a later login.
    if (!own || hasEnded(own)) return false
    const known = await getFamily(parts, own)
    const latest = known?.latest
    // Since `load`, another request may have saved a change of the refreshed session.
    const isOutdated = found && latest && loaded?.older && loaded.usedAt <= latest.usedAt
    const given = (isOutdated && withSaved(latest, session, found)) || own
    const usedAt = mergedUse(given.usedAt, latest?.usedAt ?? given.usedAt, config.clock())
    const updated = { ...withLatestTokens(given, latest, options), usedAt }
    const before = await storage.load(exchange)
    await endSessions(await storage.save(exchange, updated, options))
    // Again, since a refresh may have started meanwhile. A session that has lost its refresh token is found by the previous one.
    const ofUpdated = await getFamily(parts, updated)
    const family = ofUpdated ?? (before ? await getFamily(parts, before) : undefined)
    if (!family) return true
    // Without the tokens that did not fit, so that the cookie does not count as older.
    const saved = (await storage.load(exchange)) ?? updated
    // A refresh, whose newer tokens remain pending, or an update of another request may complete during the save.
    family.latest = copySession(
      latest && family === known
        ? { ...family.latest, ...withDifference(family.latest, { found: latest, session: saved }) }
        : withLatestTokens(saved, ofUpdated?.latest, options),
    )
    exchange.cookies.whenFlushed(() => {
      if (hasSameTokens(saved, family.latest)) return markPersisted(family, config.clock())
      markSent(family)
      // If the newer tokens have been sent already, this cookie replaces them in the browser.
      keepUntilSent(config, family, family.latest)
    })
    return true
  }

  return {
    load,

    // Each write is based on the session that the one before it has saved.
    save: (...given) => inTurn(sessionSlot(given[0], config), 'saving', () => save(...given)),

    assertFits: storage.assertFits,

    destroy: async (exchange) => endSessions(await storage.destroy(exchange)),

    sweep: storage.sweep,
  }
}

/** Returns a changed session with what its request has saved since `found` was read; null if that has another session by now. */
function withSaved(
  current: StoredSession | null,
  changed: StoredSession,
  found: StoredSession,
): StoredSession | null {
  if (current?.sessionKey !== found.sessionKey) return null
  const session = asStored(changed)
  return { ...withDifference(asStored(current), { found, session }), usedAt: session.usedAt }
}

/**
 * Replaces the tokens of a session that was loaded before a refresh by the new ones, since the old ones are consumed, and `user` by
 * that of the refresh, unless the application has changed it. Not those of connections: the request may have removed one.
 */
function withLatestTokens(
  session: StoredSession,
  newer: StoredSession | undefined,
  { ownUser = false }: SaveOptions = {},
): StoredSession {
  if (!newer || newer.data.tokenSet.refreshToken === session.data.tokenSet.refreshToken) return session
  const { authentication, fromLink = session.fromLink, ownScope, userInfoClaims } = newer
  const { accessTokens, internal, tokenSet } = newer.data
  const { user } = ownUser ? session.data : newer.data
  const data = defined({ ...session.data, user, tokenSet, accessTokens, internal }) as SessionData
  return defined({ ...session, data, authentication, fromLink, ownScope, userInfoClaims })
}

/** Returns whether the request has older tokens. Compares values, because an update also writes unchanged tokens. */
function hasOlderTokens(mine: StoredSession, latest: StoredSession): boolean {
  const [token, newer] = [mine.data.tokenSet.refreshToken, latest.data.tokenSet.refreshToken]
  // If refresh tokens do not rotate, another process may have refreshed the session since.
  if (token === newer && mine.usedAt >= latest.usedAt) return false
  return !hasSameTokens(mine, latest)
}

function hasSameTokens(one: StoredSession, other: StoredSession): boolean {
  const tokens = ({ data: { accessTokens, connectionTokenSets, tokenSet } }: StoredSession): string =>
    JSON.stringify([tokenSet.refreshToken, tokenSet.accessToken, accessTokens, connectionTokenSets])
  return tokens(one) === tokens(other)
}

/**
 * Ends the session of the request, whose end at the provider has passed, in this process: also deletes its cookies where they can be
 * written. Returns `SESSION_EXPIRED` to throw.
 */
export async function endExpired(
  { config, sessions }: RedemptionParts,
  exchange: Exchange,
  session: StoredSession,
): Promise<IdpError> {
  if (exchange.canWrite()) await sessions.destroy(exchange)
  await endInProcess(session)
  sessionSlot(exchange, config).current = null
  return new IdpError('SESSION_EXPIRED')
}

/** Keeps the tokens of a redemption: in the cookies of this response, and in this process until a response has set them. */
export async function keepAndSave(
  { config, sessions }: RedemptionParts,
  exchange: Exchange,
  family: TokenFamily,
  { found, session }: SessionDifference,
): Promise<void> {
  // The session ended while its token was redeemed: saving it would undo a logout or another login.
  if (family.closed || hasEnded(session)) return
  // Until a response has carried its cookie, only this process has the new tokens.
  keepUntilSent(config, family, session)
  try {
    if (exchange.canWrite()) await sessions.save(exchange, session, { found })
    // Until a response can set a cookie, further tokens only take memory.
    else family.latest = withFewerTokens(family.latest, config)
  } catch (error) {
    // The rotated token stays in this process, and the call still returns its access token.
    const { asIdpError, reportOutcome } = await import('../../log/failure.ts')
    reportOutcome(config.log, asIdpError(error), { level: 'error', code: 'REQUEST_FAILED' })
  }
}
