import type { Config } from '../config/config.ts'
import type { OnCallbackContext } from '../config/hooks.ts'
import type { IdpError } from '../errors/base.ts'
import { CallbackError } from '../errors/callback.ts'
import { codes } from '../errors/codes.ts'
import { isInvalidGrant, OAuthError } from '../errors/provider.ts'
import type { Exchange } from '../http/exchange.ts'
import type { PopupLogin, PopupUser } from '../http/popup-page.ts'
import type { SafeReturnPath } from '../http/return-path.ts'
import { publicPrefix, resolveReturnPath, toReturnPath } from '../http/return-path.ts'
import { copyJson, defined } from '../lib/objects.ts'
import { asIdpError, reportOutcome } from '../log/failure.ts'
import { decideCallback } from '../session/hooks.ts'
import type { SessionData } from '../session/model/session-data.ts'
import type { Transaction } from '../transaction/transaction.ts'

/** Outcome of an attempt; the route turns it into a response. */
export type AttemptOutcome =
  | {
      readonly kind: 'redirect'
      readonly location: string
      /** Set when `onCallback` redirects although the attempt failed. */
      readonly error?: IdpError
      readonly cspNonce?: string
    }
  | { readonly kind: 'response'; readonly response: Response }
  | {
      readonly kind: 'failure'
      readonly error: IdpError
      readonly returnTo?: string
      /** The login may be restarted automatically, because only its transaction was lost. */
      readonly restart: boolean
      /** Page that started the failed attempt; unset for a login. */
      readonly page?: string
      readonly cspNonce?: string
    }

type Redirect = Extract<AttemptOutcome, { readonly kind: 'redirect' }>
type Failure = Extract<AttemptOutcome, { readonly kind: 'failure' }>

/** Outcome of a callback. */
export type CallbackOutcome =
  | AttemptOutcome
  | {
      readonly kind: 'popup'
      readonly popup: PopupLogin
      /** The signed-in user, or why the login failed. */
      readonly result: { readonly user: PopupUser } | { readonly error: IdpError }
    }

/** Result of one attempt, before anything is staged in the requesting browser. */
export interface Attempt {
  readonly outcome: AttemptOutcome
  /** Stages the changes of the attempt, in every request that shares its result. */
  readonly stage?: (exchange: Exchange) => Promise<void>
}

/** An attempt, regardless of its outcome. */
interface Begun {
  /** Passed to `onCallback`. */
  readonly context: Omit<OnCallbackContext, 'session' | 'error' | 'returnTo'> & {
    readonly appBaseUrl: string
    readonly returnTo?: SafeReturnPath
  }
  /** Correlation id. */
  readonly id: string
}

/** A callback whose transaction was found. */
export interface Found<T extends Transaction = Transaction> extends Begun {
  readonly transaction: T
  /** Query or form of the callback, unvalidated. */
  readonly parameters: URLSearchParams
}

/**
 * Completes a transaction. Returns failures of the attempt instead of throwing them. Runs once for identical requests.
 */
export type Complete = (found: Found) => Promise<Attempt>

/** Returns the named parameters and ignores all others. Throws `INVALID_CALLBACK` if one is repeated. */
export function onceEach(parameters: URLSearchParams, names: readonly string[]): ReadonlyMap<string, string> {
  const read = new Map<string, string>()
  for (const name of names) {
    const values = parameters.getAll(name)
    if (values.length > 1) throw new CallbackError('INVALID_CALLBACK', { detail: `Parameter: ${name}.` })
    if (values[0] !== undefined) read.set(name, values[0])
  }
  return read
}

/** Redirects to a page of the application; without a valid path to `signInReturnToPath`. */
export function redirectToApp(config: Config, baseUrl: string, returnTo: string | undefined): Redirect {
  const path = toReturnPath(config, baseUrl, returnTo)
  const location = resolveReturnPath(path, baseUrl, publicPrefix(config.basePath, baseUrl))
  return { kind: 'redirect', location }
}

/** Decisions of the user or the provider: expected, logged at info level. */
const DECISIONS: ReadonlySet<string | undefined> = new Set([
  'access_denied',
  'login_required',
  'interaction_required',
  'consent_required',
  'account_selection_required',
])

