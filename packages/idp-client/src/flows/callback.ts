import type { OnCallbackContext } from '../config/hooks.ts'
import { hashToken } from '../crypto/random.ts'
import type { Engine } from '../engine.ts'
import { IdpError, isIdpError } from '../errors/base.ts'
import { CallbackError } from '../errors/callback.ts'
import type { Exchange } from '../http/exchange.ts'
import { publicPrefix } from '../http/public-prefix.ts'
import { resolveReturnPath, safeReturnPath } from '../http/return-path.ts'
import type { TokenGrant } from '../oidc/grants.ts'
import { exchangeCode } from '../oidc/grants.ts'
import type { Provider } from '../oidc/provider.ts'
import { providerFor } from '../oidc/provider.ts'
import { fetchUserInfoClaims } from '../oidc/userinfo.ts'
import { filterDefaultIdTokenClaims } from '../session/claims.ts'
import { beforeSaved, decideCallback } from '../session/hooks.ts'
import { createSession, freshlyStored } from '../session/session.ts'
import type { SessionData, TokenSet, User } from '../session/session-data.ts'
import type { StoredSession } from '../session/stored-session.ts'
import { knownState, missingTransaction } from '../transaction/known-state.ts'
import { onlyOnce } from '../transaction/single-use.ts'
import type { StateNote } from '../transaction/state.ts'
import type { Transaction } from '../transaction/transaction.ts'

export interface CallbackInput {
  /** Query or form of the callback, as it came. */
  readonly parameters: URLSearchParams
  /** The request as the host knows it, for `onCallback`. */
  readonly request: unknown
  readonly correlationId: string
}

export type CallbackOutcome =
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'response'; readonly response: Response }
  /** `restart`: the login may begin again by itself, since only its transaction was lost. */
  | {
      readonly kind: 'failure'
      readonly error: IdpError
      readonly returnTo?: string
      readonly restart: boolean
    }

/** What one attempt came to, before anything is staged in the browser that asked. */
interface Attempt {
  readonly outcome: CallbackOutcome
  /** Present when the user is signed in by it. */
  readonly session?: StoredSession
}

type Context = Omit<OnCallbackContext, 'session' | 'error'>

const READ = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri'] as const

/** The parameters that the protocol defines for a code response, once each; all others are not even looked at. */
function callbackParameters(parameters: URLSearchParams): ReadonlyMap<string, string> {
  const read = new Map<string, string>()
  for (const name of READ) {
    const values = parameters.getAll(name)
    if (values.length > 1) throw new CallbackError('INVALID_CALLBACK', { detail: `Parameter: ${name}.` })
    if (values[0] !== undefined) read.set(name, values[0])
  }
  return read
}

function absolute(engine: Engine, baseUrl: string, returnTo: string | undefined): string {
  const wanted =
    safeReturnPath(returnTo, baseUrl) ?? safeReturnPath(engine.config.signInReturnToPath, baseUrl)
  return wanted === null
    ? baseUrl
    : resolveReturnPath(wanted, baseUrl, publicPrefix(engine.config.basePath, baseUrl))
}

function failure(error: IdpError, returnTo: string | undefined, restart = false): CallbackOutcome {
  return { kind: 'failure', error, restart, ...(returnTo === undefined ? {} : { returnTo }) }
}

/** What the provider or the person decided is nobody's fault, and no alarm. */
const DECISIONS: ReadonlySet<string> = new Set([
  'access_denied',
  'login_required',
  'interaction_required',
  'consent_required',
  'account_selection_required',
])

function report({ config }: Engine, id: string, error: IdpError): void {
  const { cause } = error
  const told = isIdpError(cause, 'OAUTH_ERROR') && 'error' in cause ? String(cause.error) : ''
  const decided = DECISIONS.has(told) ? { providerError: told } : undefined
  const level = decided ? 'info' : 'warn'
  config.log.emit({ level, code: 'LOGIN_FAILED', id, error: error.code, ...decided })
}

interface Failed {
  readonly context: Context
  readonly error: IdpError
  readonly id: string
  readonly restart?: boolean
}

