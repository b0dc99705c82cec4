import type { Authenticator, MfaChallengeResult, MfaEnrollment, MfaVerified } from '../config/mfa.ts'
import type { FactorProof } from '../config/mfa-options.ts'
import { readChallenge, readEnrollment, readMfaToken, readProof } from '../config/mfa-options.ts'
import type { Engine } from '../engine.ts'
import { IdpError, isIdpError } from '../errors/base.ts'
import type { MfaErrorCode } from '../errors/mfa.ts'
import { MfaError } from '../errors/mfa.ts'
import { isProviderError } from '../errors/provider.ts'
import type { Exchange } from '../http/exchange.ts'
import { defined } from '../lib/objects.ts'
import { getProvider } from '../oidc/provider.ts'
import type { RequestProgress } from '../oidc/token-endpoint.ts'
import type { FactorGrant } from '../oidc/vendor/mfa.ts'
import { associate, listAuthenticators, startChallenge, verifyFactor } from '../oidc/vendor/mfa.ts'
import { provenIn } from '../session/model/authentication.ts'
import { toTokenSet } from '../session/model/session.ts'
import type { TokenSet, User } from '../session/model/session-data.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import type { MfaContext } from '../tokens/mfa-context.ts'
import { admitMfaContext, openMfaContext } from '../tokens/mfa-context.ts'
import { orMfaRequired } from '../tokens/mfa-demand.ts'
import { acceptsAuthenticator, acceptsChallenge } from '../tokens/mfa-factors.ts'
import { restoreTokenRequest } from '../tokens/token-request.ts'
import { verifyInSession } from '../tokens/verified.ts'

/*
 * Steps of a multi-factor authentication. They validate their options, so that routes need not. The exchange is needed only
 * if the `mfa_token` belongs to a session. All throw `INVALID_REQUEST` first, and `MfaError` `MFA_TOKEN_INVALID`,
 * `MFA_TOKEN_EXPIRED` and `MISSING_SESSION` without a request to the provider.
 */

/**
 * Result of `verify` for a token that was requested without a session (`customTokenExchange`,
 * `getTokenByBackchannelAuth`): its tokens are not stored.
 */
export interface MfaVerifiedTokens extends MfaVerified {
  tokenSet: TokenSet
  /** All claims of the validated ID token, if the provider sent one. */
  idTokenClaims?: User
}

/** Result of `verify`; it has a `tokenSet` if no session stores the tokens. */
export type MfaVerification = (MfaVerified & { tokenSet?: never; idTokenClaims?: never }) | MfaVerifiedTokens

/** Returns whether the `mfa_token` belongs to a session. Throws `INVALID_REQUEST`, `MFA_TOKEN_INVALID`. */
export async function belongsToSession(engine: Engine, options: unknown): Promise<boolean> {
  const { sessionKey } = await openMfaContext(engine, readMfaToken(options))
  return sessionKey !== undefined
}

async function openAdmitted(
  engine: Engine,
  exchange: Exchange | null,
  mfaToken: string,
): Promise<MfaContext> {
  const context = await openMfaContext(engine, mfaToken)
  await admitMfaContext(engine, exchange, context)
  return context
}

/** Returns the response of the MFA API; an error of the provider becomes the cause of an `MfaError`. */
async function orMfaError<T>(code: MfaErrorCode, response: Promise<T>): Promise<T> {
  try {
    return await response
  } catch (cause) {
    throw isProviderError(cause) ? new MfaError(code, { cause }) : cause
  }
}

/**
 * Returns the user's factors of the types that the provider accepts here. Also throws `MFA_GET_AUTHENTICATORS_ERROR`.
 */
export async function getAuthenticators(
  engine: Engine,
  exchange: Exchange | null,
  options: unknown,
): Promise<Authenticator[]> {
  const { requirements = {}, token } = await openAdmitted(engine, exchange, readMfaToken(options))
  const listed = listAuthenticators(getProvider(engine.config), token)
  const all = await orMfaError('MFA_GET_AUTHENTICATORS_ERROR', listed)
  return all.filter((authenticator) => acceptsAuthenticator(requirements, authenticator))
}

/**
 * Starts a challenge of the user. Throws `MFA_NO_AVAILABLE_FACTORS`, without a request, for a type that the provider
 * does not accept here, and `MFA_CHALLENGE_ERROR`.
 */
