import type { Config } from '../config/config.ts'
import { hashToken } from '../crypto/random.ts'
import { IdpError } from '../errors/base.ts'
import type { Exchange } from '../http/exchange.ts'
import { defined } from '../lib/objects.ts'
import { processWide, toKey } from '../lib/registry.ts'
import { SingleFlight } from '../lib/shared-run.ts'
import { provenIn, steppedUpBy, toAuthentication } from '../session/model/authentication.ts'
import { decodeClaims } from '../session/model/claims.ts'
import { hasEndedAtProvider } from '../session/model/lifetime.ts'
import { unitedScope } from '../session/model/scope.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import type { Refreshed } from './apply.ts'
import type { Progress, RedemptionParts } from './refresh/coordinator.ts'
import { redeemOnce } from './refresh/coordinator.ts'
import { endExpired } from './refresh/pending-refreshes.ts'
import { limitLifetime, withGrant } from './refresh/redeem.ts'
import type { RedemptionResult } from './refresh/state.ts'
import type { TokenRequest } from './token-request.ts'

/** The grant of a verified factor; `FactorGrant` of `oidc/` is assignable to it. */
export interface FactorTokens extends Refreshed {
  readonly recoveryCode?: string
  /** Claims of a verified ID token that is not stored with these tokens. */
  readonly proof?: Readonly<Record<string, unknown>>
  /** Scope of the tokens beyond the configured one that the application requested. */
  readonly ownScope?: string
  /** A login link chose a part of their scope, or their audience. */
  readonly fromLink?: true
  /** Names of the claims of the user that only UserInfo returned, if it was called. */
  readonly userInfoClaims?: readonly string[]
  /** The `acr_values` that the application requested for them. */
  readonly requestedAcr?: string
}

/** The verification of one factor, for one session. */
export interface Verification {
  readonly session: StoredSession
  /** The request for these tokens. */
  readonly want: TokenRequest
  /** Identifies token and proof: concurrent calls with the same key share one verification. */
  readonly key: string
  /** Sends the grant; passed in by the flow. */
  readonly verify: (
    session: StoredSession,
    progress?: Pick<Progress, 'onRequest' | 'onResponse'>,
  ) => Promise<FactorTokens>
}

interface Verified extends RedemptionResult {
  readonly recoveryCode?: string
}

/** Applies the tokens of a verification, and the authentication that its ID token proves, to the session. */
async function withVerified(
  config: Config,
  session: StoredSession,
  want: TokenRequest,
  { fromLink, ownScope, proof, recoveryCode, requestedAcr: acr, userInfoClaims, ...grant }: FactorTokens,
): Promise<Verified> {
  const before = provenIn(session)
  const stepUp = proof ? steppedUpBy(session, proof) : before
  const verified = grant.idToken === undefined ? stepUp : toAuthentication(decodeClaims(grant.idToken))
  const requestedAcr = acr ?? before.requestedAcr
  const authentication = { ...verified, ...defined({ requestedAcr }) }
  const scope = ownScope === undefined ? undefined : unitedScope(session.ownScope, ownScope)
  const own = defined({ ownScope: scope, fromLink: fromLink || undefined, userInfoClaims })
  const limited = await limitLifetime(config, session, grant, proof)
  const result = await withGrant(config, { ...limited, authentication, ...own }, want, {
    ...grant,
    verified: true,
  })
  return { ...result, ...defined({ recoveryCode }) }
}

/** Verifies after the running redemptions of the session's refresh token, so that neither overwrites the other's tokens. */
async function verifyInTurn(
  parts: RedemptionParts,
  exchange: Exchange,
  { key, session, verify, want }: Verification,
  refreshToken: string,
): Promise<Verified> {
  return redeemOnce(parts, exchange, {
    session,
    refreshToken,
    key: toKey('mfa', await hashToken(key)),
    isSatisfiedBy: () => false,
    async redeem(latest, _refreshToken, { onRequest, onResponse }, requestScope) {
      const grant = await verify(latest, { onRequest, onResponse })
      return requestScope.run(() => withVerified(parts.config, latest, want, grant))
    },
  })
}

/** Verifications of sessions without a refresh token: only its family has a queue. */
const verifications = (): SingleFlight<FactorTokens> =>
  processWide('queue:verifications/1', () => new SingleFlight())

/** Verifies once for concurrent calls, since a one-time password is valid once. Each applies the tokens to its own session. */
async function verifyShared({ httpTimeout }: Config, verification: Verification): Promise<FactorTokens> {
  const { key, session, verify } = verification
  const name = await hashToken(toKey(session.sessionKey, key), 32)
  // A hook may change what it gets.
  return structuredClone(await verifications().run(name, () => verify(session), 4 * httpTimeout))
}

/**
 * Verifies a factor and stores its tokens in the session: those of the main audience in place of the main token set, those of
 * another audience as its entry. Returns a recovery code that replaces a used one. Throws errors of `verify`, and
 * `MISSING_SESSION` if the session has ended meanwhile.
 */
export async function verifyInSession(
  parts: RedemptionParts,
  exchange: Exchange,
  verification: Verification,
): Promise<string | undefined> {
  const { config, sessions } = parts
  const { refreshToken } = verification.session.data.tokenSet
  const verified = refreshToken ? await verifyInTurn(parts, exchange, verification, refreshToken) : undefined
  if (verified?.entry) return verified.recoveryCode
  // Without a refresh token, or if it was rejected during the wait, no other request changes the tokens; this one may save changes.
  const { session } = verified ?? verification
  const grant = await verifyShared(config, { ...verification, session })
  const { recoveryCode, session: after } = await withVerified(config, session, verification.want, grant)
  if (hasEndedAtProvider(after, config.clock())) throw await endExpired(parts, exchange, after)
  if (!(await sessions.save(exchange, after, { found: session }))) throw new IdpError('MISSING_SESSION')
  return recoveryCode
}
