import type { Config } from '../../config/config.ts'
import { hashToken } from '../../crypto/random.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import { monotonic } from '../../lib/clock.ts'
import { Lru } from '../../lib/lru.ts'
import { processWide, toKey } from '../../lib/registry.ts'
import { sweeping } from '../../lib/request-scope.ts'
import { endsAt, toTimes } from '../../session/model/lifetime.ts'
import type { AccessTokenSet, SessionData } from '../../session/model/session-data.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import { endStreamsOf } from '../../session/open-streams.ts'
import type { Entry, Selection } from '../select.ts'
import { select, storedEntry } from '../select.ts'
import type { TokenRequest } from '../token-request.ts'
import type { RefreshState } from './state.ts'
import { isInProgress } from './state.ts'

/** One redemption in the queue of a family, and what its callers wait for. */
export interface Turn {
  readonly family: TokenFamily
  /** Calls with the same purpose share it. */
  readonly purpose: string
  /** Only the coordinator moves it. */
  refresh: RefreshState
  /** Settles at the end. */
  ended: Promise<void>
  /** Settles when the response is late, which `wake` reports, or at the end. */
  readonly lateOrEnded: Promise<void>
  readonly wake: () => void
}

/**
 * One session and its recent refresh tokens (RFC 9700 section 4.14.2). Requests that carry an older token get the latest
 * session, so that this process never redeems a single-use token twice.
 */
export interface TokenFamily {
  /** The latest session that is known to this process. */
  latest: StoredSession
  /** The queue: redemptions in progress, and abandoned ones whose token was sent. */
  turns: readonly Turn[]
  /** The session has ended, or one has taken over the tokens of the application: this one is neither returned nor written any more. */
  closed: boolean
  /** The tokens that resolve to this family; while there are none, its first token does. */
  keys: readonly FamilyToken[]
  readonly firstKey: string
  /** When it was last advanced, sent or written; milliseconds of the monotonic clock. */
  touchedAt: number
}

/* There are thousands of them: a list is a third of a map. */
interface FamilyToken {
  readonly key: string
  /** Seconds since the epoch. */
  readonly until: number
  /** Whether no browser can have it, since the session was already pending when this process received it. */
  isUnsent: boolean
}

interface TokenFamilies {
  readonly byToken: Lru<string, TokenFamily>
  /** Families whose latest session has not reached a browser, and when their session ends at the latest. */
  readonly pending: Map<TokenFamily, number>
  /** Schedules the deletion of unused families. */
  readonly forgetLater: () => void
}

/** How long a consumed refresh token still resolves to its successor, in seconds. */
const JOIN_SECONDS = 60
/** After how long an unused family is deleted, in milliseconds. */
const KEPT_MILLISECONDS = JOIN_SECONDS * 1000 * 2
/** Maximum number of refresh tokens that resolve to a family, except pending families and those with redemptions. */
const MAX_TOKENS = 20_000
/** Maximum number of pending families. */
const MAX_PENDING = 1000

const families = (): TokenFamilies =>
  processWide('state:token-families/9', () => {
    const pending = new Map<TokenFamily, number>()
    const isRunning = ({ refresh }: Turn): boolean => isInProgress(refresh) && refresh.deadline > monotonic()
    const isNeeded = (family: TokenFamily): boolean => pending.has(family) || family.turns.some(isRunning)
    const byToken = new Lru<string, TokenFamily>(MAX_TOKENS, isNeeded)
    /** Deletes unused families. Returns whether any are left. */
    const forgetOld = (): boolean => {
      const before = monotonic() - KEPT_MILLISECONDS
      for (const [key, family] of byToken.entries())
        if (family.touchedAt <= before && !isNeeded(family)) byToken.delete(key)
      return byToken.size > 0
    }
    return { byToken, pending, forgetLater: sweeping(KEPT_MILLISECONDS, forgetOld) }
  })

/** Returns whether this process has families, to skip the hash of a refresh token. */
export const hasFamilies = (): boolean => families().byToken.size > 0

