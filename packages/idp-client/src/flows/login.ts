import type { Config } from '../config/config.ts'
import { hashToken, randomToken } from '../crypto/random.ts'
import type { Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import { InvalidConfigurationError } from '../errors/configuration.ts'
import type { Exchange } from '../http/exchange.ts'
import { authorizationUrl, mayConfigurationSet, mayVisitorSet, newCodeVerifier } from '../oidc/authorize.ts'
import { getProvider } from '../oidc/provider.ts'
import { beyondScope, unitedScope, withoutScope } from '../session/model/scope.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { OFFLINE_ACCESS, usesDefaultScope } from '../tokens/default-scope.ts'
import { withOfferedScope } from '../tokens/offered-scope.ts'
import { loginAudience, mainAudience } from '../tokens/select.ts'
import type { EffectiveAuthorization, ParameterChanges } from '../transaction/authorization.ts'
import {
  effectiveAuthorization,
  effectiveScope,
  extendedScope,
  isStepUpOnly,
  visitorChanges,
  withGuardParameters,
} from '../transaction/authorization.ts'
import { toRedirectUri, toReturnPath } from '../transaction/destination.ts'
import type { GuardParameters } from '../transaction/guard-parameters.ts'
import { GUARD_PARAMETER, openGuardParameters } from '../transaction/guard-parameters.ts'
import { fingerprintOfRequest } from '../transaction/requested-authentication.ts'
import { newState } from '../transaction/state.ts'
import type { LoginTransaction } from '../transaction/transaction.ts'

export interface LoginInput {
  /** Authorization parameters of this login; what their source may not set has no effect. */
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

function allowed(given: ParameterChanges, maySet: (name: string) => boolean): ParameterChanges {
  return Object.fromEntries(Object.entries(given).filter(([name]) => maySet(name)))
}

const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** Parameters of a login on top of the configured ones. */
interface Request {
  /** Without `scope`. */
  readonly changes: ParameterChanges
  /** In place of the configured scope. */
  readonly scope?: unknown
  /** On top of the configured scope. */
  readonly furtherScope?: string
  /** The parameters among them that a guard requires. */
  readonly guard?: GuardParameters
}

/** Parameters from the application's own code. In a popup a scope is added, because its token belongs to a session. */
function ofApplication({ parameters, popup }: LoginInput): Request {
  const { scope, ...changes } = allowed(parameters, mayConfigurationSet)
  if (popup === undefined) return { changes, scope }
  const furtherScope = textIn(scope)
  return { changes, ...(furtherScope === undefined ? {} : { furtherScope }) }
}

/** Parameters from the query of the login route: those that a link may set, and those of one of our guards. */
async function ofQuery(
  engine: Engine,
  { parameters }: LoginInput,
  session: StoredSession | null,
): Promise<Request> {
  const { config } = engine
  const { iss, [GUARD_PARAMETER]: sealed, ...query } = parameters
  if (iss !== undefined && iss !== (await getProvider(config).metadata()).issuer)
    throw new IdpError('INVALID_REQUEST', { detail: 'Parameter: iss.' })
  const { scope, ...given } = allowed(query, mayVisitorSet)
  const guard = await openGuardParameters(engine, sealed)
  const { scope: guardScope, ...demanded } = guard
  const changes = visitorChanges(config.authorization, given, session !== null)
  const furtherScope = unitedScope(textIn(scope), guardScope)
  return {
    changes: withGuardParameters(changes, demanded),
    ...(furtherScope === '' ? {} : { furtherScope }),
    guard,
  }
}

/**
 * A login in a popup brings a token for the session that is there, so it asks as `getAccessToken` does: for the audience
 * of the session unless another is named. The session's cookie comes with a GET only.
 */
function inPopup(
  { authorization }: Config,
  session: StoredSession | null,
  { changes, ...request }: Request,
): Request {
  const audience =
    textIn(changes['audience']) ?? (session ? loginAudience(authorization, session) : undefined)
  const mode = authorization.parameters.has('response_mode') ? { response_mode: 'query' } : {}
  return { ...request, changes: { ...changes, ...(audience === undefined ? {} : { audience }), ...mode } }
}

/** The merged parameters, with the default scope as the provider takes it. */
async function merged(
  config: Config,
  { changes, furtherScope, scope: given }: Request,
  session: StoredSession | null,
): Promise<EffectiveAuthorization> {
  if (given !== undefined && given !== null)
    return effectiveAuthorization(config, { ...changes, scope: given })
  const audience = textIn(changes['audience']) ?? config.authorization.audience
  const authorization = usesDefaultScope(config.authorization, audience)
    ? withOfferedScope(config, await getProvider(config).metadata())
    : config.authorization
  const scope = extendedScope(authorization, audience, furtherScope)
  // A refresh token for another audience would give tokens that pass for those of the session.
  const isForeign = session !== null && audience !== mainAudience(authorization, session.data)
  const sent = isForeign ? withoutScope(scope, OFFLINE_ACCESS) : scope
  return effectiveAuthorization(config, { ...changes, scope: sent })
}

type CoveredParameters = Pick<
  LoginTransaction,
  | 'scope'
  | 'ownScope'
  | 'maxAge'
  | 'audience'
  | 'ownAudience'
  | 'organization'
  | 'requestedAuthentication'
  | 'stepUpOnly'
>

interface Prepared {
  readonly authorization: EffectiveAuthorization
  /** The values that the callback needs. */
  readonly kept: CoveredParameters
}

/** Decides what the provider is asked for, and what of that counts as the word of the application. */
async function prepare(engine: Engine, exchange: Exchange, input: LoginInput): Promise<Prepared> {
  const { config } = engine
  const isPopup = input.popup !== undefined
  const session = isPopup ? await engine.sessions.load(exchange) : null
  const isVisitor = input.source === 'visitor'
  const given = isVisitor ? await ofQuery(engine, input, session) : ofApplication(input)
  const request = isPopup ? inPopup(config, session, given) : given
  const authorization = await merged(config, request, session)
  const { audience, maxAge, parameters, scope } = authorization
  const organization = parameters.get('organization')
  const own = isVisitor ? request.guard?.scope : scope
  const ownScope = beyondScope(own, effectiveScope(config.authorization, audience))
  const requestedAuthentication = await fingerprintOfRequest(
    { parameters, ownScope },
    effectiveAuthorization(config, {}),
  )
  const stepUpOnly =
    isVisitor && session !== null && isStepUpOnly(config.authorization, authorization, request.guard)
  const kept: CoveredParameters = {
    scope,
    ...(ownScope === '' ? {} : { ownScope }),
    ...(maxAge === undefined ? {} : { maxAge }),
    ...(audience === undefined ? {} : { audience, ownAudience: true }),
    ...(organization === undefined ? {} : { organization }),
    ...(requestedAuthentication === undefined ? {} : { requestedAuthentication }),
    ...(stepUpOnly ? { stepUpOnly } : {}),
  }
  return { authorization, kept }
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
  const { authorization, kept } = await prepare(engine, exchange, input)
  const redirectUri = toRedirectUri(config, appBaseUrl, authorization.redirectUri)
  if (authorization.crossSitePost && !appBaseUrl.startsWith('https:')) {
    const detail =
      'response_mode form_post needs SameSite=None cookies, which browsers accept over https only: use an https appBaseUrl.'
    throw new InvalidConfigurationError('INVALID_CONFIGURATION', { detail })
  }
  const returnTo = toReturnPath(config, appBaseUrl, input.returnTo)
  const startedAt = config.clock()
  const host = new URL(appBaseUrl).host
  // A popup that began again would end as a page of the application.
  const restarted = input.restarted || popup !== undefined ? { restarted: true as const } : {}
  const state = await newState(engine.sealer, { issuedAt: startedAt, host, returnTo, ...restarted })
  const nonce = randomToken(32)
  const codeVerifier = newCodeVerifier()
  const url = await authorizationUrl(getProvider(engine.config), {
    parameters: authorization.parameters,
    redirectUri,
    state,
    nonce,
    codeVerifier,
  })
  await engine.transactions.save(exchange, {
    stateHash: await hashToken(state),
    responseType: 'code',
    nonce,
    codeVerifier,
    redirectUri,
    appBaseUrl,
    returnTo,
    ...kept,
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
