import type { Config } from '../config/config.ts'
import { AccessTokenError } from '../errors/access-token.ts'
import { isIdpError } from '../errors/base.ts'
import type { OAuthError } from '../errors/provider.ts'
import { isProviderError } from '../errors/provider.ts'
import type { Exchange } from '../http/exchange.ts'
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
import { keepProcessToken, processToken } from '../session/process-tokens.ts'
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
import { canDefer, deferPersistence, hasEnded } from './token-family.ts'
import type { TokenRequest } from './token-request.ts'

/** The refresh grant, given by the flow, so that this folder knows no provider. */
export type RefreshGrant = (request: {
  readonly refreshToken: string
  readonly subject: string
  /** Claims of the session that a new ID token must agree with; absent where none are known. */
  readonly previous?: Readonly<Record<string, unknown>>
  readonly scope?: string
  readonly audience?: string
  /** Called when the response is late; returns for how many milliseconds more it is waited for. */
  readonly onOverdue?: (error: Error) => number
}) => Promise<Refreshed>

const SEVERAL_PROCESSES =
  'The provider refused a refresh token (invalid_grant). If several processes serve this application and the provider rotates refresh tokens, sessions in cookies lose them this way: set sessionStore.'

const EDGE_RUNTIME =
  "A refresh token was redeemed in middleware.ts on the edge runtime, which shares no memory with the server: when both refresh one session, the provider may revoke it. Set runtime: 'nodejs' (Next.js 15.5 and newer), mount the routes with handlers(), or set sessionStore."

export interface FreshTokenParts extends MfaContextParts {
  readonly sessions: SessionStorage
  readonly refresh: RefreshGrant
}

/** The provider says that the grant is gone: the token is dead, whatever is tried. */
export function isFinal(error: unknown): error is OAuthError {
  return isIdpError(error, 'OAUTH_ERROR') && 'error' in error && error.error === 'invalid_grant'
}

function processTokenKey(
  { config }: FreshTokenParts,
  { data, sessionKey }: StoredSession,
  want: TokenRequest,
): ProcessTokenKey {
  const client = `${config.provider.url} ${config.clientId}`
  return {
    sessionKey: sessionKey,
    user: data.user.sub,
    client,
    audience: want.audience ?? '',
    scope: want.scope,
  }
}

/** The session with the token that this process keeps for it, where that is wanted. */
function withProcessToken(parts: FreshTokenParts, session: StoredSession, want: TokenRequest): SessionData {
  const { data } = session
  const kept = want.processOnly && processToken(processTokenKey(parts, session, want), parts.config.clock())
  return kept ? { ...data, accessTokens: [...(data.accessTokens ?? []), kept] } : data
}

/** Keeps a token that belongs into no session. */
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

/** Keeps the claims from UserInfo, which are not in a refreshed ID token. */
function withUserInfo({ fetchUserInfo }: Config, before: SessionData, after: SessionData): SessionData {
  if (!fetchUserInfo || after.user === before.user) return after
  const told = decodeClaims(before.tokenSet.idToken) ?? {}
  const beyond = Object.entries(before.user).filter(([name]) => !(name in told))
  return { ...after, user: { ...Object.fromEntries(beyond), ...after.user } }
}

/** Returns what a refreshed ID token is compared with: what was proven, and the nonce of the stored ID token. */
function comparableClaims(
  { tokenSet }: SessionData,
  proven: AuthenticationClaims,
): Pick<Parameters<RefreshGrant>[0], 'previous'> {
  if (proven.iss === undefined) return {}
  return { previous: { ...proven, nonce: decodeClaims(tokenSet.idToken)?.['nonce'] } }
}