export async function challenge(
  engine: Engine,
  exchange: Exchange | null,
  options: unknown,
): Promise<MfaChallengeResult> {
  const mfaToken = readMfaToken(options)
  const request = readChallenge(options)
  const { requirements = {}, token } = await openAdmitted(engine, exchange, mfaToken)
  if (!acceptsChallenge(requirements, request.challengeType)) throw new MfaError('MFA_NO_AVAILABLE_FACTORS')
  return orMfaError('MFA_CHALLENGE_ERROR', startChallenge(getProvider(engine.config), token, request))
}

/** Starts the enrolment of a factor; its first verification completes it. Also throws `MFA_ENROLLMENT_ERROR`. */
export async function enroll(
  engine: Engine,
  exchange: Exchange | null,
  options: unknown,
): Promise<MfaEnrollment> {
  const mfaToken = readMfaToken(options)
  const request = readEnrollment(options)
  const { token } = await openAdmitted(engine, exchange, mfaToken)
  return orMfaError('MFA_ENROLLMENT_ERROR', associate(getProvider(engine.config), token, request))
}

function requestGrant(
  { config }: Engine,
  { subject, token, wanted }: MfaContext,
  proof: FactorProof,
  { session, ...progress }: RequestProgress & { readonly session?: StoredSession } = {},
): Promise<FactorGrant> {
  const proven = session && provenIn(session)
  const previous = proven?.iss === undefined ? undefined : proven
  const checks = defined({ subject, previous })
  const request = { mfaToken: token, proof, ...wanted.wireParameters, ...checks, ...progress }
  return verifyFactor(getProvider(config), request)
}

function toVerifyError(cause: unknown): unknown {
  if (isProviderError(cause)) return new MfaError('MFA_VERIFY_ERROR', { cause })
  if (isIdpError(cause, 'SESSION_EXPIRED')) return new MfaError('SESSION_EXPIRED')
  if (isIdpError(cause, 'MISSING_SESSION'))
    return new MfaError('MISSING_SESSION', { detail: 'It ended meanwhile.' })
  return cause
}

/**
 * Verifies a factor and gets the requested tokens:
 * 1. validates options, `mfa_token` and session before any request;
 * 2. throws `SESSION_NOT_WRITABLE` if the tokens belong to a session and no cookie can be written;
 * 3. sends the token request, in a session once for identical concurrent calls, and never at the same time as a refresh of
 *    the session;
 * 4. checks that an ID token is about the user of the session;
 * 5. stores the tokens in the session, as after a refresh; those of a token without a session are returned.
 *
 * Throws `INVALID_REQUEST`, and `MfaError`: `MFA_TOKEN_INVALID`, `MFA_TOKEN_EXPIRED`, `MISSING_SESSION`, `SESSION_EXPIRED`,
 * `MFA_VERIFY_ERROR` (see its `cause`; the `mfa_token` may be used again). Throws `MfaRequiredError` with a new token
 * if the provider requires one more factor.
 */
export async function verify(
  engine: Engine,
  exchange: Exchange | null,
  options: unknown,
): Promise<MfaVerification> {
  const mfaToken = readMfaToken(options)
  const proof = readProof(options)
  const context = await openMfaContext(engine, mfaToken)
  const { subject, wanted } = context
  const session = await admitMfaContext(engine, exchange, context)
  try {
    if (!session || !exchange) {
      const grant = await requestGrant(engine, context, proof)
      const { audience } = wanted.wireParameters
      return defined({
        success: true,
        recovery_code: grant.recoveryCode,
        tokenSet: toTokenSet(grant, { audience, scope: wanted.scope }),
        idTokenClaims: grant.claims ? ({ ...grant.claims } as User) : undefined,
      })
    }
    // Checked before the code is spent: without cookies the tokens would be lost.
    if (!exchange.canWrite()) throw new IdpError('SESSION_NOT_WRITABLE')
    const recoveryCode = await verifyInSession(engine, exchange, {
      session,
      want: restoreTokenRequest(engine.config.authorization, wanted, session),
      key: `${mfaToken} ${JSON.stringify(proof)}`,
      verify: (latest, progress) => requestGrant(engine, context, proof, { session: latest, ...progress }),
    })
    return defined({ success: true, recovery_code: recoveryCode })
  } catch (cause) {
    const origin = defined({ wanted, session: session ?? undefined, subject })
    throw await orMfaRequired(engine, toVerifyError(cause), origin)
  }
}
