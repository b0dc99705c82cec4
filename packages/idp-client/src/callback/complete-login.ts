import type { Config } from '../config/config.ts'
import type { Engine } from '../engine.ts'
import { IdpError, isIdpError } from '../errors/base.ts'
import { CallbackError } from '../errors/callback.ts'
import type { Exchange } from '../http/exchange.ts'
import { asIdpError } from '../log/failure.ts'
import type { TokenGrant } from '../oidc/grants.ts'
import { exchangeCode } from '../oidc/grants.ts'
import { isSameOrganization } from '../oidc/organization.ts'
import type { Provider } from '../oidc/provider.ts'
import { getProvider } from '../oidc/provider.ts'
import { fetchUserInfoClaims } from '../oidc/userinfo.ts'
import { beforeSaved } from '../session/hooks.ts'
import { provenIn, toAuthentication } from '../session/model/authentication.ts'
import { decodeClaims, filterDefaultIdTokenClaims } from '../session/model/claims.ts'
import { createSession, freshlyStored } from '../session/model/session.ts'
import type { TokenSet, User } from '../session/model/session-data.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { applyRefresh } from '../tokens/apply.ts'
import { mainAudience } from '../tokens/select.ts'
import type { TokenRequest } from '../tokens/token-request.ts'
import { toTokenRequest } from '../tokens/token-request.ts'
import type { FactorTokens } from '../tokens/verified.ts'
import { verifyInSession } from '../tokens/verified.ts'
import type { LoginTransaction } from '../transaction/transaction.ts'
import type { Attempt } from './attempt.ts'
import { completed, failed } from './attempt.ts'
import type { Found } from './completion.ts'
import { onceEach } from './completion.ts'

/** The parameters that the protocol defines for a code response. */
const READ = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri'] as const

