import type { Authenticator, MfaChallengeResult, MfaEnrollment } from '../config/mfa.ts'
import { readChallenge, readEnrollment, readMfaToken } from '../config/mfa-options.ts'
import type { Engine } from '../engine.ts'
import type { MfaErrorCode } from '../errors/mfa.ts'
import { MfaError } from '../errors/mfa.ts'
import { isProviderError } from '../errors/provider.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Provider } from '../oidc/provider.ts'
import type { MfaContext } from '../tokens/mfa-context.ts'
import { admitMfaContext, openMfaContext } from '../tokens/mfa-context.ts'
import { acceptsAuthenticator, acceptsChallenge } from '../tokens/mfa-factors.ts'

/*
 * Steps of a multi-factor authentication before the verification. They validate their options, so that routes need not.
 * The exchange is needed only if the `mfa_token` belongs to a session. All throw `INVALID_REQUEST` first, and `MfaError`
 * `MFA_TOKEN_INVALID`, `MFA_TOKEN_EXPIRED` and `MISSING_SESSION` without a request to the provider.
 */

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

type Api = typeof import('../oidc/vendor/mfa.ts')

/** Calls the MFA API, whose code is loaded on first use. */
async function callMfaApi<T>(
  { config }: Engine,
  code: MfaErrorCode,
  call: (api: Api, provider: Provider) => Promise<T>,
): Promise<T> {
  const [api, { getProvider }] = await Promise.all([
    import('../oidc/vendor/mfa.ts'),
    import('../oidc/provider.ts'),
  ])
  try {
    return await call(api, getProvider(config))
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
  const all = await callMfaApi(engine, 'MFA_GET_AUTHENTICATORS_ERROR', (api, provider) =>
    api.listAuthenticators(provider, token),
  )
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
  return callMfaApi(engine, 'MFA_CHALLENGE_ERROR', (api, provider) =>
    api.startChallenge(provider, token, request),
  )
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
  return callMfaApi(engine, 'MFA_ENROLLMENT_ERROR', (api, provider) =>
    api.associate(provider, token, request),
  )
}
