import type { Config } from '../../config/config.ts'
import { isInvalidGrant } from '../../errors/provider.ts'
import { AccessTokenError } from '../../errors/tokens.ts'
import { toKey } from '../../lib/registry.ts'
import type { RequestScope } from '../../lib/request-scope.ts'
import { isEdgeRuntime } from '../../lib/runtime.ts'
import { claimsFromUserInfo, prepareRefreshedSession } from '../../session/hooks.ts'
import { besideNewIdToken, provenIn, provenSubject } from '../../session/model/authentication.ts'
import { decodeClaims } from '../../session/model/claims.ts'
import { laterUse } from '../../session/model/lifetime.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import { endStreamsBy } from '../../session/open-streams.ts'
import type { Refreshed } from '../apply.ts'
import { applyRefresh, toEntry, withoutRefreshToken } from '../apply.ts'
import type { Entry } from '../select.ts'
import type { TokenRequest } from '../token-request.ts'
import type { Progress, Purpose, RedemptionParts } from './coordinator.ts'
import { deadSince, hasEnded, markDead } from './ended.ts'
import { keepProcessToken, selectToken } from './process-tokens.ts'
import type { RedemptionResult } from './state.ts'

/** Sends the refresh request. Passed in by the flow, so that `tokens` does not depend on `oidc/`. */
export type SendRefresh = (
  request: Partial<Progress> & {
    readonly refreshToken: string
    /** `sub` that a new ID token must have; absent if the token belongs to no session. */
    readonly subject?: string
    /** Claims of the session that a new ID token must agree with; absent if none are known. */
    readonly previous?: Readonly<Record<string, unknown>>
    readonly scope?: string
    readonly audience?: string
  },
) => Promise<Refreshed>

const SEVERAL_PROCESSES =
  'The provider refused a refresh token (invalid_grant). If several processes serve this application and the provider rotates refresh tokens, sessions in cookies lose them this way: set sessionStore.'

const EDGE_RUNTIME =
  "A refresh token was redeemed in middleware.ts on the edge runtime, which shares no memory with the server: when both refresh one session, the provider may revoke it. Set runtime: 'nodejs' (Next.js 15.5 and newer), mount the routes with handlers(), or set sessionStore."

export interface GrantParts extends RedemptionParts {
  readonly sendRefresh: SendRefresh
}

/** Returns what a refresh token is redeemed for to obtain an access token in place of the `old` one. */
export function toPurpose(
  parts: GrantParts,
  session: StoredSession,
  refreshToken: string,
  { old, want }: { readonly want: TokenRequest; readonly old: Entry | undefined },
): Purpose {
  const { config } = parts
  // Calls that replace different tokens share nothing: one of them could get the token that it is to replace.
  const replaced = want.force ? (old?.accessToken ?? '') : undefined
  return {
    session,
    refreshToken,
    key: toKey(want.audience, want.scope, want.isDefaultRequest, replaced, want.processOnly),
    isSatisfiedBy(latest) {
      const { usable } = selectToken(config, latest, { ...want, force: false }, config.tokenRefreshBuffer)
      return usable !== undefined && usable.accessToken !== old?.accessToken
    },
    redeem: (latest, token, progress, requestScope) =>
      redeem(parts, latest, want, { ...progress, refreshToken: token, requestScope }),
  }
}

interface RedemptionInput extends Progress {
  readonly refreshToken: string
  readonly requestScope: RequestScope
}

/** Sends the refresh request and applies its grant to the session. A rejected refresh token of a store is removed from the session. */
async function redeem(
  parts: GrantParts,
  session: StoredSession,
  want: TokenRequest,
  { refreshToken, requestScope, ...progress }: RedemptionInput,
): Promise<RedemptionResult> {
  const { config, sessions } = parts
  const { data } = session
  // While this call was waiting, the provider may have rejected the same token in another one.
  if ((await deadSince(parts, { tokenSet: { refreshToken } })) !== undefined)
    throw new AccessTokenError('MISSING_REFRESH_TOKEN')
  if (!sessions.distributed && isEdgeRuntime()) config.log.once(EDGE_RUNTIME)
  try {
    const proven = provenIn(session)
    const grant = await parts.sendRefresh({
      refreshToken,
      subject: provenSubject(session),
      // A refreshed ID token is compared with the proven claims, and with the nonce of the stored ID token.
      ...(proven.iss === undefined
        ? {}
        : { previous: { ...proven, nonce: decodeClaims(data.tokenSet.idToken)?.['nonce'] } }),
      ...want.wireParameters,
      ...progress,
    })
    const authentication = grant.idToken === undefined ? proven : besideNewIdToken(proven)
    const limited = await limitLifetime(config, session, grant)
    const result = await requestScope.run(() =>
      withGrant(config, { ...limited, authentication }, want, grant),
    )
    if (want.processOnly && want.audience !== undefined && !hasEnded(session))
      keepProcessToken(config, session, want, { ...toEntry(grant, want), audience: want.audience })
    return result
  } catch (failure) {
    if (!isInvalidGrant(failure)) throw failure
    if (sessions.distributed) return { session: { ...session, data: withoutRefreshToken(data) }, failure }
    await markDead(parts, refreshToken)
    config.log.once(SEVERAL_PROCESSES, 'FAILED_TO_REFRESH_TOKEN')
    throw failure
  }
}

/** Applies the end that the ID token of a grant sets, or the claims of another verified ID token, if `session.expiryClaim` is set. */
export async function limitLifetime(
  config: Config,
  session: StoredSession,
  { idToken }: Refreshed,
  proof?: object,
): Promise<StoredSession> {
  if (config.session.expiryClaim === undefined) return session
  const { withExpiry } = await import('../../session/expiry.ts')
  const limited = withExpiry(config, session, decodeClaims(idToken) ?? proof)
  const { sessionExpiresAt } = limited.data.internal
  if (sessionExpiresAt !== undefined) endStreamsBy(session.sessionKey, sessionExpiresAt)
  return limited
}

/** Applies a grant to a session and calls `beforeSessionSaved`. */
export async function withGrant(
  config: Config,
  session: StoredSession,
  want: TokenRequest,
  grant: Refreshed,
): Promise<RedemptionResult> {
  const { data } = session
  const now = config.clock()
  const applied = applyRefresh(data, { config: config.authorization, want, grant, now })
  // A refreshed ID token does not contain the claims from UserInfo.
  const user = applied.user === data.user ? data.user : { ...claimsFromUserInfo(session), ...applied.user }
  const refreshed = { ...session, data: { ...applied, user } }
  const saved = await prepareRefreshedSession(config, refreshed, { ...grant, previous: data.user })
  const usedAt = want.isBackground ? session.usedAt : laterUse(session.usedAt, now)
  const after = { ...session, usedAt, newAccessToken: grant.accessToken, data: saved }
  return { session: after, entry: toEntry(grant, want) }
}