export const isPending = (family: TokenFamily): boolean => families().pending.has(family)

/** The `sessionKey` of tokens that belong to no session, because the application keeps them. */
export const NO_SESSION = 'no-session'

/** Returns a hash that identifies a refresh token of one client at one provider, apart from the same one of `NO_SESSION`. */
export async function tokenKey(
  { clientTag }: Pick<ClientParts, 'clientTag'>,
  token: string,
  owner?: typeof NO_SESSION,
): Promise<string> {
  return hashToken(`${owner ?? ''} ${await clientTag()} ${token}`, 32)
}

/** Returns whether a refresh token resolves to a family, or did a short while ago. */
export const hasFamily = (key: string): boolean => families().byToken.get(key) !== undefined

/** Returns the family of a session that this process has recently refreshed. Deletes an expired key. */
export function findFamily(key: string, session: StoredSession, now: number): TokenFamily | undefined {
  const { byToken, forgetLater, pending } = families()
  forgetLater()
  const family = byToken.get(key)
  if (!family) return undefined
  const until = family.keys.find((one) => one.key === key)?.until
  // While its latest token is being redeemed, `advance` has yet to renew the time.
  const { refreshToken } = family.latest.data.tokenSet
  const isRedeemed = family.turns.length > 0 && session.data.tokenSet.refreshToken === refreshToken
  const isOver = until !== undefined && until <= now && !pending.has(family) && !isRedeemed
  if (isOver) byToken.delete(key)
  // A token that appears in another session does not resolve to this family.
  return isOver || family.latest.sessionKey !== session.sessionKey ? undefined : family
}

export function openFamily(firstKey: string, latest: StoredSession): TokenFamily {
  const family = { latest, turns: [], closed: false, keys: [], firstKey, touchedAt: monotonic() }
  families().byToken.set(firstKey, family)
  return family
}

/** Removes a redemption that has ended, and then a family without tokens: none of its redemptions succeeded. */
export function removeTurn(turn: Turn): void {
  const { byToken } = families()
  const { family } = turn
  family.turns = family.turns.filter((other) => other !== turn)
  const isUnused = family.turns.length === 0 && family.keys.length === 0
  if (isUnused && byToken.get(family.firstKey) === family) byToken.delete(family.firstKey)
}

/**
 * Advances the family to a new session: `keys`, of its old token and of its new one, if any, resolve to it for a while.
 * Deletes expired tokens; while the session is pending, keeps those that the browser may still have.
 */
export function advance(
  family: TokenFamily,
  latest: StoredSession,
  keys: readonly string[],
  now: number,
): void {
  if (family.closed) return
  const { byToken } = families()
  const pending = isPending(family)
  const kept = family.keys.filter(({ isUnsent, until }) => until > now || (pending && !isUnsent))
  for (const { key } of family.keys) if (byToken.get(key) === family) byToken.delete(key)
  const others = kept.filter(({ key }) => !keys.includes(key))
  const added = [...new Set(keys)].map((key) => ({
    key,
    until: now + JOIN_SECONDS,
    isUnsent: kept.find((one) => one.key === key)?.isUnsent ?? pending,
  }))
  family.keys = [...others, ...added]
  for (const { key } of family.keys) byToken.set(key, family)
  family.latest = latest
  // Their token is no longer the latest.
  family.turns = family.turns.filter(({ refresh }) => isInProgress(refresh))
  touch(family)
}

/** Keeps an unused family for a while from now on. */
export function touch(family: TokenFamily): void {
  family.touchedAt = monotonic()
  families().forgetLater()
}

/**
 * Closes families whose session has expired if too many are pending. Returns whether one more session may be refreshed in
 * a request that cannot set cookies.
 */
export function makeRoomForPending(now: number): boolean {
  const { pending } = families()
  if (pending.size < MAX_PENDING) return true
  for (const [family, end] of pending) if (end <= now) closeFamily(family)
  return pending.size < MAX_PENDING
}

/**
 * Keeps the latest session in this process until a response has sent it. If too many are pending, keeps it for
 * `JOIN_SECONDS` only, like every refreshed session.
 */
