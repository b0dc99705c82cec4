import type { Config } from '../config/config.ts'
import { hashToken } from '../crypto/random.ts'
import { MfaError } from '../errors/mfa.ts'
import type { Exchange } from '../http/exchange.ts'
import { toKey } from '../lib/registry.ts'
import { provenIn, steppedUpBy, toAuthentication } from '../session/model/authentication.ts'
import { decodeClaims } from '../session/model/claims.ts'
import { unitedScope } from '../session/model/scope.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { copySession } from '../session/model/stored-session.ts'
import type { Refreshed } from './apply.ts'
import { withGrant } from './fresh-token.ts'
import type { PersistParts } from './refresh-once.ts'
import { persist, refreshOnce } from './refresh-once.ts'
import type { Redemption } from './token-family.ts'
import type { TokenRequest } from './token-request.ts'

/** The grant of a verified factor; structurally one of `oidc/`. */
export interface FactorTokens extends Refreshed {
  readonly recoveryCode?: string
  /** Claims of a verified ID token that is not stored with these tokens. */
  readonly proof?: Readonly<Record<string, unknown>>
  /** Scope of the tokens beyond the configured one that the application requested. */
  readonly ownScope?: string
}

/** The verification of one factor, for one session. */
export interface Verification {
  readonly session: StoredSession
  /** The request for these tokens. */
  readonly want: TokenRequest
  /** Names token and proof: the same sent twice at once is verified once. */
  readonly name: string
  /** The grant at the provider, given by the flow. */
  readonly verify: (session: StoredSession) => Promise<FactorTokens>
}

export interface VerificationParts extends PersistParts {
  readonly client: () => Promise<string>
}

interface Verified extends Redemption {
  readonly recoveryCode?: string
}

/** The session with the tokens of a verification and what its ID token proves. */
async function withVerified(
  config: Config,
  session: StoredSession,
  want: TokenRequest,
  { ownScope, proof, recoveryCode, ...grant }: FactorTokens,
): Promise<Verified> {
  const stepUp = proof ? steppedUpBy(session, proof) : provenIn(session)
  const authentication = grant.idToken === undefined ? stepUp : toAuthentication(decodeClaims(grant.idToken))
  const own = ownScope === undefined ? {} : { ownScope: unitedScope(session.ownScope, ownScope) }
  const redemption = await withGrant(config, { ...session, authentication, ...own }, want, {
    ...grant,
    verified: true,
  })
  return { ...redemption, ...(recoveryCode === undefined ? {} : { recoveryCode }) }
}

const endedMeanwhile = (): MfaError => new MfaError('MISSING_SESSION', { detail: 'It ended meanwhile.' })

/** In turn with every redemption of the session's refresh token, so that neither undoes what the other brings. */
async function inTurn(
  parts: VerificationParts,
  exchange: Exchange,
  { name, session, verify, want }: Verification,
  refreshToken: string,
): Promise<Verified> {
  const { config, sessions } = parts
  const { family, redemption } = await refreshOnce({
    session,
    refreshToken,
    client: await parts.client(),
    purpose: toKey('mfa', await hashToken(name)),
    clock: config.clock,
    patience: config.httpTimeout,
    isSatisfiedBy: () => false,
    ...(sessions.distributed ? { distributed: sessions.distributed } : {}),
    async redeem(latest, _refreshToken, { scope }) {
      const grant = await verify(latest)
      return scope.run(() => withVerified(config, latest, want, grant))
    },
  })
  const verified: Verified = await redemption
  if (family.closed) throw endedMeanwhile()
  if (verified.entry) await persist(parts, exchange, { family, session: copySession(verified.session) })
  return verified
}

/**
 * Verifies a factor and keeps its tokens in the session: those of the default audience in place of the main ones, those
 * of another as its entry. Returns a recovery code that replaces a used one. Throws what `verify` throws, and `MfaError`
 * `MISSING_SESSION` when the session ended meanwhile.
 */
export async function verifyInSession(
  parts: VerificationParts,
  exchange: Exchange,
  verification: Verification,
): Promise<string | undefined> {
  const { config, sessions } = parts
  const { refreshToken } = verification.session.data.tokenSet
  const verified = refreshToken ? await inTurn(parts, exchange, verification, refreshToken) : undefined
  if (verified?.entry) return verified.recoveryCode
  // Without a refresh token, or with one that died while this waited for its turn, nobody else changes the tokens.
  const { session } = verified ?? verification
  const grant = await verification.verify(session)
  const { recoveryCode, session: after } = await withVerified(config, session, verification.want, grant)
  if (!(await sessions.save(exchange, after))) throw endedMeanwhile()
  return recoveryCode
}
