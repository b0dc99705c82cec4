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
 * Steps of a multi-factor authentication before its verification; whoever asks, what was given is checked here. An exchange is needed for the session that the
 * `mfa_token` belongs to, if it belongs to one. All throw `INVALID_REQUEST` before anything else, and `MfaError`:
 * `MFA_TOKEN_INVALID`, `MFA_TOKEN_EXPIRED` and `MISSING_SESSION` without a request to the provider.
 */

/** Whether the `mfa_token` belongs to a session. Throws `INVALID_REQUEST`, `MFA_TOKEN_INVALID`. */
export async function belongsToSession(engine: Engine, options: unknown): Promise<boolean> {
  const { sessionKey } = await openMfaContext(engine, readMfaToken(options))
  return sessionKey !== undefined
}

async function admitted(engine: Engine, exchange: Exchange | null, mfaToken: string): Promise<MfaContext> {
  const context = await openMfaContext(engine, mfaToken)
  await admitMfaContext(engine, exchange, context)
  return context
}

type Api = typeof import('../oidc/mfa-api.ts')

/** Asks the MFA API, which is loaded now. */
async function asking<T>(
  { config }: Engine,
  code: MfaErrorCode,
  ask: (api: Api, provider: Provider) => Promise<T>,
): Promise<T> {
  const [api, { getProvider: providerFor }] = await Promise.all([
    import('../oidc/mfa-api.ts'),
    import('../oidc/provider.ts'),
  ])
  try {
    return await ask(api, providerFor(config))
  } catch (cause) {
    throw isProviderError(cause) ? new MfaError(code, { cause }) : cause
  }
}

/** The user's factors, of the kinds that the provider accepts here. Also throws `MFA_GET_AUTHENTICATORS_ERROR`. */
export async function getAuthenticators(
  engine: Engine,
  exchange: Exchange | null,
  options: unknown,
): Promise<Authenticator[]> {
  const { requirements = {}, token } = await admitted(engine, exchange, readMfaToken(options))
  const all = await asking(engine, 'MFA_GET_AUTHENTICATORS_ERROR', (api, provider) =>
    api.listAuthenticators(provider, token),
  )
  return all.filter((authenticator) => acceptsAuthenticator(requirements, authenticator))
}

/**
 * Has the provider challenge the user. A type that it does not accept here is `MFA_NO_AVAILABLE_FACTORS`, without a
 * request. Also throws `MFA_CHALLENGE_ERROR`.
 */
export async function challenge(
  engine: Engine,
  exchange: Exchange | null,
  options: unknown,
): Promise<MfaChallengeResult> {
  const mfaToken = readMfaToken(options)
  const asked = readChallenge(options)
  const { requirements = {}, token } = await admitted(engine, exchange, mfaToken)
  if (!acceptsChallenge(requirements, asked.challengeType)) throw new MfaError('MFA_NO_AVAILABLE_FACTORS')
  return asking(engine, 'MFA_CHALLENGE_ERROR', (api, provider) => api.startChallenge(provider, token, asked))
}

/** Begins the enrolment of a factor; its first verification completes it. Also throws `MFA_ENROLLMENT_ERROR`. */
export async function enroll(
  engine: Engine,
  exchange: Exchange | null,
  options: unknown,
): Promise<MfaEnrollment> {
  const mfaToken = readMfaToken(options)
  const asked = readEnrollment(options)
  const { token } = await admitted(engine, exchange, mfaToken)
  return asking(engine, 'MFA_ENROLLMENT_ERROR', (api, provider) => api.associate(provider, token, asked))
}
