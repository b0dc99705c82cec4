import type { MfaVerified } from '../config/mfa.ts'
import type { FactorProof } from '../config/mfa-options.ts'
import { readMfaToken, readProof } from '../config/mfa-options.ts'
import type { Engine } from '../engine.ts'
import { IdpError, isIdpError } from '../errors/base.ts'
import { MfaError } from '../errors/mfa.ts'
import { isProviderError } from '../errors/provider.ts'
import type { Exchange } from '../http/exchange.ts'
import { defined } from '../lib/defined.ts'
import type { FactorGrant } from '../oidc/vendor/mfa.ts'
import { provenIn } from '../session/model/authentication.ts'
import type { TokenSet, User } from '../session/model/session-data.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import type { MfaContext } from '../tokens/mfa-context.ts'
import { admitMfaContext, openMfaContext } from '../tokens/mfa-context.ts'
import { orMfaRequired } from '../tokens/mfa-demand.ts'
import { restoreTokenRequest } from '../tokens/token-request.ts'
import type { Verification } from '../tokens/verified.ts'
import { verifyInSession } from '../tokens/verified.ts'

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

/** Sends the token request. The protocol code is loaded at the first verification. */
async function requestGrant(
  { config }: Engine,
  { subject, token, wanted }: MfaContext,
  proof: FactorProof,
  session?: StoredSession,
): Promise<FactorGrant> {
  const [{ verifyFactor }, { getProvider }] = await Promise.all([
    import('../oidc/vendor/mfa.ts'),
    import('../oidc/provider.ts'),
  ])
  const proven = session && provenIn(session)
  return verifyFactor(getProvider(config), {
    mfaToken: token,
    proof,
    ...wanted.wireParameters,
    ...(subject === undefined ? {} : { subject }),
    ...(proven?.iss === undefined ? {} : { previous: proven }),
  })
}

function toVerifiedTokens(grant: FactorGrant, { wanted }: MfaContext): MfaVerifiedTokens {
  const { accessToken, claims, expiresAt, idToken, refreshToken, scope, tokenType } = grant
  const { audience } = wanted.wireParameters
  return defined({
    success: true,
    recovery_code: grant.recoveryCode,
    tokenSet: defined({
      accessToken,
      expiresAt,
      token_type: tokenType,
      requestedScope: wanted.scope,
      idToken,
      refreshToken,
      scope,
      audience,
    }),
    idTokenClaims: claims ? ({ ...claims } as User) : undefined,
  })
}

async function storeTokens(
  engine: Engine,
  exchange: Exchange,
  verification: Omit<Verification, 'want'>,
  { wanted }: MfaContext,
): Promise<MfaVerification> {
  // Checked before the code is spent: without cookies the tokens would be lost.
  if (!exchange.canWrite()) throw new IdpError('SESSION_NOT_WRITABLE')
  const want = restoreTokenRequest(engine.config.authorization, wanted, verification.session)
  const recoveryCode = await verifyInSession(engine, exchange, { ...verification, want })
  return defined({ success: true, recovery_code: recoveryCode })
}

function toVerifyError(cause: unknown): unknown {
  if (isProviderError(cause)) return new MfaError('MFA_VERIFY_ERROR', { cause })
  // The session was ended elsewhere while the factor was verified.
  const isElsewhere = isIdpError(cause, 'MISSING_SESSION') && cause.name !== 'MfaError'
  return isElsewhere ? new MfaError('MISSING_SESSION') : cause
}

/**
 * Verifies a factor and gets the requested tokens:
 * 1. validates options, `mfa_token` and session before any request;
 * 2. throws `SESSION_NOT_WRITABLE` if the tokens belong to a session and no cookie can be written;
 * 3. sends the token request, once for identical concurrent calls, and never at the same time as a refresh of the
 *    session;
 * 4. checks that an ID token is about the user of the session;
 * 5. stores the tokens in the session, as after a refresh; those of a token without a session are returned.
 *
 * Throws `INVALID_REQUEST`, and `MfaError`: `MFA_TOKEN_INVALID`, `MFA_TOKEN_EXPIRED`, `MISSING_SESSION`,
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
  const session = await admitMfaContext(engine, exchange, context)
  const key = `${mfaToken} ${JSON.stringify(proof)}`
  try {
    if (!session || !exchange) return toVerifiedTokens(await requestGrant(engine, context, proof), context)
    const verification = {
      session,
      key,
      verify: (latest: StoredSession) => requestGrant(engine, context, proof, latest),
    }
    return await storeTokens(engine, exchange, verification, context)
  } catch (cause) {
    const { subject, wanted } = context
    throw await orMfaRequired(engine, toVerifyError(cause), {
      wanted,
      ...(session ? { session } : {}),
      ...(subject === undefined ? {} : { subject }),
    })
  }
}
