import { IdpError } from '../../errors/base.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import { chain } from '../../lib/chain.ts'
import type { CookieSessionStorage } from '../../session/cookie/in-cookie.ts'
import { withFewerTokens } from '../../session/model/further-tokens.ts'
import { isAlive, mergedUse } from '../../session/model/lifetime.ts'
import { withDifference } from '../../session/model/session.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import { asStored, copySession } from '../../session/model/stored-session.ts'
import { inTurn, sessionSlot } from '../../session/session-slot.ts'
import type { SaveOptions, SessionStorage } from '../../session/storage.ts'
import type { RedemptionParts } from './coordinator.ts'
import { endInProcess, hasEnded } from './ended.ts'
import type { FamilyParts, TokenFamily } from './families.ts'
import { findFamily, hasFamilies, keepUntilSent, markPersisted, markSent, tokenKey } from './families.ts'

/** Maximum number of sessions in cookies that a family knows. */
const MAX_IN_COOKIES = 2

async function getFamily(parts: FamilyParts, session: StoredSession): Promise<TokenFamily | undefined> {
  if (!hasFamilies()) return undefined
  const { refreshToken } = session.data.tokenSet
  return refreshToken
    ? findFamily(await tokenKey(parts, refreshToken), session, parts.config.clock())
    : undefined
}

const hasSameRefreshToken = (one: StoredSession, other: StoredSession): boolean =>
  one.data.tokenSet.refreshToken === other.data.tokenSet.refreshToken

/** Records that the browser has this session, or gets it with a response. */
function recordCookie(family: TokenFamily, session: StoredSession): void {
  const others = family.inCookies.filter((one) => !hasSameRefreshToken(one, session))
  family.inCookies = [...others, copySession(session)].slice(-MAX_IN_COOKIES)
}

/**
 * Applies to the latest session what the cookie of a request has that another process, or this one before it knew of the refresh, has
 * saved since the refresh read the session. Times of use say which of two sessions with the same token was saved later.
 */
export function adopt(family: TokenFamily, given: StoredSession): void {
  const found = [...family.inCookies, family.latest].find((one) => hasSameRefreshToken(one, given))
  // With `older` it is of the family itself.
  if (given.older || !found || given.usedAt <= found.usedAt) return
  const session = asStored(given)
  recordCookie(family, session)
  family.latest = copySession(withDifference(family.latest, { found, session }))
}

/** Returns the refreshed session of this process, if the request has older tokens; null if the refresh set an end that is past. */
async function withRefresh(parts: FamilyParts, session: StoredSession): Promise<StoredSession | null> {
  const { clock, session: rules } = parts.config
  const family = await getFamily(parts, session)
  if (!family) return session
  adopt(family, session)
  if (hasSameTokens(session, family.latest) || isOfSameSecond(session, family)) return session
  const refreshed: StoredSession = { ...copySession(family.latest), needsWrite: true, older: session.data }
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

  async function save(
    exchange: Exchange,
    session: StoredSession,
    options: SaveOptions = {},
  ): Promise<boolean> {
    const { found } = options
    const loaded = await load(exchange)
    const own = found ? withSaved(loaded, session, found) : asStored(session)
    // Its cookie would replace a logout, or the session of a later login.
    if (!own || hasEnded(own)) return false
    const known = await getFamily(parts, session)
    if (known && loaded) adopt(known, loaded)
    const latest = known?.latest
    // Since `load`, another request may have refreshed the session, or saved a change of it.
    const isConsumed = latest && !hasSameRefreshToken(own, latest)
    // The application may save consumed tokens, which it has read in an earlier request: then they count as unchanged.
    const { tokenSet } = session.data
    const base = found && isConsumed ? { ...found, data: { ...found.data, tokenSet } } : found
    const given = (latest && base && withSaved(latest, session, base)) ?? own
    const usedAt = mergedUse(given.usedAt, latest?.usedAt ?? given.usedAt, config.clock())
    const updated = { ...given, usedAt }
    await endSessions(await storage.save(exchange, updated, options))
    // A refresh may have started meanwhile.
    const family = known ?? (loaded && (await getFamily(parts, loaded)))
    if (!family || !loaded) return true
    // Without the tokens that did not fit, so that the cookie does not count as older.
    const saved = (await storage.load(exchange)) ?? updated
    // A refresh, whose newer tokens remain pending, or an update of another request may complete during the save.
    if (!known) adopt(family, loaded)
    const after = withDifference(family.latest, { found: latest ?? loaded, session: saved })
    family.latest = copySession({ ...family.latest, ...after })
    recordCookie(family, saved)
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

/** Returns whether another process may have saved other tokens in the same second, without another refresh token. */
function isOfSameSecond(session: StoredSession, { inCookies, latest }: TokenFamily): boolean {
  const known = hasSameRefreshToken(session, latest)
    ? inCookies.find((one) => hasSameRefreshToken(one, session))
    : undefined
  return known?.usedAt === session.usedAt && !hasSameTokens(known, session)
}

/** Compares values, because an update also writes unchanged tokens. */
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
  session: StoredSession,
): Promise<void> {
  // The session ended while its token was redeemed: saving it would undo a logout or another login.
  if (family.closed || hasEnded(session)) return
  // Until a response has carried its cookie, only this process has the new tokens.
  keepUntilSent(config, family, session)
  try {
    if (exchange.canWrite()) await sessions.save(exchange, session, { found: session })
    // Until a response can set a cookie, further tokens only take memory.
    else family.latest = withFewerTokens(family.latest, config)
  } catch (error) {
    // The rotated token stays in this process, and the call still returns its access token.
    const { asIdpError, reportOutcome } = await import('../../log/failure.ts')
    reportOutcome(config.log, asIdpError(error), { level: 'error', code: 'REQUEST_FAILED' })
  }
}