/** The answer to an attempt that failed: the application's, if it has one, else the failure page. */
async function failed(
  engine: Engine,
  { context, error, id, restart = false }: Failed,
): Promise<CallbackOutcome> {
  const { appBaseUrl, returnTo } = context
  report(engine, id, error)
  try {
    const decision = await decideCallback(engine.config, { ...context, session: null, error })
    if (decision.kind === 'response') return decision
    if (decision.kind === 'default' || appBaseUrl === undefined) return failure(error, returnTo, restart)
    return { kind: 'redirect', location: absolute(engine, appBaseUrl, decision.returnTo) }
  } catch (thrown) {
    return failure(asIdpError(thrown), returnTo)
  }
}

function asIdpError(thrown: unknown): IdpError {
  return isIdpError(thrown) ? thrown : new IdpError('INTERNAL_ERROR', { cause: thrown })
}

function tokenSetOf(grant: TokenGrant, transaction: Transaction): TokenSet {
  const { audience, scope } = transaction
  return {
    accessToken: grant.accessToken,
    expiresAt: grant.expiresAt,
    token_type: grant.tokenType,
    ...(grant.idToken === undefined ? {} : { idToken: grant.idToken }),
    ...(grant.refreshToken === undefined ? {} : { refreshToken: grant.refreshToken }),
    ...(grant.scope === undefined ? {} : { scope: grant.scope }),
    ...(scope === undefined ? {} : { requestedScope: scope }),
    ...(audience === undefined ? {} : { audience }),
  }
}

/** The claims of the user: those of the ID token, over those of UserInfo if they are wanted (`fetchUserInfo`). */
async function claimsFor(
  provider: Provider,
  { accessToken, claims, tokenType }: Awaited<ReturnType<typeof exchangeCode>>,
): Promise<User> {
  if (!provider.config.fetchUserInfo) return claims
  try {
    const subject = claims.sub
    const further = await fetchUserInfoClaims(provider, { accessToken, tokenType, subject })
    return { ...filterDefaultIdTokenClaims(further), ...claims }
  } catch (error) {
    if (isIdpError(error, 'INVALID_CONFIGURATION')) throw error
    throw new CallbackError('USERINFO_ERROR', { cause: error })
  }
}

/** Steps 4 to 6 of `callback`. Touches no browser, so that a second identical request may share the result. */
async function attempt(engine: Engine, transaction: Transaction, input: CallbackInput): Promise<Attempt> {
  const { appBaseUrl, codeVerifier, maxAge, nonce, organization, redirectUri, returnTo, startedAt } =
    transaction
  const context: Context = {
    request: input.request,
    responseType: transaction.responseType,
    challengeMode: 'redirect',
    appBaseUrl,
    ...(returnTo === undefined ? {} : { returnTo }),
  }
  let complete: SessionData
  try {
    const callback = callbackParameters(input.parameters)
    const state = callback.get('state') ?? ''
    const checks = {
      redirectUri,
      codeVerifier,
      state,
      nonce,
      startedAt,
      ...(maxAge === undefined ? {} : { maxAge }),
      ...(organization === undefined ? {} : { organization }),
    }
    const provider = providerFor(engine.config)
    const grant = await exchangeCode(provider, { callback, ...checks })
    const tokenSet = tokenSetOf(grant, transaction)
    const claims = await claimsFor(provider, grant)
    complete = createSession({ claims, tokenSet, now: engine.config.clock() })
  } catch (thrown) {
    const error = asIdpError(thrown)
    return { outcome: await failed(engine, { context, error, id: input.correlationId }) }
  }
  return signIn(engine, { context, appBaseUrl, complete, id: input.correlationId })
}

interface Complete {
  readonly context: Context
  readonly appBaseUrl: string
  readonly complete: SessionData
  readonly id: string
}

/** A hook may write into what it is given, but `internal` is not its to change. */
function withOwnInternal(session: SessionData): SessionData {
  return { ...session, internal: { ...session.internal } }
}

