import { hashToken, randomToken } from '../crypto/random.ts'
import type { Engine } from '../engine.ts'
import { InvalidConfigurationError } from '../errors/configuration.ts'
import type { Exchange } from '../http/exchange.ts'
import { authorizationUrl, mayConfigurationSet, mayVisitorSet, newCodeVerifier } from '../oidc/authorize.ts'
import { providerFor } from '../oidc/provider.ts'
import { unitedScope, withoutScope } from '../tokens/scope.ts'
import { mainAudience } from '../tokens/select.ts'
import { askedFor } from '../transaction/asked.ts'
import type { ParameterChanges } from '../transaction/authorization.ts'
import { effectiveAuthorization, effectiveScope } from '../transaction/authorization.ts'
import { redirectUriFor, returnPathFor } from '../transaction/destination.ts'
import { newState } from '../transaction/state.ts'

export interface LoginInput {
  /** Authorization parameters of this login; what their source may not set is dropped. */
  readonly parameters: ParameterChanges
  /** Who asks: somebody's query string, or the application's own code. */
  readonly source: 'visitor' | 'application'
  /** Where to go afterwards, as it came from outside. */
  readonly returnTo?: unknown
  /** It begins by itself, in place of one whose transaction was lost. Default false. */
  readonly restarted?: boolean
  /** It runs in a popup: the name that the page which opened it waits under, or empty. */
  readonly popup?: string
  readonly correlationId: string
}

function allowed({ parameters, source }: LoginInput): ParameterChanges {
  const maySet = source === 'visitor' ? mayVisitorSet : mayConfigurationSet
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => maySet(name)))
}

/**
 * A login in a popup brings a token for the session that is there, so it asks as `getAccessToken` does: for the audience
 * of the session unless another is named, and with the scope on top of the configured one. A refresh token for another
 * audience would give tokens that pass for those of the session, so none is asked for. The session's cookie comes with a
 * GET only.
 */
async function forStepUp(
  engine: Engine,
  exchange: Exchange,
  changes: ParameterChanges,
): Promise<ParameterChanges> {
  const { authorization } = engine.config
  const session = await engine.sessions.load(exchange)
  const main = session ? mainAudience(authorization, session.data) : authorization.audience
  const audience = typeof changes['audience'] === 'string' ? changes['audience'] : main
  const further = typeof changes['scope'] === 'string' ? changes['scope'] : undefined
  const scope = unitedScope(effectiveScope(authorization, audience), further)
  const isForeign = session !== null && audience !== main
  return {
    ...changes,
    ...(audience === undefined ? {} : { audience }),
    scope: isForeign ? withoutScope(scope, 'offline_access') : scope,
    ...(authorization.parameters.has('response_mode') ? { response_mode: 'query' } : {}),
  }
}

/**
 * Begins a login:
 * 1. finds out where the application lives for this request;
 * 2. merges the parameters;
 * 3. makes state, nonce and PKCE verifier;
 * 4. builds the authorization URL from the provider's metadata, or has the provider keep the request (PAR);
 * 5. stages the transaction cookie, last, so that a failure leaves none behind.
 */
export async function login(engine: Engine, exchange: Exchange, input: LoginInput): Promise<URL> {
  const { config } = engine
  const appBaseUrl = engine.baseUrl(exchange)
  const { popup } = input
  const changes = allowed(input)
  const sent = popup === undefined ? changes : await forStepUp(engine, exchange, changes)
  const authorization = effectiveAuthorization(config, sent)
  const redirectUri = redirectUriFor(config, appBaseUrl, authorization.redirectUri)
  if (authorization.crossSitePost && !appBaseUrl.startsWith('https:')) {
    const detail =
      'response_mode form_post needs SameSite=None cookies, which browsers accept over https only: use an https appBaseUrl.'
    throw new InvalidConfigurationError('INVALID_CONFIGURATION', { detail })
  }
  const returnTo = returnPathFor(config, appBaseUrl, input.returnTo)
  const startedAt = config.clock()
  const host = new URL(appBaseUrl).host
  // A popup that began again would end as a page of the application.
  const restarted = input.restarted || popup !== undefined ? { restarted: true as const } : {}
  const state = await newState(engine.sealer, { issuedAt: startedAt, host, returnTo, ...restarted })
  const nonce = randomToken(32)
  const codeVerifier = newCodeVerifier()
  const url = await authorizationUrl(providerFor(engine.config), {
    parameters: authorization.parameters,
    redirectUri,
    state,
    nonce,
    codeVerifier,
  })
  const { audience, maxAge, scope } = authorization
  const organization = authorization.parameters.get('organization')
  const asked = await askedFor(changes)
  await engine.transactions.save(exchange, {
    stateHash: await hashToken(state),
    responseType: 'code',
    nonce,
    codeVerifier,
    redirectUri,
    appBaseUrl,
    returnTo,
    scope,
    ...(maxAge === undefined ? {} : { maxAge }),
    ...(audience === undefined ? {} : { audience }),
    ...(organization === undefined ? {} : { organization }),
    ...(asked === undefined ? {} : { asked }),
    ...(popup === undefined ? {} : { popup }),
    ...(authorization.crossSitePost ? { crossSitePost: true } : {}),
    startedAt,
    expiresAt: startedAt + config.transaction.cookie.maxAge,
    client: await engine.client(),
  })
  const method = config.pushedAuthorizationRequests ? 'par' : 'redirect'
  const { correlationId: id } = input
  config.log.emit({ level: 'info', code: 'LOGIN_STARTED', id, method, redirectUri })
  return url
}
