import type { AuthorizationConfig } from '../config/config.ts'
import { defined } from '../lib/objects.ts'
import { commonScope, coversScope, sameScope, unitedScope, withoutScope } from '../session/model/scope.ts'
import type { Granted } from '../session/model/session.ts'
import { toGrantedToken } from '../session/model/session.ts'
import type {
  AccessTokenSet,
  SessionData,
  StoredAccessTokenSet,
  TokenSet,
} from '../session/model/session-data.ts'
import type { Entry } from './select.ts'
import { findEntry, usesMainTokenSet } from './select.ts'
import type { TokenRequest } from './token-request.ts'
import { OFFLINE_ACCESS, renewedScope } from './token-request.ts'

/** The grant of a refresh; `TokenGrant` of `oidc/` is assignable to it. */
export interface Refreshed extends Granted {
  readonly claims?: { readonly sub: string; readonly [claim: string]: unknown }
  /** Set if it results from the verification of a factor. */
  readonly verified?: true
}

/** Returns the access token of a refresh. */
export function toEntry(grant: Refreshed, want: TokenRequest): Entry {
  return toGrantedToken(grant, want.scope || undefined)
}

/** Returns whether the provider granted the same scope to both tokens. One that it does not name is that of the request (RFC 6749 section 5.1). */
function isSameGrant(one: StoredAccessTokenSet, other: StoredAccessTokenSet): boolean {
  const areNamed = one.scope !== undefined && other.scope !== undefined
  return one.audience === other.audience && areNamed && sameScope(one.scope, other.scope)
}

/**
 * Returns the granted scope of a new token whose response may name none: if its request named none either, that is the scope of the
 * token before (RFC 6749 sections 5.1 and 6). Otherwise guards would take what was requested before, or configured, for granted.
 */
function scopeBefore(
  scope: string | undefined,
  { wireParameters: { scope: sent } }: TokenRequest,
): Pick<TokenSet, 'scope'> {
  return sent === undefined ? defined({ scope }) : {}
}

/** Adds an entry in place of the one that covered the request, or to which the same scope was granted. */
function withEntry(
  data: SessionData,
  want: TokenRequest,
  entry: StoredAccessTokenSet,
  now: number,
): AccessTokenSet[] {
  const all = data.accessTokens ?? []
  const replaced = findEntry(data, want) ?? all.find((each) => isSameGrant(each, entry))
  // A token for a part of the scope must not pass for one of the whole.
  const earlierScope = replaced && isSameGrant(replaced, entry) ? replaced.requestedScope : undefined
  const requestedScope = unitedScope(earlierScope, entry.requestedScope)
  const kept = all.filter((other) => other !== replaced && other.expiresAt > now)
  const earlier = entry.verified ? undefined : replaced?.authorizationDetails
  const authorizationDetails = entry.authorizationDetails ?? earlier
  const changed = defined({ requestedScope: requestedScope || undefined, authorizationDetails })
  // Nothing says what was granted first to a request without `scope`.
  return [...kept, { ...scopeBefore(replaced?.scope ?? '', want), ...entry, ...changed }]
}

export interface RefreshInput {
  readonly config: AuthorizationConfig
  readonly want: TokenRequest
  readonly grant: Refreshed
  /** Seconds since the epoch; entries that have expired by then are dropped. */
  readonly now: number
}

/** Returns the session after a refresh, with every claim of a new ID token in `user`. */
export function applyRefresh(data: SessionData, { config, want, grant, now }: RefreshInput): SessionData {
  // All audiences share them; a response without them leaves the old ones valid (RFC 6749 section 6).
  const { idToken = data.tokenSet.idToken, refreshToken = data.tokenSet.refreshToken } = grant
  const shared = defined({ idToken, refreshToken })
  const user = grant.claims ? toUserChanges(data, grant.claims) : {}
  const entry = toEntry(grant, want)
  const { audience } = want
  if (
    usesMainTokenSet(config, data, want) ||
    (audience === undefined && coversMainScope(data, want, grant))
  ) {
    // A refresh changes no grant, so its response may leave out the details; the verification of a factor is a new grant.
    const earlier = grant.verified ? undefined : data.tokenSet.authorizationDetails
    const others = defined({
      audience: data.tokenSet.audience ?? audience,
      authorizationDetails: entry.authorizationDetails ?? earlier,
    })
    const renewed = { ...scopeBefore(data.tokenSet.scope, want), ...entry }
    const tokenSet = { ...renewed, ...scopeAsBefore(data, want, entry), ...shared, ...others }
    return { ...data, ...user, tokenSet }
  }
  const tokenSet: TokenSet = { ...data.tokenSet, ...shared }
  // Without an audience it cannot be an entry, and it must not replace the main token, which has more scope.
  if (audience === undefined || want.processOnly) return { ...data, ...user, tokenSet }
  const verified = grant.verified ? { verified: grant.verified } : {}
  return {
    ...data,
    ...user,
    tokenSet,
    accessTokens: withEntry(data, want, { ...entry, ...verified, audience }, now),
  }
}

/**
 * Returns the requested scope of the new main token if its request had all of the old one: without `scope` (RFC 6749 section 6), or with
 * everything that was granted. It lacks what a request without `scope` did not get any more, and what was refused before if the
 * response names no scope.
 */
function scopeAsBefore(
  { tokenSet }: SessionData,
  { audience, scope: wanted, wireParameters: { scope: sent } }: TokenRequest,
  entry: Entry,
): Pick<TokenSet, 'requestedScope'> {
  const { requestedScope, scope: granted = requestedScope } = tokenSet
  if (requestedScope === undefined) return {}
  if (sent !== undefined) {
    if (!coversScope(sent, renewedScope(tokenSet))) return {}
    const known =
      entry.scope === undefined
        ? commonScope(requestedScope, unitedScope(granted, sent, OFFLINE_ACCESS))
        : requestedScope
    return { requestedScope: unitedScope(known, wanted) }
  }
  if (audience !== undefined || entry.scope === undefined) return { requestedScope }
  // The old token may have had a further scope, which is not granted without `scope`.
  const lost = withoutScope(withoutScope(granted, entry.scope), OFFLINE_ACCESS)
  return { requestedScope: withoutScope(requestedScope, lost) }
}

/** Returns the user of a new ID token, and `internal` with its `sid`, which logout tokens name. */
function toUserChanges(
  { internal }: SessionData,
  claims: NonNullable<Refreshed['claims']>,
): Pick<SessionData, 'user' | 'internal'> {
  const { sid } = claims
  return { user: { ...claims }, internal: typeof sid === 'string' ? { ...internal, sid } : internal }
}

/**
 * Returns whether a token for a further scope can replace the main one: it must have all that the main one has. A provider whose scopes
 * name the API grants only those of one API. That of a verified factor must only have been requested with all of it: the user would
 * have to verify the factor again for a token that is not stored.
 */
function coversMainScope(
  { tokenSet }: SessionData,
  want: TokenRequest,
  { scope = want.scope, verified }: Refreshed,
): boolean {
  const { requestedScope, scope: granted } = tokenSet
  const isCovered = (by: string, main = ''): boolean => coversScope(by, withoutScope(main, OFFLINE_ACCESS))
  return isCovered(want.scope, requestedScope ?? granted) && (verified === true || isCovered(scope, granted))
}

/** Removes the refresh token; everything else in the session stays. */
export function withoutRefreshToken(data: SessionData): SessionData {
  const { refreshToken: _dead, ...tokenSet } = data.tokenSet
  return { ...data, tokenSet }
}
