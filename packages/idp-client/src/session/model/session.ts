import { randomToken } from '../../crypto/random.ts'
import { defined, isObject, isSameJson } from '../../lib/objects.ts'
import type { InternalSessionData, SessionData, TokenSet, User } from './session-data.ts'
import type { StoredSession } from './stored-session.ts'

export interface NewSession {
  /** All claims of the ID token. */
  readonly claims: User
  readonly tokenSet: TokenSet
  /** Seconds since the epoch. */
  readonly now: number
  /** The end that the provider sets. */
  readonly sessionExpiresAt?: number | undefined
}

/** Creates the session of a login, with every claim. `prepareNewSession` then decides which are saved. */
export function createSession({ claims, tokenSet, now, sessionExpiresAt }: NewSession): SessionData {
  const sid = typeof claims['sid'] === 'string' ? claims['sid'] : undefined
  return {
    user: claims,
    tokenSet,
    internal: defined({ sid, createdAt: now, sessionExpiresAt }),
  }
}

/** Tokens of a response; `TokenGrant` of `oidc/` is assignable to it. */
export interface Granted
  extends Pick<
    TokenSet,
    'accessToken' | 'authorizationDetails' | 'expiresAt' | 'idToken' | 'refreshToken' | 'scope'
  > {
  readonly tokenType: string
}

/** Returns the access token of a response, with the scope that was requested. */
export function toGrantedToken(
  { accessToken, authorizationDetails, expiresAt, scope, tokenType }: Granted,
  requestedScope: string | undefined,
): Omit<TokenSet, 'idToken' | 'refreshToken' | 'audience'> {
  return defined({
    accessToken,
    expiresAt,
    token_type: tokenType,
    scope,
    requestedScope,
    authorizationDetails,
  })
}

/** Returns the tokens of a response, with the audience and the scope that were requested. */
export function toTokenSet(
  grant: Granted,
  { audience, scope }: { readonly audience?: string | undefined; readonly scope?: string | undefined },
): TokenSet {
  const { idToken, refreshToken } = grant
  return { ...toGrantedToken(grant, scope), ...defined({ idToken, refreshToken, audience }) }
}

/** Properties of the login that its session keeps, see `StoredSession`. */
export type LoginOrigin = Pick<
  StoredSession,
  'requestedAuthentication' | 'ownScope' | 'fromLink' | 'userInfoClaims'
>

/** Creates the stored session of a login, with a new session key (against session fixation). */
export function freshlyStored(
  data: SessionData,
  now: number,
  { fromLink, ownScope, requestedAuthentication, userInfoClaims }: LoginOrigin = {},
): StoredSession {
  const origin = defined({
    requestedAuthentication,
    ownScope,
    fromLink: fromLink || undefined,
    userInfoClaims,
  })
  return { data, sessionKey: randomToken(16), usedAt: now, ...origin }
}

export interface Update {
  /** The session now, which others may have changed since `found` was read. */
  readonly current: SessionData
  /** The session that the changes are based on. */
  readonly found: SessionData
  /** The changed properties, from the caller that read `found`. */
  readonly changes: Partial<SessionData>
  /** The new `internal`, if the library itself changes it. */
  readonly internal?: InternalSessionData
}

type Properties = Readonly<Record<string, unknown>>

/** Reads an own property: `constructor` and `__proto__` count only if they were set. */
function own(properties: Properties, name: string): unknown {
  return Object.hasOwn(properties, name) ? properties[name] : undefined
}

/** The lists of further tokens of a session. */
const LISTS: readonly string[] = ['accessTokens', 'connectionTokenSets']
/** Properties that tell one further token from others. */
const OF_KIND = ['audience', 'requestedScope', 'connection', 'loginHint']

const isOfKind = (one: Properties, other: Properties): boolean =>
  OF_KIND.every((name) => one[name] === other[name])

const hasToken = (list: readonly Properties[], token: Properties): boolean =>
  list.some((other) => other['accessToken'] === token['accessToken'])

/** Merges two changes of a list of tokens: removes what either has removed, and adds what both have added. */
function mergedList(
  current: readonly Properties[],
  found: readonly Properties[],
  changes: readonly Properties[],
): readonly Properties[] | undefined {
  const removed = found.filter((token) => !hasToken(changes, token))
  const added = changes.filter((token) => !found.some((other) => isSameJson(token, other)))
  const kept = current
    .filter((token) => !hasToken(removed, token))
    .filter((token) => !added.some((other) => isOfKind(token, other)))
  const list = [...kept, ...added]
  return list.length > 0 ? list : undefined
}

