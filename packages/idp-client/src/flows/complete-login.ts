import type { Engine } from '../engine.ts'
import { isIdpError } from '../errors/base.ts'
import { CallbackError } from '../errors/callback.ts'
import type { TokenGrant } from '../oidc/grants.ts'
import { exchangeCode } from '../oidc/grants.ts'
import type { Provider } from '../oidc/provider.ts'
import { providerFor } from '../oidc/provider.ts'
import { fetchUserInfoClaims } from '../oidc/userinfo.ts'
import type { Attempt } from '../session/attempt.ts'
import { asIdpError, completed, failed } from '../session/attempt.ts'
import { filterDefaultIdTokenClaims } from '../session/claims.ts'
import { beforeSaved } from '../session/hooks.ts'
import { createSession, freshlyStored } from '../session/session.ts'
import type { SessionData, TokenSet, User } from '../session/session-data.ts'
import type { Found } from '../transaction/completion.ts'
import { onceEach } from '../transaction/completion.ts'
import type { LoginTransaction } from '../transaction/transaction.ts'

/** The parameters that the protocol defines for a code response. */
const READ = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri'] as const

function tokenSetOf(grant: TokenGrant, transaction: LoginTransaction): TokenSet {
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

/** The session that the provider's answer stands for, with every claim; nothing of it is saved yet. */
async function redeemed(
  { config }: Engine,
  { parameters, transaction }: Found<LoginTransaction>,
): Promise<SessionData> {
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
  const provider = providerFor(config)
  const grant = await exchangeCode(provider, { callback, ...checks })
  const tokenSet = tokenSetOf(grant, transaction)
  const claims = await claimsFor(provider, grant)
  return createSession({ claims, tokenSet, now: config.clock() })
}

/**
 * Completes a login whose transaction was found:
 * 1. the code goes to the provider, exactly once, and everything that comes back is checked;
 * 2. `onCallback`, then `beforeSessionSaved` decide;
 * 3. the session gets a new identity and is staged in place of an older one.
 */
export async function completeLogin(engine: Engine, found: Found<LoginTransaction>): Promise<Attempt> {
  const { config, sessions } = engine
  const { context, id } = found
  let session: SessionData
  try {
    session = await redeemed(engine, found)
  } catch (thrown) {
    return { outcome: await failed(config, { context, error: asIdpError(thrown), id }) }
  }
  return completed(config, {
    context,
    id,
    session,
    prepare: async () => {
      const data = await beforeSaved(config, session, session.tokenSet.idToken)
      const stored = freshlyStored(data, data.internal.createdAt, found.transaction.asked)
      return async (exchange) => {
        await sessions.save(exchange, stored)
        config.log.emit({ level: 'info', code: 'LOGIN_COMPLETED', id })
      }
    },
  })
}
