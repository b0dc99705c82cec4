import type { Config } from '../config/config.ts'
import type { OnCallbackAnswer, OnCallbackContext } from '../config/hooks.ts'
import type { HookName } from '../errors/callback.ts'
import { CallbackError } from '../errors/callback.ts'
import { decodeClaims, withoutProtocolClaims } from './model/claims.ts'
import type { SessionData, TokenSet } from './model/session-data.ts'
import { asJson, isSessionData } from './model/stored-session.ts'

/**
 * Prints the exception of a hook to the console in development; the error names the hook and the class of the
 * exception.
 */
async function hookThrew({ log }: Config, hook: HookName, thrown: unknown): Promise<CallbackError> {
  log.printException(thrown)
  const { toClassName: classOf } = await import('../errors/diagnosis.ts')
  const detail = `${hook} threw (${classOf(thrown)}).`
  return new CallbackError('HOOK_FAILED', { cause: thrown, hook, detail, remedy: 'HOOK_FAILED' })
}

/** The session as it is saved: by the application's hook, else without the protocol's claims. `HOOK_FAILED`. */
export async function beforeSaved(
  config: Config,
  session: SessionData,
  idToken: string | undefined,
): Promise<SessionData> {
  const hook = config.hooks.beforeSessionSaved
  if (!hook) return withoutProtocolClaims(session)
  // The hook gets a copy, so that what it changes in place cannot change `internal`.
  const given = { ...session, internal: { ...session.internal } }
  let changed: unknown
  try {
    changed = await hook(given, idToken)
  } catch (thrown) {
    throw await hookThrew(config, 'beforeSessionSaved', thrown)
  }
  const plain = asJson(changed)
  const kept = typeof plain === 'object' && plain !== null ? { ...plain, internal: session.internal } : plain
  if (isSessionData(kept)) return { ...kept, tokenSet: withOwnIdToken(kept.tokenSet, session.tokenSet) }
  throw new CallbackError('HOOK_FAILED', {
    hook: 'beforeSessionSaved',
    detail: 'beforeSessionSaved must return a session with user.sub and tokenSet, made of JSON.',
    remedy: 'HOOK_RESULT',
  })
}

/** A hook may remove the ID token, but not replace it: what it tells is what was verified. */
function withOwnIdToken(changed: TokenSet, { idToken }: TokenSet): TokenSet {
  const { idToken: given, ...tokenSet } = changed
  return given === undefined || idToken === undefined ? tokenSet : { ...tokenSet, idToken }
}

/** The claims of a refresh that the hook needs. */
export interface RefreshedClaims {
  /** The user before the refresh, as a hook once decided. */
  readonly previous: SessionData['user']
  readonly idToken?: string
  readonly claims?: { readonly [claim: string]: unknown }
}

/**
 * The session as it is saved after a refresh that brought `grant`. `session.user` holds all claims when the grant has
 * some. A hook that fails is reported; the rotated tokens are stored anyway, and the user stays as it was, since the
 * hook may be what keeps claims out.
 */
export async function afterRefresh(
  config: Config,
  session: SessionData,
  grant: RefreshedClaims,
): Promise<SessionData> {
  const unhooked = grant.claims ? withoutProtocolClaims(session) : session
  if (!config.hooks.beforeSessionSaved) return unhooked
  const known = grant.claims ? undefined : decodeClaims(session.tokenSet.idToken)
  try {
    return await beforeSaved(config, known ? { ...session, user: known } : session, grant.idToken)
  } catch (error) {
    const { asIdpError, reportOutcome } = await import('../log/failure.ts')
    reportOutcome(config.log, asIdpError(error), { level: 'error', code: 'REQUEST_FAILED' })
    return { ...session, user: grant.previous }
  }
}

/** The session as hooks see it when no ID token came: with all claims of the kept one, and what UserInfo told. */
export function withKnownClaims({ fetchUserInfo }: Config, session: SessionData): SessionData {
  const known = decodeClaims(session.tokenSet.idToken)
  if (!known) return session
  return { ...session, user: fetchUserInfo ? { ...session.user, ...known } : known }
}

/** The session as it is saved after a change that brought no ID token: without a hook nothing of it is decided anew. */
export async function runBeforeSave(config: Config, session: SessionData): Promise<SessionData> {
  if (!config.hooks.beforeSessionSaved) return session
  return beforeSaved(config, withKnownClaims(config, session), undefined)
}

export type CallbackDecision =
  | ({ readonly kind: 'go-on' } & Readonly<OnCallbackAnswer>)
  | { readonly kind: 'response'; readonly response: Response }

function isResponse(value: object): value is Response {
  return value instanceof Response || ('status' in value && 'headers' in value && 'clone' in value)
}

/* The alphabets of base64 and base64url, as the policy allows them. */
const NONCE = /^[\w+/-]+={0,2}$/

/** A body that was read, or `Response.error()`, would only show as a failure once the session is written. */
function isSendable(response: Response): boolean {
  return !response.bodyUsed && response.status >= 200
}

/** Returns the result of a hook if it is a valid one; null for anything else. */
function answerIn(result: object): OnCallbackAnswer | null {
  const { cspNonce, returnTo } = result as { readonly [Name in keyof OnCallbackAnswer]: unknown }
  if (cspNonce === undefined && returnTo === undefined) return null
  if (returnTo !== undefined && typeof returnTo !== 'string') return null
  if (cspNonce !== undefined && !(typeof cspNonce === 'string' && NONCE.test(cspNonce))) return null
  return { ...(returnTo === undefined ? {} : { returnTo }), ...(cspNonce === undefined ? {} : { cspNonce }) }
}

/**
 * Returns the decision of the application's `onCallback` about one attempt. `HOOK_FAILED` if it throws or returns an
 * invalid value.
 */
export async function decideCallback(config: Config, context: OnCallbackContext): Promise<CallbackDecision> {
  const hook = config.hooks.onCallback
  if (!hook) return { kind: 'go-on' }
  let result: unknown
  try {
    result = await hook(context)
  } catch (thrown) {
    throw await hookThrew(config, 'onCallback', thrown)
  }
  if (result === undefined || result === null) return { kind: 'go-on' }
  if (typeof result === 'object') {
    if (isResponse(result) && isSendable(result)) return { kind: 'response', response: result }
    const answer = answerIn(result)
    if (answer) return { kind: 'go-on', ...answer }
  }
  const detail =
    'onCallback must return nothing, { returnTo?: string, cspNonce?: base64 string } or a Response.'
  throw new CallbackError('HOOK_FAILED', { hook: 'onCallback', detail, remedy: 'HOOK_RESULT' })
}
