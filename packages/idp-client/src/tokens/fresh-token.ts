import type { Config } from '../config/config.ts'
import { AccessTokenError } from '../errors/access-token.ts'
import { isIdpError } from '../errors/base.ts'
import type { OAuthError } from '../errors/provider.ts'
import { isProviderError } from '../errors/provider.ts'
import type { Exchange } from '../http/exchange.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { lazyPromise } from '../lib/lazy.ts'
import { toKey } from '../lib/registry.ts'
import { isEdgeRuntime } from '../lib/runtime.ts'
import { prepareRefreshedSession } from '../session/hooks.ts'
import type { AuthenticationClaims } from '../session/model/authentication.ts'
import { besideNewIdToken, provenIn } from '../session/model/authentication.ts'
import { decodeClaims } from '../session/model/claims.ts'
import type { SessionData } from '../session/model/session-data.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { copySession } from '../session/model/stored-session.ts'
import type { ProcessTokenKey } from '../session/process-tokens.ts'
import { keepProcessToken, processToken, toClientName, withMainToken } from '../session/process-tokens.ts'
import type { SessionStorage } from '../session/storage.ts'
import type { Refreshed } from './apply.ts'
import { applyRefresh, toEntry, withoutRefreshToken } from './apply.ts'
import { deadSince, markDead, mayRemove } from './dead-tokens.ts'
import type { MfaContextParts } from './mfa-context.ts'
import { orMfaRequired } from './mfa-demand.ts'
import type { RedemptionContext, RefreshOnce } from './refresh-once.ts'
import type { Entry, Selection } from './select.ts'
import { select, storedEntry } from './select.ts'
import type { Redemption } from './token-family.ts'
import { deferPersistence, hasEnded, makeRoomForPending } from './token-family.ts'
import type { TokenRequest } from './token-request.ts'

/** Sends the refresh grant. Passed in by the flow, so that this folder does not depend on `oidc/`. */
export type RefreshGrant = (request: {
  readonly refreshToken: string
  readonly subject: string
  /** Claims of the session that a new ID token must agree with; absent if none are known. */
  readonly previous?: Readonly<Record<string, unknown>>
  readonly scope?: string
  readonly audience?: string
  /** Called when the response is late. Returns for how many more milliseconds to wait for it. */
  readonly onOverdue?: (error: Error) => number
  /** Called when the refresh token is sent. */
  readonly onRequest: () => void
  /** Called when the response has arrived. */
  readonly onResponse: () => void
}) => Promise<Refreshed>

const SEVERAL_PROCESSES =
  'The provider refused a refresh token (invalid_grant). If several processes serve this application and the provider rotates refresh tokens, sessions in cookies lose them this way: set sessionStore.'

const EDGE_RUNTIME =
  "A refresh token was redeemed in middleware.ts on the edge runtime, which shares no memory with the server: when both refresh one session, the provider may revoke it. Set runtime: 'nodejs' (Next.js 15.5 and newer), mount the routes with handlers(), or set sessionStore."

export interface FreshTokenParts extends MfaContextParts {
  readonly sessions: SessionStorage
  readonly refresh: RefreshGrant
}

/** Returns whether the provider has rejected the refresh token for good (`invalid_grant`). */
export function isFinal(error: unknown): error is OAuthError {
  return isIdpError(error, 'OAUTH_ERROR') && 'error' in error && error.error === 'invalid_grant'
}

function processTokenKey(
  { config }: FreshTokenParts,
  { data, sessionKey }: StoredSession,
  want: TokenRequest,
): ProcessTokenKey {
  return {
    sessionKey,
    user: data.user.sub,
    client: toClientName(config),
    audience: want.audience ?? '',
    scope: want.scope,
  }
}

/** Returns the data of the session with the tokens that this process has: the main one, and that of `processOnly`. */
function withProcessToken(parts: FreshTokenParts, session: StoredSession, want: TokenRequest): SessionData {
  const data = withMainToken(parts.config, session)
  const kept = want.processOnly && processToken(processTokenKey(parts, session, want), parts.config.clock())
  return kept ? { ...data, accessTokens: [...(data.accessTokens ?? []), kept] } : data
}

/** Caches a token in this process that is not stored in the session (`processOnly`). */
function keepInProcess(
  parts: FreshTokenParts,
  session: StoredSession,
  want: TokenRequest,
  token: Entry,
): void {
  const { audience } = want
  if (!want.processOnly || audience === undefined || hasEnded(session)) return
  keepProcessToken(processTokenKey(parts, session, want), { ...token, audience }, parts.config.clock())
}

function selectToken(
  parts: FreshTokenParts,
  session: StoredSession,
  want: TokenRequest,
  buffer: number,
): Selection {
  const { authorization, clock } = parts.config
  return select(authorization, withProcessToken(parts, session, want), want, { now: clock(), buffer })
}