function toTokenSet(grant: Omit<TokenGrant, 'claims'>, transaction: LoginTransaction): TokenSet {
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
async function loadClaims(
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

/** What the provider's answer brings, with every claim of the user. */
type Redeemed = Omit<TokenGrant, 'claims'> & { readonly claims: User }

async function redeem(
  { config }: Engine,
  { parameters, transaction }: Found<LoginTransaction>,
): Promise<Redeemed> {
  const { codeVerifier, maxAge, nonce, organization, redirectUri, startedAt } = transaction
  const callback = onceEach(parameters, READ)
  const checks = {
    redirectUri,
    codeVerifier,
    state: callback.get('state') ?? '',
    nonce,
    startedAt,
    ...(maxAge === undefined ? {} : { maxAge }),
    ...(organization === undefined ? {} : { organization }),
  }
  const provider = getProvider(config)
  const grant = await exchangeCode(provider, { callback, ...checks })
  return { ...grant, claims: await loadClaims(provider, grant) }
}

/** Whom a popup steps up; null where nobody is signed in. `POPUP_USER_MISMATCH`: it takes nobody's place. */
function steppedUp(session: StoredSession | null, { claims, idToken }: Redeemed): StoredSession | null {
  if (!session) return null
  const proven = provenIn(session)
  const isSame = isSameOrganization(toAuthentication(decodeClaims(idToken)), proven)
  if ((proven.sub ?? session.data.user.sub) !== claims.sub || !isSame)
    throw new CallbackError('POPUP_USER_MISMATCH')
  return session
}

/** What the tokens of a popup are for; without that they would pass for those of the first login. */
function wantIn({ authorization }: Config, { audience, scope }: LoginTransaction): TokenRequest {
  if (scope === undefined) {
    const detail = 'Its scope and audience did not fit into the transaction cookie.'
    throw new CallbackError('INVALID_CALLBACK', { detail })
  }
  return toTokenRequest(authorization, { scope, ...(audience === undefined ? {} : { audience }) })
}

/**
 * What of a popup goes to a session: for its own audience all of it, for another one the access token alone. ID token
 * and refresh token belong together, and a refresh token gives tokens for the audience that it was asked for with.
 */
function findSharedGrant(
  { authorization }: Config,
  { data }: StoredSession,
  want: TokenRequest,
  { ownScope, ...grant }: Redeemed & Pick<LoginTransaction, 'ownScope'>,
): FactorTokens {
  if (want.audience === mainAudience(authorization, data))
    return { ...grant, ...(ownScope === undefined ? {} : { ownScope }) }
  const { claims: _user, idToken, refreshToken: _refreshToken, ...access } = grant
  return { ...access, proof: { ...decodeClaims(idToken) } }
}

/**
 * Ends a session that was just stored, and throws, when the provider has ended it meanwhile: its logout token came before
 * there was a record to delete.
 */
async function assertNotEnded(
  { config, sessions }: Engine,
  exchange: Exchange,
  { idToken }: Pick<Redeemed, 'idToken'>,
): Promise<void> {
  const { sessionStore: store } = config
  const { iat, iss, sid }: Readonly<Record<string, unknown>> = decodeClaims(idToken) ?? {}
  if (!store || typeof iat !== 'number' || typeof iss !== 'string' || typeof sid !== 'string') return
  const { wasEnded } = await import('../session/store/ended-at-provider.ts')
  const issuedAt = Math.floor(iat - config.dpop.clockSkew)
  try {
    if (!(await wasEnded(store, { iss, sid, issuedAt }, config.clock()))) return
    const detail = 'The provider ended its session meanwhile (back-channel logout).'
    throw new CallbackError('AUTHORIZATION_CODE_GRANT_ERROR', { detail })
  } catch (error) {
    await sessions.destroy(exchange)
    throw error
  }
}

/** The session of the same user goes on with the tokens that a popup brought. */
async function stepUp(
  engine: Engine,
  { context, id, transaction }: Found<LoginTransaction>,
  session: StoredSession,
  redeemed: Redeemed,
): Promise<Attempt> {
  const { config, sessions } = engine
  const want = wantIn(config, transaction)
  const { ownScope } = transaction
  const grant = findSharedGrant(config, session, want, {
    ...redeemed,
    ...(ownScope === undefined ? {} : { ownScope }),
  })
  const now = config.clock()
  const after = applyRefresh(session.data, { config: config.authorization, want, grant, now })
  let keeping: Promise<unknown> | undefined
  return completed(config, {
    context,
    id,
    session: { ...after, user: redeemed.claims },
    // Like a refresh, in turn with all others: `beforeSessionSaved` runs there, on what the session is by then.
    prepare: async () => async (exchange) => {
      const isJoining = keeping !== undefined
      await keeping
      const current = await sessions.load(exchange)
      if (current?.sessionKey !== session.sessionKey) throw new IdpError('MISSING_SESSION')
      // Led to a successor that has the tokens, and perhaps newer ones by now.
      const isLed = current.data.tokenSet.refreshToken !== session.data.tokenSet.refreshToken
      if (isJoining && isLed) {
        await sessions.save(exchange, current)
        return
      }
      const verification = { session: current, want, name: transaction.stateHash, verify: async () => grant }
      keeping = verifyInSession(engine, exchange, verification)
      await keeping
      // Only a session that took the new ID token belongs to the provider's session of the popup.
      await assertNotEnded(engine, exchange, grant)
      config.log.emit({ level: 'info', code: 'LOGIN_COMPLETED', id })
    },
  })
}

/** Writes a new session in every request that shares its login; holds nothing of the first one. */
function storing(
  engine: Engine,
  stored: StoredSession,
  grant: Redeemed,
  id: string,
): NonNullable<Attempt['stage']> {
  const { config, sessions } = engine
  return async (exchange) => {
    await sessions.save(exchange, stored, { mustFit: true })
    await assertNotEnded(engine, exchange, grant)
    config.log.emit({ level: 'info', code: 'LOGIN_COMPLETED', id })
  }
}

/** A session of its own for whoever has logged in, in place of an older one. */
async function begin(
  engine: Engine,
  exchange: Exchange,
  { context, id, transaction }: Found<LoginTransaction>,
  grant: Redeemed,
): Promise<Attempt> {
  const { config, sessions } = engine
  const tokenSet = toTokenSet(grant, transaction)
  const session = createSession({ claims: grant.claims, tokenSet, now: config.clock() })
  // Before the hook, which may remove the ID token.
  const authentication = provenIn({ data: session })
  return completed(config, {
    context,
    id,
    session,
    prepare: async () => {
      const data = await beforeSaved(config, session, tokenSet.idToken)
      const stored = { ...freshlyStored(data, data.internal.createdAt, transaction), authentication }
      await sessions.assertFits?.(exchange, stored)
      return storing(engine, stored, grant, id)
    },
  })
}

/**
 * Completes a login whose transaction was found:
 * 1. the code goes to the provider, exactly once, and everything that comes back is checked;
 * 2. `onCallback`, then `beforeSessionSaved` decide;
 * 3. the session gets a new identity and is staged in place of an older one; after a login in a popup that of the same
 *    user keeps its identity and gets new tokens, and that of another user stays as it was.
 */
export async function completeLogin(
  engine: Engine,
  exchange: Exchange,
  found: Found<LoginTransaction>,
): Promise<Attempt> {
  const { context, id, transaction } = found
  try {
    const before = transaction.popup === undefined ? null : await engine.sessions.load(exchange)
    if (transaction.stepUpOnly && !before) throw new IdpError('MISSING_SESSION')
    const grant = await redeem(engine, found)
    const session = steppedUp(before, grant)
    return await (session ? stepUp(engine, found, session, grant) : begin(engine, exchange, found, grant))
  } catch (thrown) {
    return { outcome: await failed(engine.config, { context, error: asIdpError(thrown), id }) }
  }
}