function toLevel({ cause, code }: IdpError): 'info' | 'warn' | 'error' {
  // In a redirect: with a status it is a response to the client, which Auth0 denies access if its secret is wrong.
  const isRedirected = cause instanceof OAuthError && cause.providerStatus === undefined
  if (isRedirected && DECISIONS.has(cause.error)) return 'info'
  // Anybody can begin a login, and come back with a code that the provider has not issued.
  const isClientError = code === 'AUTHORIZATION_CODE_GRANT_ERROR' && isInvalidGrant(cause)
  return isClientError || codes[code].status < 500 ? 'warn' : 'error'
}

/** Logs a failed attempt and returns its failure page. */
function reportFailed(config: Config, { context, id }: Begun, error: IdpError, restart = false): Failure {
  const { appBaseUrl, responseType, returnTo } = context
  const isConnection = responseType === 'connect_code'
  const code = isConnection ? 'CONNECT_FAILED' : 'LOGIN_FAILED'
  reportOutcome(config.log, error, { level: toLevel(error), code, id })
  const page = isConnection ? redirectToApp(config, appBaseUrl, returnTo).location : undefined
  return defined({ kind: 'failure', error, restart, returnTo, page })
}

/** Logs a failed attempt and returns its outcome: the decision of `onCallback`, or the failure page. */
export async function failAttempt(
  config: Config,
  begun: Begun,
  thrown: unknown,
  restart = false,
): Promise<AttemptOutcome> {
  const { context } = begun
  const error = asIdpError(thrown)
  const failure = reportFailed(config, begun, error, restart)
  try {
    const decision = await decideCallback(config, { ...context, session: null, error })
    if (decision.kind === 'response') return decision
    const { cspNonce, returnTo } = decision
    if (returnTo === undefined) return defined({ ...failure, cspNonce })
    return defined({ ...redirectToApp(config, context.appBaseUrl, returnTo), cspNonce, error })
  } catch (thrownByHook) {
    return reportFailed(config, begun, asIdpError(thrownByHook), restart)
  }
}

/** Returns a function that logs a completed attempt once, however many identical requests share its result. */
export function createReporter(
  { log }: Config,
  code: 'LOGIN_COMPLETED' | 'CONNECT_COMPLETED',
  id: string,
): () => void {
  let isReported = false
  return () => {
    if (isReported) return
    isReported = true
    log.emit({ level: 'info', code, id })
  }
}

/**
 * Runs the hooks after the provider's response, in the order `onCallback`, `beforeSessionSaved`. A later failure is
 * passed to `onCallback` as an error, like every other failure.
 *
 * @param session the session with every claim of the user.
 * @param prepare runs `beforeSessionSaved` and returns the remaining staging.
 */
export async function completeAttempt(
  config: Config,
  begun: Begun,
  session: SessionData,
  prepare: () => Promise<NonNullable<Attempt['stage']>>,
): Promise<Attempt> {
  const { context } = begun
  try {
    // Without `beforeSessionSaved` the stored session is known already: do not report success for a session that cannot
    // be stored.
    const early = config.hooks.beforeSessionSaved ? undefined : await prepare()
    // A copy: only `beforeSessionSaved` may change what is saved.
    const decision = await decideCallback(config, { ...context, session: copyJson(session) })
    if (decision.kind === 'response' && decision.response.status >= 400) return { outcome: decision }
    const stage = early ?? (await prepare())
    if (decision.kind === 'response') return { outcome: decision, stage }
    const { cspNonce, returnTo = context.returnTo } = decision
    return { outcome: defined({ ...redirectToApp(config, context.appBaseUrl, returnTo), cspNonce }), stage }
  } catch (thrown) {
    const error = asIdpError(thrown)
    // If `onCallback` itself failed, it is not called again.
    const isOnCallbackFailure = 'hook' in error && error.hook === 'onCallback'
    if (isOnCallbackFailure) return { outcome: reportFailed(config, begun, error) }
    return { outcome: await failAttempt(config, begun, error) }
  }
}
