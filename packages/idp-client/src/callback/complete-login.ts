import type { Config } from '../config/config.ts'
import type { Engine } from '../engine.ts'
import { IdpError, isIdpError } from '../errors/base.ts'
import { CallbackError } from '../errors/callback.ts'
import type { Exchange } from '../http/exchange.ts'
import { defined } from '../lib/objects.ts'
import { compareOrganization } from '../oidc/claims.ts'
import type { Provider } from '../oidc/provider.ts'
import { getProvider } from '../oidc/provider.ts'
import type { TokenGrant } from '../oidc/token-endpoint.ts'
import { exchangeCode } from '../oidc/token-endpoint.ts'
import { fetchUserInfoClaims } from '../oidc/userinfo.ts'
import { prepareNewSession } from '../session/hooks.ts'
import {
  provenIn,
  provenOrganization,
  provenSubject,
  toAuthentication,
} from '../session/model/authentication.ts'
import { decodeClaims, filterDefaultIdTokenClaims } from '../session/model/claims.ts'
import { createSession, freshlyStored, toTokenSet } from '../session/model/session.ts'
import type { User } from '../session/model/session-data.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import type { SessionCreation } from '../session/storage.ts'
import { applyRefresh } from '../tokens/apply.ts'
import { mainAudience } from '../tokens/select.ts'
import type { TokenRequest } from '../tokens/token-request.ts'
import { toTokenRequest } from '../tokens/token-request.ts'
import type { FactorTokens, Verification } from '../tokens/verified.ts'
import { verifyInSession } from '../tokens/verified.ts'
import type { LoginTransaction } from '../transaction/transaction.ts'
import type { Attempt, Found } from './attempt.ts'
import { completeAttempt, createReporter, failAttempt, onceEach } from './attempt.ts'

/** Parameters that the protocol defines for a code response, without the `state`, which has been verified. */
const CALLBACK_PARAMETERS = ['code', 'iss', 'error', 'error_description', 'error_uri'] as const

/** Every claim of the user, and the names of those that only UserInfo returned. */
interface LoginClaims {
  readonly claims: User
  readonly userInfoClaims?: readonly string[]
}

/** Returns the claims of the user: those of the ID token, which override those of UserInfo (`fetchUserInfo`). */
async function loadClaims(
  provider: Provider,
  { accessToken, claims, tokenType }: Awaited<ReturnType<typeof exchangeCode>>,
): Promise<LoginClaims> {
  if (!provider.config.fetchUserInfo) return { claims }
  try {
    const subject = claims.sub
    const fetched = await fetchUserInfoClaims(provider, { accessToken, tokenType, subject })
    const further = filterDefaultIdTokenClaims(fetched)
    const userInfoClaims = Object.keys(further).filter((name) => !Object.hasOwn(claims, name))
    return { claims: { ...further, ...claims }, userInfoClaims }
  } catch (error) {
    if (isIdpError(error, 'INVALID_CONFIGURATION')) throw error
    throw new CallbackError('USERINFO_ERROR', { cause: error })
  }
}

/** The token response, with every claim of the user. */
type Redeemed = Omit<TokenGrant, 'claims'> &
  LoginClaims & {
    /** The end of the session that its ID token sets. */
    readonly sessionExpiresAt?: number | undefined
  }

async function redeem(
  { config }: Engine,
  { parameters, transaction }: Found<LoginTransaction>,
  before: StoredSession | null,
): Promise<Redeemed> {
  const { codeVerifier, maxAge, nonce, organization: requested, redirectUri, startedAt } = transaction
  const callback = onceEach(parameters, CALLBACK_PARAMETERS)
  // The organization of the session before a popup is compared by `assertSameUser`, whose error says more.
  const organization = before && requested === provenOrganization(before) ? undefined : requested
  const checks = defined({ redirectUri, codeVerifier, nonce, startedAt, maxAge, organization })
  const provider = getProvider(config)
  const grant = await exchangeCode(provider, { callback, ...checks })
  const sessionExpiresAt =
    config.session.expiryClaim === undefined
      ? undefined
      : (await import('../session/expiry.ts')).readLoginExpiry(config, grant.idToken)
  return { ...grant, ...(await loadClaims(provider, grant)), sessionExpiresAt }
}

