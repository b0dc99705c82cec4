import type { Config } from '../config/config.ts'
import type { OnCallbackContext } from '../config/hooks.ts'
import { randomToken } from '../crypto/random.ts'
import { IdpError, isIdpError } from '../errors/base.ts'
import { codes } from '../errors/codes.ts'
import type { Exchange } from '../http/exchange.ts'
import type { PopupLogin, PopupUser } from '../http/popup-page.ts'
import { publicPrefix } from '../http/public-prefix.ts'
import { resolveReturnPath, safeReturnPath } from '../http/return-path.ts'
import { asIdpError, reportOutcome } from '../log/failure.ts'
import { decideCallback } from '../session/hooks.ts'
import type { SessionData } from '../session/model/session-data.ts'

/** What comes of an attempt; the route knows how each kind looks. */
export type AttemptOutcome =
  | {
      readonly kind: 'redirect'
      readonly location: string
      /** The application leads on although the attempt failed. */
      readonly error?: IdpError
      readonly cspNonce?: string
    }
  | { readonly kind: 'response'; readonly response: Response }
  | {
      readonly kind: 'failure'
      readonly error: IdpError
      readonly returnTo?: string
      /** The login may begin again by itself, since only its transaction was lost. */
      readonly restart: boolean
      /** The page of the application that began what failed, where that was no login. */
      readonly page?: string
      readonly cspNonce?: string
    }

type Redirect = Extract<AttemptOutcome, { readonly kind: 'redirect' }>
type Failure = Extract<AttemptOutcome, { readonly kind: 'failure' }>

/** What a callback is answered with. */
export type CallbackOutcome =
  | AttemptOutcome
  | {
      readonly kind: 'popup'
      readonly popup: PopupLogin
      /** Who is signed in, or why the login failed. */
      readonly told: { readonly user: PopupUser } | { readonly error: IdpError }
    }

/** What one attempt came to, before anything is staged in the browser that asked. */
export interface Attempt {
  readonly outcome: AttemptOutcome
  /** Stages what the attempt leaves behind, in every request that shares its result. */
  readonly stage?: (exchange: Exchange) => Promise<void>
}

/** What is known of an attempt whatever comes of it; `onCallback` is told all of it. */
export type AttemptContext = Omit<OnCallbackContext, 'session' | 'error'>

function absolute(config: Config, baseUrl: string, returnTo: string | undefined): string {
  const wanted = safeReturnPath(returnTo, baseUrl) ?? safeReturnPath(config.signInReturnToPath, baseUrl)
  return wanted === null
    ? baseUrl
    : resolveReturnPath(wanted, baseUrl, publicPrefix(config.basePath, baseUrl))
}

/** On to a page of the application: `returnTo` if it is one, else `signInReturnToPath`. */
export function goOn(config: Config, baseUrl: string, returnTo: string | undefined): Redirect {
  return { kind: 'redirect', location: absolute(config, baseUrl, returnTo) }
}

interface Failing {
  readonly context: AttemptContext
  readonly error: IdpError
  readonly restart?: boolean
}

function failure(config: Config, { context, error, restart = false }: Failing): Failure {
  const { appBaseUrl, responseType, returnTo } = context
  const began = responseType === 'connect_code' && appBaseUrl !== undefined
  return {
    kind: 'failure',
    error,
    restart,
    ...(returnTo === undefined ? {} : { returnTo }),
    ...(began ? { page: absolute(config, appBaseUrl, returnTo) } : {}),
  }
}

/** What the provider or the user decided is nobody's fault, and no alarm. */
const DECISIONS: ReadonlySet<string> = new Set([
  'access_denied',
  'login_required',
  'interaction_required',
  'consent_required',
  'account_selection_required',
])

export interface Failed extends Failing {
  /** Correlation id. */
  readonly id: string
}

function toLevel({ cause, code }: IdpError): 'info' | 'warn' | 'error' {
  const said = isIdpError(cause, 'OAUTH_ERROR') && 'error' in cause ? String(cause.error) : ''
  if (DECISIONS.has(said)) return 'info'
  return codes[code].status < 500 ? 'warn' : 'error'
}