/** The session with what a grant for its user brought, as the application's hook wants it saved. */
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
  { onOverdue, refreshToken, scope }: RedeemOptions,
): Promise<Redemption> {
  const { config, refresh, sessions } = parts
  const { data } = session
  // While this call waited for its turn, another one may have found that the token is dead.
  if ((await deadSince(parts, refreshToken)) !== undefined)
    throw new AccessTokenError('MISSING_REFRESH_TOKEN')
  if (!sessions.distributed && isEdgeRuntime()) config.log.once(EDGE_RUNTIME)
  try {
    const authentication = provenIn(session)
    const subject = typeof authentication.sub === 'string' ? authentication.sub : data.user.sub
    const previous = comparableClaims(data, authentication)
    const late = config.processLasts ? { onOverdue } : {}
    const grant = await refresh({ refreshToken, subject, ...previous, ...want.wireParameters, ...late })
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

/** Decides without a request: a token to return, the refresh token to redeem, or an error. */
async function decide(
  parts: FreshTokenParts,
  exchange: Exchange,
  session: StoredSession,
  want: TokenRequest,
): Promise<{ readonly entry: Entry } | { readonly refreshToken: string; readonly fallback?: Entry }> {
  const { config, sessions } = parts
  const selection = selectToken(parts, session, want, config.tokenRefreshBuffer)
  if (selection.kind === 'usable') return selection
  const fallback = selection.kind === 'refresh' ? selection.fallback : undefined
  const { refreshToken } = session.data.tokenSet
  const since = await deadSince(parts, refreshToken)
  if (refreshToken === undefined || since !== undefined) {
    if (since !== undefined && mayRemove(exchange, since, config.clock()))
      await sessions.save(exchange, { ...session, data: withoutRefreshToken(session.data) })
    if (fallback) return { entry: fallback }
    throw new AccessTokenError('MISSING_REFRESH_TOKEN')
  }
  if (!sessions.distributed && !exchange.canWrite() && !(config.processLasts && canDefer(config.clock()))) {
    if (fallback) return { entry: fallback }
    throw new AccessTokenError('REFRESH_NOT_PERSISTABLE')
  }
  return { refreshToken, ...(fallback ? { fallback } : {}) }
}

/** The token after a redemption, which another request may have made. */
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
  // Another process found out that it is dead.
  const isDead = after.data.tokenSet.refreshToken === undefined
  throw isDead ? new AccessTokenError('MISSING_REFRESH_TOKEN') : failedWith(undefined)
}

async function refreshAndPersist(
  parts: FreshTokenParts,
  exchange: Exchange,
  {
    refreshToken,
    session,
    want,
  }: { readonly refreshToken: string; readonly session: StoredSession; readonly want: TokenRequest },
): Promise<Entry> {
  const { persist, refreshOnce } = await import('./refresh-once.ts')
  const { config, sessions } = parts
  const old = storedEntry(config.authorization, withProcessToken(parts, session, want), want)
  const request: RefreshOnce = {
    session,
    refreshToken,
    client: await parts.client(),
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
  // A refused token in a cookie leaves nothing to write.
  if (sessions.distributed || outcome.failure === undefined)
    await persist(parts, exchange, { family, session: after })
  return tokenAfter(parts, outcome, { after, before: session, want })
}

/**
 * An access token that is valid for what is wanted, refreshed if need be. Throws `AccessTokenError`:
 * `MISSING_REFRESH_TOKEN`, `FAILED_TO_REFRESH_TOKEN` (cause: what the provider said or the network did),
 * `REFRESH_NOT_PERSISTABLE`; `MfaRequiredError` when the provider demands another factor. A refresh that is forced never
 * returns the token that it was to replace.
 */
export async function getFreshToken(
  parts: FreshTokenParts,
  exchange: Exchange,
  session: StoredSession,
  want: TokenRequest,
): Promise<Entry> {
  const decision = await decide(parts, exchange, session, want)
  if ('entry' in decision) return decision.entry
  const { fallback, refreshToken } = decision
  try {
    return await refreshAndPersist(parts, exchange, { refreshToken, session, want })
  } catch (error) {
    // The session ended on another machine, while its token was redeemed.
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
