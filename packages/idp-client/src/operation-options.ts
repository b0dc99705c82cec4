import type { FetcherOptions } from './config/fetcher.ts'
import type { ConnectedAccount } from './config/hooks.ts'
import type {
  MfaAuthenticatorsOptions,
  MfaChallengeOptions,
  MfaEnrollOptions,
  MfaVerifyOptions,
} from './config/mfa.ts'
import type { GetAccessTokenOptions } from './config/token-options.ts'
import { nearestName, printable } from './config/unknown-keys.ts'
import type { Engine } from './engine.ts'
import type { BackchannelAuthenticationOptions } from './flows/backchannel-auth.ts'
import type { ConnectAccountOptions, DeleteConnectedAccountOptions } from './flows/connected-accounts.ts'
import type { CustomTokenExchangeOptions } from './flows/exchange-token.ts'
import type { GetAccessTokenForConnectionOptions } from './flows/get-connection-token.ts'
import type { RefreshTokensOptions } from './flows/refresh-tokens.ts'
import type { Exchange } from './http/exchange.ts'
import type { ArgumentReader } from './http/host-arguments.ts'
import type { Log } from './log/log.ts'
import type { StartInteractiveLoginOptions } from './routes/start-login.ts'

type KeyOf<Options> = Options extends unknown ? keyof Options : never
/** The operations whose unknown options have no effect; those of guards throw, like those of `createFetcher`. */
interface ReportedOptions {
  readonly startInteractiveLogin: StartInteractiveLoginOptions
  readonly getAccessToken: GetAccessTokenOptions
  readonly getAccessTokenForConnection: GetAccessTokenForConnectionOptions
  readonly connectAccount: ConnectAccountOptions
  // Accepts what `listConnectedAccounts` returns.
  readonly deleteConnectedAccount: DeleteConnectedAccountOptions | ConnectedAccount
  readonly customTokenExchange: CustomTokenExchangeOptions
  readonly getTokenByBackchannelAuth: BackchannelAuthenticationOptions
  readonly refreshTokens: RefreshTokensOptions
  readonly 'mfa.getAuthenticators': MfaAuthenticatorsOptions
  readonly 'mfa.challenge': MfaChallengeOptions
  readonly 'mfa.enroll': MfaEnrollOptions
  readonly 'mfa.verify': MfaVerifyOptions
}

/** The options of each operation. */
export interface OperationOptions extends ReportedOptions {
  readonly createFetcher: FetcherOptions
}

/** How the methods of `idp.mfa` and `idp.sessions` run on the requests of one host, like those of `IdpClientBase`. */
export interface OperationRunner<FrameworkRequest, FrameworkResponse> {
  readonly read: ArgumentReader<FrameworkRequest, FrameworkResponse, OperationOptions>
  run<T>(operation: (engine: Engine) => Promise<T>): Promise<T>
  operate<T>(
    request: FrameworkRequest | undefined,
    response: FrameworkResponse | undefined,
    operation: (engine: Engine, exchange: Exchange) => Promise<T>,
  ): Promise<T>
}

/** The names of all their options. Does not compile if one is missing. */
const names: {
  readonly [Operation in keyof ReportedOptions]: Readonly<Record<KeyOf<ReportedOptions[Operation]>, true>>
} = {
  startInteractiveLogin: { authorizationParameters: true, returnTo: true, challengeMode: true },
  getAccessToken: { refresh: true, scope: true, audience: true, mergeScopes: true },
  getAccessTokenForConnection: { connection: true, login_hint: true, subject_token_type: true },
  connectAccount: { connection: true, scopes: true, authorizationParams: true, returnTo: true },
  deleteConnectedAccount: {
    id: true,
    connection: true,
    access_type: true,
    scopes: true,
    created_at: true,
    expires_at: true,
  },
  customTokenExchange: {
    subjectToken: true,
    subjectTokenType: true,
    audience: true,
    scope: true,
    organization: true,
    actorToken: true,
    actorTokenType: true,
    additionalParameters: true,
  },
  getTokenByBackchannelAuth: {
    bindingMessage: true,
    requestedExpiry: true,
    authorizationDetails: true,
    authorizationParams: true,
    signal: true,
    loginHint: true,
    loginHintToken: true,
    idTokenHint: true,
  },
  refreshTokens: { refreshToken: true, scope: true, audience: true },
  'mfa.getAuthenticators': { mfaToken: true },
  'mfa.challenge': { mfaToken: true, challengeType: true, authenticatorId: true },
  'mfa.enroll': {
    mfaToken: true,
    authenticatorTypes: true,
    oobChannels: true,
    factorType: true,
    phoneNumber: true,
    email: true,
  },
  'mfa.verify': { mfaToken: true, otp: true, oobCode: true, bindingCode: true, recoveryCode: true },
}

/** Two operations have the same option under different names. */
const ALIASES: Readonly<Record<string, string>> = {
  authorizationParams: 'authorizationParameters',
  authorizationParameters: 'authorizationParams',
}

/**
 * Reports an unknown option, once per process for each of ours that may be meant: the name may be input, so it is repeated
 * only if it resembles one of ours, and many such names cause no more events.
 */
function report(log: Log, operation: string, name: string, known: readonly string[]): void {
  const alias = ALIASES[name]
  const nearest = alias !== undefined && known.includes(alias) ? alias : nearestName(name, known)
  const meant = printable.test(name) ? nearest : undefined
  const message =
    meant === undefined
      ? `${operation} was called with an unknown option, which has no effect. Its options are ${known.join(', ')}.`
      : `${operation}: ${name} is not a known option and has no effect. Did you mean ${meant}?`
  log.once(message, 'INVALID_CONFIGURATION', `${operation}.${meant ?? ''}`)
}

/** Reports options of an operation that do not exist: a misspelt one would silently have no effect. */
export function reportUnknownOptions(log: Log, operation: string, options: unknown): void {
  const known: object | undefined = Object.hasOwn(names, operation)
    ? Reflect.get(names, operation)
    : undefined
  if (known === undefined || typeof options !== 'object' || options === null) return
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(known, name)) continue
    report(log, operation, name, Object.keys(known))
  }
}