export function keepUntilSent(config: Config, family: TokenFamily, session: StoredSession): void {
  if (!isPending(family) && !makeRoomForPending(config.clock())) return
  families().pending.set(family, endsAt(toTimes(session), config.session))
}

/** Records that a response has set a cookie with a token of the family. It is not known with which, so that all count. */
export function markSent(family: TokenFamily): void {
  for (const one of family.keys) one.isUnsent = false
}

/** Records that a response has set the cookie of the latest session. */
export function markPersisted(family: TokenFamily): void {
  if (families().pending.delete(family)) touch(family)
  markSent(family)
}

/** Closes the family of a session that has ended: no token resolves to it any more. */
export function closeFamily(family: TokenFamily): void {
  family.closed = true
  families().pending.delete(family)
  for (const { key } of [{ key: family.firstKey }, ...family.keys]) families().byToken.delete(key)
}

/** Maximum number of late responses that this process waits for at a time. */
const MAX_LATE = 1000

/** The deadlines of the redemptions whose responses are late. On Workers, one may end without being removed. */
export const lateDeadlines = (): Map<Turn, number> => processWide('queue:late-redemptions/1', () => new Map())

/** Returns whether this process may wait for one more late response. */
export function hasRoomForLate(now: number): boolean {
  const deadlines = lateDeadlines()
  for (const [turn, deadline] of deadlines) if (deadline <= now) deadlines.delete(turn)
  return deadlines.size < MAX_LATE
}

/** Maximum number of sessions that are known to have ended. */
const MAX_ENDED = 20_000

const endedSessions = (): Lru<string, true> => processWide('mark:ended-sessions/1', () => new Lru(MAX_ENDED))

/**
 * Ends a session in this process, because of a logout, another login or its end at the provider: later requests with its cookie
 * have no session, and its responses end.
 */
export async function endInProcess(
  { sessionKey }: StoredSession,
  family?: MaybePromise<TokenFamily | undefined>,
): Promise<void> {
  // Before the first `await`: whatever runs meanwhile must not keep tokens of the session.
  endedSessions().set(sessionKey, true)
  forgetProcessTokens(sessionKey)
  const known = await family
  if (known) closeFamily(known)
  await endStreamsOf(new Set([sessionKey]))
}

export function hasEnded({ sessionKey }: Pick<StoredSession, 'sessionKey'>): boolean {
  return endedSessions().get(sessionKey) === true
}

/** Maximum number of rejected tokens that are remembered. */
const MAX_DEAD = 20_000

/**
 * Refresh tokens in cookies that the provider rejected with `invalid_grant`, with the time. Another process may have
 * redeemed the token first, and its response may still be pending: a cookie of this process would replace its cookie. So
 * the token is remembered instead of removed.
 */
const deadTokens = (): Lru<string, number> =>
  processWide('mark:dead-refresh-tokens/1', () => new Lru(MAX_DEAD))

export interface ClientParts {
  readonly config: Config
  /** Returns the tag of provider and client. */
  readonly clientTag: () => MaybePromise<string>
}

export async function markDead(parts: ClientParts, refreshToken: string): Promise<void> {
  deadTokens().set(await tokenKey(parts, refreshToken), parts.config.clock())
}

/** Returns when the provider rejected the refresh token of a session, in seconds since the epoch; `undefined` if it did not. */
export function deadSince(
  parts: ClientParts,
  session: { readonly tokenSet: { readonly refreshToken?: string } },
): MaybePromise<number | undefined> {
  // Usually empty: then the tokens of the session, which decodes them on first use, are not read.
  if (deadTokens().size === 0) return undefined
  const { refreshToken } = session.tokenSet
  return refreshToken === undefined
    ? undefined
    : tokenKey(parts, refreshToken).then((key) => deadTokens().get(key))
}

/* Access tokens that only the library uses, and main access tokens that did not fit into the cookies. */