/** Restores the claims from UserInfo, which a refreshed ID token does not contain. */
function withUserInfo({ fetchUserInfo }: Config, before: SessionData, after: SessionData): SessionData {
  if (!fetchUserInfo || after.user === before.user) return after
  const idTokenClaims = decodeClaims(before.tokenSet.idToken) ?? {}
  const others = Object.entries(before.user).filter(([name]) => !(name in idTokenClaims))
  return { ...after, user: { ...Object.fromEntries(others), ...after.user } }
}

/** Returns the claims that a refreshed ID token is compared with: the proven ones, and the nonce of the stored ID token. */
function comparableClaims(
  { tokenSet }: SessionData,
  proven: AuthenticationClaims,
): Pick<Parameters<RefreshGrant>[0], 'previous'> {
  if (proven.iss === undefined) return {}
  return { previous: { ...proven, nonce: decodeClaims(tokenSet.idToken)?.['nonce'] } }
}

/** Applies a grant to a session and calls `beforeSessionSaved`. */
export async function withGrant(
  config: Config,
  session: StoredSession,
  want: TokenRequest,
  grant: Refreshed,
): Promise<Redemption> {
  const { data } = session
  const now = config.clock()
  const applied = withUserInfo(
    config,
    data,
    applyRefresh(data, { config: config.authorization, want, grant, now }),
  )
  const saved = await prepareRefreshedSession(config, applied, { ...grant, previous: data.user })
  return {
    session: { ...session, data: saved, usedAt: now, newAccessToken: grant.accessToken },
    entry: toEntry(grant, want),
  }
}

interface RedeemOptions extends RedemptionContext {
  readonly refreshToken: string
}

async function redeem(
  parts: FreshTokenParts,
  session: StoredSession,
  want: TokenRequest,
  { onOverdue, onRequest, onResponse, refreshToken, scope }: RedeemOptions,
): Promise<Redemption> {
  const { config, refresh, sessions } = parts
  const { data } = session
  // While this call was waiting, the provider may have rejected the token of another call.
  if ((await deadSince(parts, { tokenSet: { refreshToken } })) !== undefined)
    throw new AccessTokenError('MISSING_REFRESH_TOKEN')
  if (!sessions.distributed && isEdgeRuntime()) config.log.once(EDGE_RUNTIME)
  try {
    const authentication = provenIn(session)
    const subject = typeof authentication.sub === 'string' ? authentication.sub : data.user.sub
    const previous = comparableClaims(data, authentication)
    const progress = { onRequest, onResponse, ...(config.processLasts ? { onOverdue } : {}) }
    const grant = await refresh({ refreshToken, subject, ...previous, ...want.wireParameters, ...progress })
    const proven = grant.idToken === undefined ? authentication : besideNewIdToken(authentication)
    const from = { ...session, authentication: proven }
    const redemption = await scope.run(() => withGrant(config, from, want, grant))
    keepInProcess(parts, session, want, toEntry(grant, want))
    return redemption
  } catch (failure) {
    if (!isFinal(failure)) throw failure
    if (sessions.distributed) return { session: { ...session, data: withoutRefreshToken(data) }, failure }
    await markDead(parts, refreshToken, config.clock())
    config.log.once(SEVERAL_PROCESSES, 'FAILED_TO_REFRESH_TOKEN')
    return { session, failure }
  }
}

function failedWith(cause: unknown): AccessTokenError {
  return new AccessTokenError('FAILED_TO_REFRESH_TOKEN', { cause })
}

/** Reports a failed refresh that the caller does not receive. */
async function report({ log }: Config, error: unknown): Promise<void> {
  const { reportFailure } = await import('../log/failure.ts')
  reportFailure(log, isProviderError(error) ? failedWith(error) : error)
}

/**
 * Returns the token to return, or the refresh token to redeem, without a request to the provider. Removes a rejected refresh
 * token from the session if it is due.
 */
async function decide(
  parts: FreshTokenParts,
  exchange: Exchange,
  session: StoredSession,
  fallback: Entry | undefined,
): Promise<{ readonly entry: Entry } | { readonly refreshToken: string }> {
  const { config, sessions } = parts
  const { refreshToken } = session.data.tokenSet
  const since = await deadSince(parts, session.data)
  if (refreshToken === undefined || since !== undefined) {
    if (since !== undefined && mayRemove(exchange, since, config.clock()))
      await sessions.save(exchange, { ...session, data: withoutRefreshToken(session.data) })
    if (fallback) return { entry: fallback }
    throw new AccessTokenError('MISSING_REFRESH_TOKEN')
  }
  if (
    !sessions.distributed &&
    !exchange.canWrite() &&
    !(config.processLasts && makeRoomForPending(config.clock()))
  ) {
    if (fallback) return { entry: fallback }
    throw new AccessTokenError('REFRESH_NOT_PERSISTABLE')
  }
  return { refreshToken }
}