/** Throws `POPUP_USER_MISMATCH` if another user has signed in in the popup: it never replaces a session. */
function assertSameUser(session: StoredSession, { claims, idToken }: Redeemed): void {
  const isSame = compareOrganization(toAuthentication(decodeClaims(idToken)), provenIn(session)) === 'same'
  if (provenSubject(session) !== claims.sub || !isSame) throw new CallbackError('POPUP_USER_MISMATCH')
}

/**
 * Returns the token request of a popup. Throws `INVALID_CALLBACK` if its audience and scope are not in the transaction:
 * the tokens would be mistaken for those of the first login.
 */
function toPopupTokenRequest({ authorization }: Config, { audience, scope }: LoginTransaction): TokenRequest {
  if (scope === undefined) {
    const detail = 'Its scope and audience did not fit into the transaction cookie.'
    throw new CallbackError('INVALID_CALLBACK', { detail })
  }
  return toTokenRequest(authorization, defined({ scope, audience }))
}

/**
 * Returns what a session takes from the token response of a popup: for the session's own audience all of it, for
 * another one only the access token. ID token and refresh token belong together, and a refresh token yields tokens of
 * the audience that it was requested with.
 */
function toSessionGrant(
  { authorization }: Config,
  { data }: StoredSession,
  want: TokenRequest,
  { ownScope, ...grant }: Redeemed & Pick<LoginTransaction, 'ownScope' | 'fromLink' | 'requestedAcr'>,
): FactorTokens {
  if (want.audience === mainAudience(authorization, data)) return defined({ ...grant, ownScope })
  const { claims: _user, idToken, refreshToken: _refreshToken, userInfoClaims: _names, ...access } = grant
  return { ...access, proof: { ...decodeClaims(idToken) } }
}

/**
 * Whether the provider has ended the session that was just stored: the logout token arrived before there was a record to
 * delete. Throws `SESSION_STORE_FAILED`.
 */
async function wasEndedMeanwhile(
  { config, sessionStore }: Engine,
  { idToken }: Pick<Redeemed, 'idToken'>,
): Promise<boolean> {
  if (!sessionStore) return false
  const { iat, iss, sid, sub }: Readonly<Record<string, unknown>> = decodeClaims(idToken) ?? {}
  if (typeof iat !== 'number' || typeof iss !== 'string' || typeof sub !== 'string') return false
  const store = await sessionStore()
  const subject = defined({ iss, sub, sid: typeof sid === 'string' ? sid : undefined })
  return store.hasEndedSince(iat - config.dpop.clockSkew, subject)
}

function endedMeanwhile(): CallbackError {
  const detail = 'The provider ended its session meanwhile (back-channel logout or front-channel logout).'
  return new CallbackError('AUTHORIZATION_CODE_GRANT_ERROR', { detail })
}

/** Adds the tokens of a popup to the existing session of the same user. */
async function prepareStepUp(
  engine: Engine,
  found: Found<LoginTransaction>,
  session: StoredSession,
  redeemed: Redeemed,
): Promise<Attempt> {
  const { config, sessions } = engine
  const { id, transaction } = found
  const want = toPopupTokenRequest(config, transaction)
  const { fromLink, ownScope, requestedAcr } = transaction
  const origin = defined({ ownScope, fromLink, requestedAcr })
  const grant = toSessionGrant(config, session, want, { ...redeemed, ...origin })
  const now = config.clock()
  const verified = { ...grant, verified: true as const }
  const after = applyRefresh(session.data, { config: config.authorization, want, grant: verified, now })
  const reportCompleted = createReporter(config, 'LOGIN_COMPLETED', id)
  let saving: Promise<unknown> | undefined
  // Like a refresh, one at a time: `beforeSessionSaved` runs there, on the then current session.
  return completeAttempt(config, found, { ...after, user: redeemed.claims }, async () => async (exchange) => {
    const isJoining = saving !== undefined
    await saving
    const current = await sessions.load(exchange)
    if (current?.sessionKey !== session.sessionKey) throw new IdpError('MISSING_SESSION')
    // The loaded session has the tokens already, perhaps even newer ones.
    const isRefreshed = current.data.tokenSet.refreshToken !== session.data.tokenSet.refreshToken
    if (isJoining && isRefreshed) {
      await sessions.save(exchange, current, { found: current })
      return
    }
    const key = transaction.stateHash
    const verify: Verification['verify'] = async (_session, progress) => {
      progress?.onResponse()
      return grant
    }
    saving = verifyInSession(engine, exchange, { session: current, want, key, verify })
    await saving
    // Only a session that took the new ID token belongs to the provider's session of the popup.
    if (await wasEndedMeanwhile(engine, grant)) {
      await sessions.destroy(exchange)
      throw endedMeanwhile()
    }
    reportCompleted()
  })
}