function report({ log }: Config, { context, error, id }: Failed): void {
  const code = context.responseType === 'connect_code' ? 'CONNECT_FAILED' : 'LOGIN_FAILED'
  reportOutcome(log, error, { level: toLevel(error), code, id })
}

/** The answer to an attempt that failed: the application's, if it has one, else the failure page. */
export async function failed(config: Config, failing: Failed): Promise<AttemptOutcome> {
  const { context, error } = failing
  const { appBaseUrl } = context
  report(config, failing)
  try {
    const decision = await decideCallback(config, { ...context, session: null, error })
    if (decision.kind === 'response') return decision
    const { returnTo } = decision
    if (returnTo === undefined || appBaseUrl === undefined)
      return { ...failure(config, failing), ...nonceIn(decision) }
    return { ...goOn(config, appBaseUrl, returnTo), ...nonceIn(decision), error }
  } catch (thrown) {
    return brokenOff(config, { ...failing, error: asIdpError(thrown) })
  }
}

/** Whether it is `onCallback` that failed, which is not asked what to do about that. */
function isOwnFault(error: IdpError): boolean {
  return 'hook' in error && error.hook === 'onCallback'
}

function brokenOff(config: Config, failing: Failed): Failure {
  report(config, failing)
  return failure(config, failing)
}

const nonceIn = ({ cspNonce }: { readonly cspNonce?: string }): { readonly cspNonce?: string } =>
  cspNonce === undefined ? {} : { cspNonce }

interface PopupContext extends Pick<AttemptContext, 'returnTo'> {
  readonly appBaseUrl: string
  /** The name that the page which opened the popup waits under, or empty. */
  readonly popup: string
}

/** What a popup shows: it tells the page that opened it who is signed in, or why nobody is. */
export function inPopup(
  config: Config,
  { appBaseUrl, popup, returnTo }: PopupContext,
  outcome: Redirect | Failure,
  user: PopupUser | undefined,
): CallbackOutcome {
  const { cspNonce: nonce = randomToken(16), error } = outcome
  const { location: nextUrl } = outcome.kind === 'redirect' ? outcome : goOn(config, appBaseUrl, returnTo)
  const told = user && !error ? { user } : { error: error ?? new IdpError('MISSING_SESSION') }
  return { kind: 'popup', popup: { channel: popup, nonce, nextUrl }, told }
}

export interface Completed {
  readonly context: AttemptContext & { readonly appBaseUrl: string }
  /** Correlation id. */
  readonly id: string
  /** With every claim of the user. */
  readonly session: SessionData
  /** Has `beforeSessionSaved` decide and returns what is then left to stage. */
  readonly prepare: () => Promise<NonNullable<Attempt['stage']>>
}

/** A hook may write into what it is given, but `internal` is not its to change. */
function withOwnInternal(session: SessionData): SessionData {
  return { ...session, internal: { ...session.internal } }
}

/**
 * The provider has spoken: the application's hooks decide, in the order `onCallback`, `beforeSessionSaved`. What fails
 * after that is told to `onCallback` as an error, as every other failure is.
 */
export async function completed(
  config: Config,
  { context, id, session, prepare }: Completed,
): Promise<Attempt> {
  try {
    // Without the second hook it is known what will be stored: a session that cannot be is no success to tell of.
    const early = config.hooks.beforeSessionSaved ? undefined : await prepare()
    const decision = await decideCallback(config, { ...context, session: withOwnInternal(session) })
    if (decision.kind === 'response' && decision.response.status >= 400) return { outcome: decision }
    const stage = early ?? (await prepare())
    if (decision.kind === 'response') return { outcome: decision, stage }
    const { returnTo = context.returnTo } = decision
    return { outcome: { ...goOn(config, context.appBaseUrl, returnTo), ...nonceIn(decision) }, stage }
  } catch (thrown) {
    const failing = { context, error: asIdpError(thrown), id }
    return { outcome: isOwnFault(failing.error) ? brokenOff(config, failing) : await failed(config, failing) }
  }
}