/** Returns the token after a redemption, which another request may have started. */
function tokenAfter(
  parts: FreshTokenParts,
  { entry, failure }: Redemption,
  {
    after,
    before,
    want,
  }: { readonly after: StoredSession; readonly before: StoredSession; readonly want: TokenRequest },
): Entry {
  const found = selectToken(parts, after, { ...want, force: false }, 0)
  const usable = found.kind === 'usable' ? found.entry : undefined
  if (entry) return usable ?? entry
  if (failure !== undefined) throw failedWith(failure)
  const old = storedEntry(parts.config.authorization, withProcessToken(parts, before, want), want)
  if (usable && (!want.force || usable.accessToken !== old?.accessToken)) return usable
  // The provider has rejected it in another process, which removed it.
  const isDead = after.data.tokenSet.refreshToken === undefined
  throw isDead ? new AccessTokenError('MISSING_REFRESH_TOKEN') : failedWith(undefined)
}

const loadRefreshOnce = lazyPromise(() => import('./refresh-once.ts'))

async function refreshAndPersist(
  parts: FreshTokenParts,
  exchange: Exchange,
  {
    refreshToken,
    session,
    want,
  }: { readonly refreshToken: string; readonly session: StoredSession; readonly want: TokenRequest },
): Promise<Entry> {
  const { persist, refreshOnce } = await loadRefreshOnce()
  const { config, sessions } = parts
  const old = storedEntry(config.authorization, withProcessToken(parts, session, want), want)
  const request: RefreshOnce = {
    session,
    refreshToken,
    clientTag: await parts.clientTag(),
    purpose: toKey(want.audience, want.scope, want.isDefaultRequest, want.force, want.processOnly),
    clock: config.clock,
    patience: config.httpTimeout,
    isSatisfiedBy: (latest) => {
      const found = selectToken(parts, latest, { ...want, force: false }, config.tokenRefreshBuffer)
      return found.kind === 'usable' && found.entry.accessToken !== old?.accessToken
    },
    ...(sessions.distributed
      ? { distributed: sessions.distributed }
      : { keepLate: (family, late) => deferPersistence(config, family, late) }),
    reportLate: (error) => report(config, error),
    redeem: (latest, token, context) => redeem(parts, latest, want, { ...context, refreshToken: token }),
  }
  const { family, redemption } = await refreshOnce(request)
  const outcome = await redemption
  const after = copySession(outcome.session)
  // With cookies, a rejected refresh token changes nothing in the session.
  if (sessions.distributed || outcome.failure === undefined)
    await persist(parts, exchange, { family, session: after })
  return tokenAfter(parts, outcome, { after, before: session, want })
}

/**
 * Returns a valid access token for a token request, refreshed if necessary. A forced refresh never returns the token that it
 * was to replace. Throws `AccessTokenError`: `MISSING_SESSION` if the session has ended meanwhile, `MISSING_REFRESH_TOKEN`,
 * `FAILED_TO_REFRESH_TOKEN` (`cause`: error of the provider or the network), `REFRESH_NOT_PERSISTABLE`;
 * `SESSION_STORE_FAILED`; `MfaRequiredError` if the provider requires another factor.
 */
export function getFreshToken(
  parts: FreshTokenParts,
  exchange: Exchange,
  session: StoredSession,
  want: TokenRequest,
): MaybePromise<Entry> {
  const selection = selectToken(parts, session, want, parts.config.tokenRefreshBuffer)
  if (selection.kind === 'usable') return selection.entry
  return refreshedToken(parts, exchange, {
    session,
    want,
    fallback: 'fallback' in selection ? selection.fallback : undefined,
  })
}

/** Returns the refreshed token; `fallback`, which is still valid, if there is no refresh. */
async function refreshedToken(
  parts: FreshTokenParts,
  exchange: Exchange,
  {
    fallback,
    session,
    want,
  }: { readonly fallback: Entry | undefined; readonly session: StoredSession; readonly want: TokenRequest },
): Promise<Entry> {
  const decision = await decide(parts, exchange, session, fallback)
  if ('entry' in decision) return decision.entry
  const { refreshToken } = decision
  try {
    return await refreshAndPersist(parts, exchange, { refreshToken, session, want })
  } catch (error) {
    // Another process ended the session while its token was redeemed.
    if (isIdpError(error, 'MISSING_SESSION')) throw new AccessTokenError('MISSING_SESSION')
    if (fallback) {
      await report(parts.config, error)
      return fallback
    }
    if (isIdpError(error) && error.name === 'AccessTokenError') throw error
    if (isIdpError(error, 'SESSION_STORE_FAILED')) throw error
    throw await orMfaRequired(parts, failedWith(error), { wanted: want, session })
  }
}