/** Maximum number of sessions with such tokens; above it those of the one that is used least are dropped. */
const MAX_TOKEN_SESSIONS = 1000
/** Maximum number of tokens of one session; above it the oldest is dropped. */
const MAX_PROCESS_TOKENS = 100

interface ProcessToken {
  readonly key: string
  readonly token: AccessTokenSet
}

/** By session key. A list, since the tokens of a session end together. */
const processTokens = (): Lru<string, readonly ProcessToken[]> =>
  processWide('state:process-tokens/2', () => new Lru(MAX_TOKEN_SESSIONS))

type Kind = Pick<TokenRequest, 'audience' | 'scope'>

/** The key has the user, because an application may replace `user` in a session. */
const toTokenKey = (
  { clientId, provider }: Config,
  { user }: SessionData,
  { audience, scope }: Kind,
): string => toKey(user.sub, `${provider.url} ${clientId}`, audience ?? '', scope)

/** Keeps a token in place of an older one of its kind, and drops expired ones. */
export function keepProcessToken(
  config: Config,
  { data, sessionKey }: StoredSession,
  kind: Kind,
  { audience = '', ...token }: Entry,
): void {
  const key = toTokenKey(config, data, kind)
  const now = config.clock()
  const others = processTokens().get(sessionKey) ?? []
  const kept = others.filter((one) => one.key !== key && one.token.expiresAt > now)
  processTokens().set(
    sessionKey,
    [...kept, { key, token: { ...token, audience } }].slice(-MAX_PROCESS_TOKENS),
  )
}

/** Drops the tokens of a session that has ended, or that another one has replaced. */
export function forgetProcessTokens(sessionKey: string): void {
  processTokens().delete(sessionKey)
}

function findProcessToken(
  config: Config,
  { data, sessionKey }: StoredSession,
  kind: Kind,
): AccessTokenSet | undefined {
  const tokens = processTokens().get(sessionKey)
  const key = tokens && toTokenKey(config, data, kind)
  const token = tokens?.find((one) => one.key === key)?.token
  return token && token.expiresAt > config.clock() ? token : undefined
}

const mainKind = ({ tokenSet: { audience = '', requestedScope, scope = '' } }: SessionData): Kind => ({
  audience,
  scope: requestedScope ?? scope,
})

/** Keeps the main access token of a session whose cookies have no room for it. */
export function keepMainToken(config: Config, session: StoredSession): void {
  const { idToken: _id, refreshToken: _refresh, ...token } = session.data.tokenSet
  keepProcessToken(config, session, mainKind(session.data), token)
}

/** Returns the data of the session, with the main access token of `keepMainToken` if it lacks one. */
export function withMainToken(config: Config, session: StoredSession): SessionData {
  const { data } = session
  if (data.tokenSet.accessToken !== '') return data
  const kept = findProcessToken(config, session, mainKind(data))
  if (!kept) return data
  const { audience: _asBefore, ...token } = kept
  return { ...data, tokenSet: { ...data.tokenSet, ...token } }
}

/** Returns the data of the session with the tokens that this process has: the main one, and the requested one. */
function withProcessTokens(config: Config, session: StoredSession, want: TokenRequest): SessionData {
  const data = withMainToken(config, session)
  const kept = want.processOnly && findProcessToken(config, session, want)
  return kept ? { ...data, accessTokens: [...(data.accessTokens ?? []), kept] } : data
}

/** Returns the token of the session, or of this process for it, that a token request gets, valid or expired. */
export function findToken(config: Config, session: StoredSession, want: TokenRequest): Entry | undefined {
  return storedEntry(config.authorization, withProcessTokens(config, session, want), want)
}

/**
 * Returns the token of the session, or of this process for it, if it is usable, or whether a refresh can obtain one. A token
 * counts as expired `buffer` seconds before its end, but is then the `fallback`.
 */
export function selectToken(
  config: Config,
  session: StoredSession,
  want: TokenRequest,
  buffer: number,
): Selection {
  const data = withProcessTokens(config, session, want)
  return select(config.authorization, data, want, { now: config.clock(), buffer })
}
