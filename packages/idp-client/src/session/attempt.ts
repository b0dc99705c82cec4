import type { Config } from '../config/config.ts'
import type { OnCallbackContext } from '../config/hooks.ts'
import { IdpError, isIdpError } from '../errors/base.ts'
import type { Exchange } from '../http/exchange.ts'
import { publicPrefix } from '../http/public-prefix.ts'
import { resolveReturnPath, safeReturnPath } from '../http/return-path.ts'
import { decideCallback } from './hooks.ts'
import type { SessionData } from './session-data.ts'

/** What a callback is answered with; the route knows how each kind looks. */
export type CallbackOutcome =
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'response'; readonly response: Response }
  | {
      readonly kind: 'failure'
      readonly error: IdpError
      readonly returnTo?: string
      /** The login may begin again by itself, since only its transaction was lost. */
      readonly restart: boolean
      /** The page of the application that began what failed, where that was no login. */
      readonly page?: string
    }

/** What one attempt came to, before anything is staged in the browser that asked. */
export interface Attempt {
  readonly outcome: CallbackOutcome
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
export function goOn(config: Config, baseUrl: string, returnTo: string | undefined): CallbackOutcome {
  return { kind: 'redirect', location: absolute(config, baseUrl, returnTo) }
}

interface Failing {
  readonly context: AttemptContext
  readonly error: IdpError
  readonly restart?: boolean
}

function failure(config: Config, { context, error, restart = false }: Failing): CallbackOutcome {
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

export function asIdpError(thrown: unknown): IdpError {
  return isIdpError(thrown) ? thrown : new IdpError('INTERNAL_ERROR', { cause: thrown })
}

/** What the provider or the person decided is nobody's fault, and no alarm. */
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

function report({ log }: Config, { context, error, id }: Failed): void {
  const { cause } = error
  const told = isIdpError(cause, 'OAUTH_ERROR') && 'error' in cause ? String(cause.error) : ''
  const decided = DECISIONS.has(told) ? { providerError: told } : undefined
  const level = decided ? 'info' : 'warn'
  const code = context.responseType === 'connect_code' ? 'CONNECT_FAILED' : 'LOGIN_FAILED'
  log.emit({ level, code, id, error: error.code, ...decided })
}

/** The answer to an attempt that failed: the application's, if it has one, else the failure page. */
export async function failed(config: Config, failing: Failed): Promise<CallbackOutcome> {
  const { context, error } = failing
  const { appBaseUrl } = context
  report(config, failing)
  try {
    const decision = await decideCallback(config, { ...context, session: null, error })
    if (decision.kind === 'response') return decision
    if (decision.kind === 'default' || appBaseUrl === undefined) return failure(config, failing)
    return goOn(config, appBaseUrl, decision.returnTo)
  } catch (thrown) {
    return failure(config, { context, error: asIdpError(thrown) })
  }
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

/** The provider has spoken: the application's hooks decide, in the order `onCallback`, `beforeSessionSaved`. */
export async function completed(
  config: Config,
  { context, id, session, prepare }: Completed,
): Promise<Attempt> {
  try {
    const decision = await decideCallback(config, { ...context, session: withOwnInternal(session) })
    if (decision.kind === 'response' && decision.response.status >= 400) return { outcome: decision }
    const stage = await prepare()
    if (decision.kind === 'response') return { outcome: decision, stage }
    const returnTo = decision.kind === 'return-to' ? decision.returnTo : context.returnTo
    return { outcome: goOn(config, context.appBaseUrl, returnTo), stage }
  } catch (thrown) {
    const error = asIdpError(thrown)
    report(config, { context, error, id })
    return { outcome: failure(config, { context, error }) }
  }
}