/** Returns the value of a property that both have changed. */
function mergedValue(name: string, current: unknown, found: unknown, changed: unknown): unknown {
  // The application removes all with an empty list, also those that the request has got since.
  const removesAll = Array.isArray(changed) && changed.length === 0
  if (LISTS.includes(name) && !removesAll) {
    const lists = [current ?? [], found ?? [], changed ?? []]
    const areLists = lists.every((list) => Array.isArray(list) && list.every(isObject))
    if (areLists) return mergedList(...(lists as [Properties[], Properties[], Properties[]]))
  }
  return changed === undefined ? current : changed
}

/**
 * Merges two changes of the same object, property by property, and lists of tokens token by token. Unchanged properties come from
 * `current`, changed ones from `changes`. A property that is absent in `changes` is removed, unless another writer has changed it
 * meanwhile.
 */
function merged(current: Properties, found: Properties, changes: Properties): Record<string, unknown> {
  const names = new Set([...Object.keys(current), ...Object.keys(changes)])
  const properties = [...names].flatMap((name) => {
    const [now, then, changed] = [current, found, changes].map((of) => own(of, name))
    if (isSameJson(changed, then)) return now === undefined ? [] : [[name, now] as const]
    const value = isSameJson(now, then) ? changed : mergedValue(name, now, then, changed)
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(properties)
}

/** Properties that belong to one access token. */
const OF_ACCESS_TOKEN = [
  'accessToken',
  'expiresAt',
  'scope',
  'requestedScope',
  'audience',
  'token_type',
  'authorizationDetails',
]

/** Like `merged`, but takes the properties of a changed access token from `changes` together. */
function mergedTokens(current: Properties, found: Properties, changes: Properties): Record<string, unknown> {
  const all = merged(current, found, changes)
  if (isSameJson(changes['accessToken'], found['accessToken'])) return all
  const others = Object.entries(all).filter(([name]) => !OF_ACCESS_TOKEN.includes(name))
  const mine = Object.entries(changes).filter(([name]) => OF_ACCESS_TOKEN.includes(name))
  return Object.fromEntries([...others, ...mine])
}

/**
 * Applies changes to a session that others change too: see `merged`, for the session's own properties and for those of
 * its user and its token set. `user` and `tokenSet` are required, so they stay when left out. Ignores `internal` of `changes`, which
 * may come from the application.
 */
export function withChanges({ current, found, changes, internal = found.internal }: Update): SessionData {
  const { internal: _given, ...given } = changes
  // It only becomes earlier, whichever of two changes is written first.
  const sessionExpiresAt = Math.min(
    current.internal.sessionExpiresAt ?? Number.POSITIVE_INFINITY,
    internal.sessionExpiresAt ?? Number.POSITIVE_INFINITY,
  )
  const user = changes.user ?? found.user
  const tokenSet = changes.tokenSet ?? found.tokenSet
  const tokens = isObject(tokenSet)
    ? mergedTokens({ ...current.tokenSet }, { ...found.tokenSet }, { ...tokenSet })
    : tokenSet
  return {
    ...merged(current, found, { ...given, user: found.user, tokenSet: found.tokenSet }),
    user: isObject(user) ? merged({ ...current.user }, { ...found.user }, { ...user }) : user,
    tokenSet: tokens,
    internal: {
      ...current.internal,
      ...merged({ ...current.internal }, { ...found.internal }, { ...internal }),
      ...(Number.isFinite(sessionExpiresAt) ? { sessionExpiresAt } : {}),
    },
  } as SessionData
}

/** A session before and after a change. */
export interface SessionDifference {
  readonly found: StoredSession
  readonly session: StoredSession
}

/** Applies a change to the session as it is now, which others may have changed since `found` was read. */
export function withDifference(current: StoredSession, { found, session }: SessionDifference): StoredSession {
  const data = withChanges({
    current: current.data,
    found: found.data,
    changes: session.data,
    internal: session.data.internal,
  })
  // Keep a step-up that another request verified meanwhile, unless this change is a step-up itself.
  const later = <Name extends (typeof OF_STEP_UP)[number]>(name: Name): StoredSession[Name] =>
    (isSameJson(session[name], found[name]) ? current : session)[name]
  return defined({
    ...session,
    data,
    usedAt: Math.max(current.usedAt, session.usedAt),
    authentication: later('authentication'),
    ownScope: later('ownScope'),
    userInfoClaims: later('userInfoClaims'),
  })
}

/** The properties that a step-up sets beside the data of the session. */
const OF_STEP_UP = ['authentication', 'ownScope', 'userInfoClaims'] as const

/** Returns whether nothing but the time of use differs. */
export function hasOnlyBeenUsed({ found, session }: SessionDifference): boolean {
  return (['data', ...OF_STEP_UP] as const).every((name) => isSameJson(found[name], session[name]))
}