/**
 * Returns the staging of a new session, for every request that shares its login; it keeps no reference to the first
 * request.
 */
function stageNewSession(
  engine: Engine,
  stored: StoredSession,
  grant: Redeemed,
  id: string,
): NonNullable<Attempt['stage']> {
  const { config, sessions } = engine
  const reportCompleted = createReporter(config, 'LOGIN_COMPLETED', id)
  const creation: SessionCreation = {}
  return async (exchange) => {
    // False if the session ended before an identical callback shared it: the page then requires a login.
    const isSaved = await sessions.save(exchange, stored, { mustFit: true, creation })
    try {
      if (await wasEndedMeanwhile(engine, grant)) throw endedMeanwhile()
    } catch (error) {
      // The new session is not in use yet. If the store fails, the provider may have ended it.
      await sessions.destroy(exchange)
      throw error
    }
    if (isSaved) reportCompleted()
  }
}

/** Creates a new session, which replaces an older one. */
async function prepareLogin(
  engine: Engine,
  exchange: Exchange,
  found: Found<LoginTransaction>,
  grant: Redeemed,
): Promise<Attempt> {
  const { config, sessions } = engine
  const { id, transaction } = found
  const tokenSet = toTokenSet(grant, transaction)
  const { claims, sessionExpiresAt } = grant
  const session = createSession({ claims, tokenSet, now: config.clock(), sessionExpiresAt })
  // Before the hook, which may remove the ID token.
  const { requestedAcr } = transaction
  const authentication = defined({ ...provenIn({ data: session }), requestedAcr })
  return completeAttempt(config, found, session, async () => {
    const data = await prepareNewSession(config, session, tokenSet.idToken)
    const { userInfoClaims } = grant
    const origin = { ...transaction, ...(userInfoClaims ? { userInfoClaims } : {}) }
    const stored = { ...freshlyStored(data, data.internal.createdAt, origin), authentication }
    // Saving checks the size again: here only so that `onCallback` does not see a session that cannot be stored.
    if (config.hooks.onCallback) await sessions.assertFits?.(exchange, stored)
    return stageNewSession(engine, stored, grant, id)
  })
}

/**
 * Completes a login:
 * 1. redeems the code, exactly once, and validates the response;
 * 2. runs `onCallback`, then `beforeSessionSaved`;
 * 3. stages the session under a new identity, in place of an older one. After a login in a popup, the session of the
 *    same user keeps its identity and gets the new tokens; that of another user is unchanged.
 */
export async function completeLogin(
  engine: Engine,
  exchange: Exchange,
  found: Found<LoginTransaction>,
): Promise<Attempt> {
  const { transaction } = found
  try {
    const before = transaction.popup === undefined ? null : await engine.sessions.load(exchange)
    if (transaction.stepUpOnly && !before) throw new IdpError('MISSING_SESSION')
    const grant = await redeem(engine, found, before)
    if (!before) return await prepareLogin(engine, exchange, found, grant)
    assertSameUser(before, grant)
    return await prepareStepUp(engine, found, before, grant)
  } catch (thrown) {
    return { outcome: await failAttempt(engine.config, found, thrown) }
  }
}