/** The provider has spoken: the application's hooks decide, in the order `onCallback`, `beforeSessionSaved`. */
async function signIn(engine: Engine, { context, appBaseUrl, complete, id }: Complete): Promise<Attempt> {
  const { config } = engine
  try {
    const decision = await decideCallback(config, { ...context, session: withOwnInternal(complete) })
    if (decision.kind === 'response' && decision.response.status >= 400) return { outcome: decision }
    const data = await beforeSaved(config, complete, complete.tokenSet.idToken)
    const session = freshlyStored(data, data.internal.createdAt)
    if (decision.kind === 'response') return { outcome: decision, session }
    const returnTo = decision.kind === 'return-to' ? decision.returnTo : context.returnTo
    return { outcome: { kind: 'redirect', location: absolute(engine, appBaseUrl, returnTo) }, session }
  } catch (thrown) {
    const error = asIdpError(thrown)
    report(engine, id, error)
    return { outcome: failure(error, context.returnTo) }
  }
}

interface Lost {
  readonly note: StateNote
  readonly error: CallbackError
  readonly input: CallbackInput
}

/** The state is ours but its transaction is gone: whoever is signed in anyway goes on, everybody else may begin again. */
async function lost(
  engine: Engine,
  exchange: Exchange,
  { note, error, input }: Lost,
): Promise<CallbackOutcome> {
  const appBaseUrl = engine.baseUrl(exchange)
  const { returnTo } = note
  if (await engine.sessions.load(exchange)) {
    return { kind: 'redirect', location: absolute(engine, appBaseUrl, returnTo) }
  }
  const context = { request: input.request, appBaseUrl, ...(returnTo === undefined ? {} : { returnTo }) }
  // A browser that keeps no cookie would come back like this for ever.
  return failed(engine, { context, error, id: input.correlationId, restart: !note.restarted })
}

/**
 * Ends a login:
 * 1. the state must be one that we made;
 * 2. its transaction must lie in this browser; it is staged for deletion before anything else can fail;
 * 3. the same callback runs once in this process, a second identical request shares its result;
 * 4. the code goes to the provider, exactly once, and everything that comes back is checked;
 * 5. `onCallback`, then `beforeSessionSaved` decide;
 * 6. the session gets a new identity and is staged.
 * An older session is untouched unless a new one takes its place. Never throws what belongs to the login attempt.
 */
export async function callback(
  engine: Engine,
  exchange: Exchange,
  input: CallbackInput,
): Promise<CallbackOutcome> {
  let known: { state: string; note: StateNote }
  try {
    known = await knownState(engine.sealer, input.parameters)
  } catch (thrown) {
    const context = { request: input.request, appBaseUrl: engine.baseUrl(exchange) }
    return failed(engine, { context, error: asIdpError(thrown), id: input.correlationId })
  }
  const { state, note } = known
  const lookup = await engine.transactions.load(exchange, await hashToken(state))
  if (lookup.kind === 'expired') engine.transactions.clear(exchange, lookup.transaction)
  if (lookup.kind !== 'found') {
    const { host } = new URL(engine.baseUrl(exchange))
    const error = missingTransaction(engine.config, host, note, lookup)
    return lost(engine, exchange, { note, error, input })
  }
  const { transaction, sealed } = lookup
  engine.transactions.clear(exchange, transaction)
  engine.transactions.clearRestart(exchange)
  const use = { key: await hashToken(sealed, 32), request: await hashToken(`${input.parameters}`, 32) }
  const joined = await onlyOnce({ ...use, now: engine.config.clock }, () =>
    attempt(engine, transaction, input),
  )
  if (joined.kind === 'replayed') {
    const error = new CallbackError('REPLAYED_STATE')
    return lost(engine, exchange, { note, error, input })
  }
  const { outcome, session } = joined.result
  if (session) {
    await engine.sessions.save(exchange, session)
    engine.config.log.emit({ level: 'info', code: 'LOGIN_COMPLETED', id: input.correlationId })
  }
  return outcome.kind === 'response' ? { kind: 'response', response: outcome.response.clone() } : outcome
}
