import type {
  Authenticator,
  MfaAuthenticatorsOptions,
  MfaChallengeOptions,
  MfaChallengeResult,
  MfaEnrollment,
  MfaEnrollOptions,
  MfaVerifyOptions,
} from './config/mfa.ts'
import type { Engine } from './engine.ts'
import type { MfaVerification } from './flows/mfa.ts'
import type { Exchange } from './http/exchange.ts'
import type { OperationOptions, OperationRunner } from './operation-options.ts'

/** A method of `idp.mfa` in each calling style. */
export interface MfaMethod<
  FrameworkRequest extends object,
  FrameworkResponse extends object,
  Options,
  Result,
> {
  (options: Options, request: FrameworkRequest | undefined, response?: FrameworkResponse): Promise<Result>
  (
    request: FrameworkRequest | undefined,
    response: FrameworkResponse | undefined,
    options: Options,
  ): Promise<Result>
  (request: FrameworkRequest | undefined, options: Options): Promise<Result>
  (options: Options): Promise<Result>
}

/**
 * Multi-factor authentication for a token that the provider refused with `MfaRequiredError`: `idp.mfa`. Every method
 * needs the encrypted `mfa_token` of that error, in a request of the session in which it was thrown. A token of
 * `customTokenExchange` or `getTokenByBackchannelAuth` belongs to no session and needs no request.
 *
 * Before any request to the provider, all throw `INVALID_REQUEST` for a wrong option, and `MfaError`:
 * `MFA_TOKEN_EXPIRED` after `mfaTokenTtl`, `MFA_TOKEN_INVALID` for any other token or session, `MISSING_SESSION`. The
 * `cause` of the errors below is the provider's error (`OAuthError`) or a network failure.
 *
 * @example
 * const factors = await idp.mfa.getAuthenticators({ mfaToken })
 * const { oobCode } = await idp.mfa.challenge({ mfaToken, challengeType: 'oob', authenticatorId: factors[0]?.id })
 */
export interface ServerMfaClient<
  FrameworkRequest extends object = object,
  FrameworkResponse extends object = object,
> {
  /** Returns the user's factors of the types that the provider accepts here. Throws `MFA_GET_AUTHENTICATORS_ERROR`. */
  readonly getAuthenticators: MfaMethod<
    FrameworkRequest,
    FrameworkResponse,
    MfaAuthenticatorsOptions,
    Authenticator[]
  >
  /**
   * Makes the provider send a code or a notification (`oob`), or confirm that the code of an authenticator app is
   * accepted (`otp`; this call may be left out). Throws `MFA_NO_AVAILABLE_FACTORS`, without a request, if the provider
   * accepts no such type here, and `MFA_CHALLENGE_ERROR`.
   */
  readonly challenge: MfaMethod<FrameworkRequest, FrameworkResponse, MfaChallengeOptions, MfaChallengeResult>
  /** Starts the enrolment of a factor, which its first `verify` completes. Throws `MFA_ENROLLMENT_ERROR`. */
  readonly enroll: MfaMethod<FrameworkRequest, FrameworkResponse, MfaEnrollOptions, MfaEnrollment>
  /**
   * Verifies the factor and stores the tokens in the session: those of the default audience replace the main ones,
   * those of another are added; `beforeSessionSaved` runs. The tokens of an `mfa_token` without a session are returned
   * instead. Throws `MFA_VERIFY_ERROR` (wrong code: its `cause` has the `error` `invalid_grant`, and the token may be
   * used again; not approved yet: `authorization_pending`), `MfaRequiredError` for one more factor, and
   * `SESSION_NOT_WRITABLE` where cookies cannot be set.
   */
  readonly verify: MfaMethod<FrameworkRequest, FrameworkResponse, MfaVerifyOptions, MfaVerification>
}

type Work<T> = (engine: Engine, exchange: Exchange | null, options: unknown) => Promise<T>

/** Creates `idp.mfa` for one host; its flows are loaded on first use. */
export function serverMfaClient<FrameworkRequest extends object, FrameworkResponse extends object>(
  runner: OperationRunner<FrameworkRequest, FrameworkResponse>,
): ServerMfaClient<FrameworkRequest, FrameworkResponse> {
  function method<T>(
    name: keyof OperationOptions & `mfa.${string}`,
    select: (flows: typeof import('./flows/mfa.ts')) => Work<T>,
  ) {
    return async (...args: readonly unknown[]): Promise<T> => {
      const { request, response, options } = runner.read.withOptions(name, args)
      return runner.run(async (engine) => {
        const flows = await import('./flows/mfa.ts')
        const work = select(flows)
        const needsRequest = request !== undefined || (await flows.belongsToSession(engine, options))
        if (!needsRequest) return work(engine, null, options)
        return runner.operate(request, response, (_engine, exchange) => work(engine, exchange, options))
      })
    }
  }

  return {
    getAuthenticators: method('mfa.getAuthenticators', (flows) => flows.getAuthenticators),
    challenge: method('mfa.challenge', (flows) => flows.challenge),
    enroll: method('mfa.enroll', (flows) => flows.enroll),
    verify: method('mfa.verify', (flows) => flows.verify),
  }
}
