import type { Config } from '../config/config.ts'
import type { OnCallbackContext } from '../config/hooks.ts'
import { randomToken } from '../crypto/random.ts'
import { IdpError, isIdpError } from '../errors/base.ts'
import { codes } from '../errors/codes.ts'
import type { Exchange } from '../http/exchange.ts'
import type { PopupLogin, PopupUser } from '../http/popup-page.ts'
import type { SafeReturnPath } from '../http/return-path.ts'
import { publicPrefix, resolveReturnPath } from '../http/return-path.ts'
import { defined } from '../lib/defined.ts'
import { asIdpError, reportOutcome } from '../log/failure.ts'
import { decideCallback } from '../session/hooks.ts'
import type { SessionData } from '../session/model/session-data.ts'
import { toReturnPath } from '../transaction/destination.ts'

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

/** Context of an attempt, regardless of its outcome; passed to `onCallback`. */
export interface AttemptContext extends Omit<OnCallbackContext, 'session' | 'error' | 'returnTo'> {
  readonly returnTo?: SafeReturnPath
}

function toReturnUrl(config: Config, baseUrl: string, returnTo: SafeReturnPath | undefined): string {
  const path = returnTo ?? toReturnPath(config, baseUrl, undefined)
  return resolveReturnPath(path, baseUrl, publicPrefix(config.basePath, baseUrl))
}

/** Redirects to a page of the application, by default to `signInReturnToPath`. */
export function redirectToApp(
  config: Config,
  baseUrl: string,
  returnTo: SafeReturnPath | undefined,
): Redirect {
  return { kind: 'redirect', location: toReturnUrl(config, baseUrl, returnTo) }
}

interface FailureContext {
  readonly context: AttemptContext
  readonly error: IdpError
  readonly restart?: boolean
}

function failure(config: Config, { context, error, restart = false }: FailureContext): Failure {
  const { appBaseUrl, responseType, returnTo } = context
  const isConnection = responseType === 'connect_code' && appBaseUrl !== undefined
  return defined({
    kind: 'failure',
    error,
    restart,
    returnTo,
    page: isConnection ? toReturnUrl(config, appBaseUrl, returnTo) : undefined,
  })
}

/** Decisions of the user or the provider: expected, logged at info level. */
const DECISIONS: ReadonlySet<string> = new Set([
  'access_denied',
  'login_required',
  'interaction_required',
  'consent_required',
  'account_selection_required',
])

export interface FailedAttempt extends FailureContext {
  /** Correlation id. */
  readonly id: string
}

function toLevel({ cause, code }: IdpError): 'info' | 'warn' | 'error' {
  const oauthError = isIdpError(cause, 'OAUTH_ERROR') && 'error' in cause ? String(cause.error) : ''
  if (DECISIONS.has(oauthError)) return 'info'
  return codes[code].status < 500 ? 'warn' : 'error'
}

function report({ log }: Config, { context, error, id }: FailedAttempt): void {
  const code = context.responseType === 'connect_code' ? 'CONNECT_FAILED' : 'LOGIN_FAILED'
  reportOutcome(log, error, { level: toLevel(error), code, id })
}

/** Logs a failed attempt and returns its outcome: the decision of `onCallback`, or the failure page. */
export async function failAttempt(config: Config, failing: FailedAttempt): Promise<AttemptOutcome> {
  const { context, error } = failing
  const { appBaseUrl } = context
  report(config, failing)
  try {
    const decision = await decideCallback(config, { ...context, session: null, error })
    if (decision.kind === 'response') return decision
    if (decision.returnTo === undefined || appBaseUrl === undefined)
      return { ...failure(config, failing), ...pickNonce(decision) }
    const returnTo = toReturnPath(config, appBaseUrl, decision.returnTo)
    return { ...redirectToApp(config, appBaseUrl, returnTo), ...pickNonce(decision), error }
  } catch (thrown) {
    return reportAsFailure(config, { ...failing, error: asIdpError(thrown) })
  }
}

/** Returns whether `onCallback` itself failed; it is then not called again. */
function isOnCallbackFailure(error: IdpError): boolean {
  return 'hook' in error && error.hook === 'onCallback'
}

function reportAsFailure(config: Config, failing: FailedAttempt): Failure {
  report(config, failing)
  return failure(config, failing)
}

const pickNonce = ({ cspNonce }: { readonly cspNonce?: string }): { readonly cspNonce?: string } =>
  cspNonce === undefined ? {} : { cspNonce }

interface PopupContext extends Pick<AttemptContext, 'returnTo'> {
  readonly appBaseUrl: string
  /** Name of the channel on which the opener of the popup waits, or an empty string. */
  readonly popup: string
}

/** Creates the outcome of a popup, which posts the signed-in user or the error to its opener. */
export function toPopupOutcome(
  config: Config,
  { appBaseUrl, popup, returnTo }: PopupContext,
  outcome: Redirect | Failure,
  user: PopupUser | undefined,
): CallbackOutcome {
  const { cspNonce: nonce = randomToken(16), error } = outcome
  const { location: nextUrl } =
    outcome.kind === 'redirect' ? outcome : redirectToApp(config, appBaseUrl, returnTo)
  const result = user && !error ? { user } : { error: error ?? new IdpError('MISSING_SESSION') }
  return { kind: 'popup', popup: { channel: popup, nonce, nextUrl }, result }
}

export interface CompletedAttempt {
  readonly context: AttemptContext & { readonly appBaseUrl: string }
  /** Correlation id. */
  readonly id: string
  /** The session with every claim of the user. */
  readonly session: SessionData
  /** Runs `beforeSessionSaved` and returns the remaining staging. */
  readonly prepare: () => Promise<NonNullable<Attempt['stage']>>
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

/** Copies `internal`: a hook may modify the session that it gets, but not `internal`. */
function withOwnInternal(session: SessionData): SessionData {
  return { ...session, internal: { ...session.internal } }
}

/**
 * Runs the hooks after the provider's response, in the order `onCallback`, `beforeSessionSaved`. A later failure is
 * passed to `onCallback` as an error, like every other failure.
 */
export async function completeAttempt(
  config: Config,
  { context, id, session, prepare }: CompletedAttempt,
): Promise<Attempt> {
  try {
    // Without `beforeSessionSaved` the stored session is known already: do not report success for a session that cannot
    // be stored.
    const early = config.hooks.beforeSessionSaved ? undefined : await prepare()
    const decision = await decideCallback(config, { ...context, session: withOwnInternal(session) })
    if (decision.kind === 'response' && decision.response.status >= 400) return { outcome: decision }
    const stage = early ?? (await prepare())
    if (decision.kind === 'response') return { outcome: decision, stage }
    const { appBaseUrl } = context
    const returnTo =
      decision.returnTo === undefined ? context.returnTo : toReturnPath(config, appBaseUrl, decision.returnTo)
    return {
      outcome: { ...redirectToApp(config, appBaseUrl, returnTo), ...pickNonce(decision) },
      stage,
    }
  } catch (thrown) {
    const failing = { context, error: asIdpError(thrown), id }
    return {
      outcome: isOnCallbackFailure(failing.error)
        ? reportAsFailure(config, failing)
        : await failAttempt(config, failing),
    }
  }
}
