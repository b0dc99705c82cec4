import type { Config } from '../config/config.ts'
import type { OnCallbackContext, OnCallbackResult } from '../config/hooks.ts'
import type { HookName } from '../errors/callback.ts'
import { CallbackError } from '../errors/callback.ts'
import { copyJson, defined } from '../lib/objects.ts'
import { decodeClaims, withoutProtocolClaims } from './model/claims.ts'
import type { SessionData, TokenSet, User } from './model/session-data.ts'
import type { StoredSession } from './model/stored-session.ts'
import { asJson, isSessionData } from './model/stored-session.ts'

/**
 * Prints the exception of a hook to the console in development, and returns the error to throw, which names the hook and the class
 * of the exception.
 */
async function toHookError({ log }: Config, hook: HookName, thrown: unknown): Promise<CallbackError> {
  log.printException(thrown)
  const { toClassName } = await import('../errors/diagnosis.ts')
  const detail = `${hook} threw (${toClassName(thrown)}).`
  return new CallbackError('HOOK_FAILED', { cause: thrown, hook, detail, remedy: 'HOOK_FAILED' })
}

/**
 * Returns the session to save after a login or a change: the result of `beforeSessionSaved`, or without that hook the session
 * without protocol claims. Throws `HOOK_FAILED`.
 */
export async function prepareNewSession(
  config: Config,
  session: SessionData,
  idToken: string | undefined,
): Promise<SessionData> {
  const hook = config.hooks.beforeSessionSaved
  if (!hook) return withoutProtocolClaims(session)
  // A copy: the hook may modify the session that it gets.
  const given = copyJson(session)
  let changed: unknown
  try {
    changed = await hook(given, idToken)
  } catch (thrown) {
    throw await toHookError(config, 'beforeSessionSaved', thrown)
  }
  const plain = asJson(changed)
  const kept = typeof plain === 'object' && plain !== null ? { ...plain, internal: session.internal } : plain
  if (isSessionData(kept)) return { ...kept, tokenSet: withOwnIdToken(kept.tokenSet, session.tokenSet) }
  throw new CallbackError('HOOK_FAILED', {
    hook: 'beforeSessionSaved',
    detail:
      'beforeSessionSaved must return a session with user.sub and tokenSet, made of JSON, whose tokens are as it got them or left out.',
    remedy: 'HOOK_RESULT',
  })
}

/** Undoes a replacement of the ID token, which was verified. A hook may remove it. */
function withOwnIdToken(changed: TokenSet, { idToken }: TokenSet): TokenSet {
  const { idToken: given, ...tokenSet } = changed
  return given === undefined || idToken === undefined ? tokenSet : { ...tokenSet, idToken }
}

/** The claims before and after a refresh. */
export interface RefreshedClaims {
  /** The user before the refresh, as the hook returned it then. */
  readonly previous: SessionData['user']
  readonly idToken?: string
  readonly claims?: { readonly [claim: string]: unknown }
}

/**
 * Returns the session to save after a refresh. Its user has all claims of the new ID token, if there is one. Without one, the
 * hook gets the claims of the stored ID token and those from UserInfo, but none that it has added itself: it may no longer add
 * them. If the hook fails, reports that and returns the rotated tokens with the previous user, because the hook may remove claims.
 */
export async function prepareRefreshedSession(
  config: Config,
  session: StoredSession,
  grant: RefreshedClaims,
): Promise<SessionData> {
  const { data } = session
  if (!config.hooks.beforeSessionSaved) return grant.claims ? withoutProtocolClaims(data) : data
  try {
    const given = grant.claims ? data : withKnownClaims(session)
    return await prepareNewSession(config, given, grant.idToken)
  } catch (error) {
    const { asIdpError, reportOutcome } = await import('../log/failure.ts')
    reportOutcome(config.log, asIdpError(error), { level: 'error', code: 'REQUEST_FAILED' })
    return { ...data, user: grant.previous }
  }
}

/** Returns the claims of the user that came from UserInfo. */
export const claimsFromUserInfo = ({ data, userInfoClaims = [] }: StoredSession): Partial<User> =>
  Object.fromEntries(Object.entries(data.user).filter(([name]) => userInfoClaims.includes(name)))

/** Returns the session as hooks get it without a new ID token: with all claims of the stored one and those from UserInfo. */
export function withKnownClaims(session: StoredSession): SessionData {
  const known = decodeClaims(session.data.tokenSet.idToken)
  return known ? { ...session.data, user: { ...claimsFromUserInfo(session), ...known } } : session.data
}

/** Returns the session to save after a change without a new ID token. */
export async function prepareChangedSession(config: Config, session: StoredSession): Promise<SessionData> {
  if (!config.hooks.beforeSessionSaved) return session.data
  return prepareNewSession(config, withKnownClaims(session), undefined)
}

export type CallbackDecision =
  | ({ readonly kind: 'continue' } & Readonly<OnCallbackResult>)
  | { readonly kind: 'response'; readonly response: Response }

function isResponse(value: object): value is Response {
  return value instanceof Response || ('status' in value && 'headers' in value && 'clone' in value)
}

/* The alphabets of base64 and base64url, as the policy allows them. */
const NONCE = /^[\w+/-]+={0,2}$/

/** Returns whether the response can be sent: a consumed body or `Response.error()` would fail after the session is written. */
function isSendable(response: Response): boolean {
  return !response.bodyUsed && response.status >= 200
}

/** Validates the object that `onCallback` returned. Returns null for an invalid one, such as one with a misspelled name. */
function parseCallbackResult(result: object): OnCallbackResult | null {
  const { cspNonce, returnTo, ...others } = result as { readonly [Name in keyof OnCallbackResult]: unknown }
  // Dates, maps and responses that cannot be sent have no own names. `instanceof` does not recognize those of another realm.
  if (Object.prototype.toString.call(result) !== '[object Object]') return null
  if (isResponse(result) || Object.keys(others).length > 0) return null
  if (returnTo !== undefined && typeof returnTo !== 'string') return null
  if (cspNonce !== undefined && !(typeof cspNonce === 'string' && NONCE.test(cspNonce))) return null
  return defined({ returnTo, cspNonce })
}

/** Calls `onCallback` and returns its decision. Throws `HOOK_FAILED` if the hook throws or returns an invalid value. */
export async function decideCallback(config: Config, context: OnCallbackContext): Promise<CallbackDecision> {
  const hook = config.hooks.onCallback
  if (!hook) return { kind: 'continue' }
  let result: unknown
  try {
    result = await hook(context)
  } catch (thrown) {
    throw await toHookError(config, 'onCallback', thrown)
  }
  if (result === undefined || result === null) return { kind: 'continue' }
  if (typeof result === 'object') {
    if (isResponse(result) && isSendable(result)) return { kind: 'response', response: result }
    const changes = parseCallbackResult(result)
    if (changes) return { kind: 'continue', ...changes }
  }
  const detail =
    'onCallback must return nothing, { returnTo?: string, cspNonce?: base64 string } or a Response.'
  throw new CallbackError('HOOK_FAILED', { hook: 'onCallback', detail, remedy: 'HOOK_RESULT' })
}
