import type { Config } from '../config/config.ts'
import { toRequestPlace } from '../config/request-host.ts'
import { hashToken, randomToken } from '../crypto/random.ts'
import type { Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import { invalidConfiguration } from '../errors/configuration.ts'
import { reportLargeHead } from '../http/cookie-budget.ts'
import type { Exchange } from '../http/exchange.ts'
import { toReturnPath } from '../http/return-path.ts'
import { defined } from '../lib/objects.ts'
import { authorizationUrl, mayConfigurationSet, mayQuerySet, newCodeVerifier } from '../oidc/authorize.ts'
import { getProvider } from '../oidc/provider.ts'
import { provenOrganization } from '../session/model/authentication.ts'
import { coversScope, unitedScope, withoutScope } from '../session/model/scope.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { withOfferedScope } from '../tokens/offered-scope.ts'
import { mainAudience } from '../tokens/select.ts'
import { OFFLINE_ACCESS, usesDefaultScope } from '../tokens/token-request.ts'
import type { ParameterChanges } from '../transaction/authorization.ts'
import {
  effectiveScope,
  extendedScope,
  isStepUpOnly,
  queryChanges,
  toRedirectUri,
  withGuardParameters,
} from '../transaction/authorization.ts'
import type { GuardParameters, LoginRequest } from '../transaction/guard-login.ts'
import {
  GUARD_PARAMETER,
  openGuardParameters,
  toGuardLogin,
  toLoginRequest,
} from '../transaction/guard-login.ts'
import { createState } from '../transaction/state.ts'

export interface LoginInput {
  /** Authorization parameters of this login; those that `source` may not set are ignored. */
  readonly parameters: ParameterChanges
  /**
   * Origin of the parameters: the query string of a request, the same from a page of another site, or the application's
   * code.
   */
  readonly source: 'query' | 'cross-site-query' | 'application'
  /** Unvalidated path to redirect to afterwards. */
  readonly returnTo?: unknown
  /** True if this login was started automatically because a transaction was lost. Default false. */
  readonly restarted?: boolean
  /** Set for a login in a popup: the name of the channel on which the opener waits, or an empty string. */
  readonly popup?: string
  readonly correlationId: string
}

function filterParameters(parameters: ParameterChanges, maySet: (name: string) => boolean): ParameterChanges {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => maySet(name)))
}

const asString = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** Parameters of one login; they change the configured ones. */
interface RequestedParameters {
  /** Without `scope`. */
  readonly changes: ParameterChanges
  /** Replaces the configured scope. */
  readonly scope?: unknown
  /** Extends the configured scope. */
  readonly furtherScope?: string | undefined
  /** The part of `furtherScope` that a login link added, now or before. */
  readonly linkScope?: string
  /** Parameters that a guard requires; `changes` and `furtherScope` contain them. */
  readonly guard?: GuardParameters
  /** Fingerprints of the logins just before, if a guard requires this one. */
  readonly tried?: readonly string[]
}

/**
 * Returns the parameters that the application's code sets. In a popup `scope` extends the configured one, because the
 * token is added to a session.
 */
function requestFromApplication({ parameters, popup }: LoginInput): RequestedParameters {
  const { scope, ...changes } = filterParameters(parameters, mayConfigurationSet)
  if (popup === undefined) return { changes, scope }
  const furtherScope = scope ?? undefined
  if (furtherScope !== undefined && typeof furtherScope !== 'string')
    throw invalidConfiguration('authorizationParameters.scope must be a string for a popup.')
  return { changes, furtherScope }
}

const IGNORED_PARAMETERS =
  'A page of another site linked to the login route with audience or scope, which was ignored. In a route of the ' +
  'application pass them to startInteractiveLogin, or list them in crossSiteLoginParameters.'

/**
 * Returns the parameters from the query of the login route: those that a link may set, and the sealed ones of a guard, whose
 * login continues the session of this request. Throws `INVALID_REQUEST` unless the issuer that started the login is the
 * configured one.
 */
async function requestFromQuery(
  engine: Engine,
  exchange: Exchange,
  { parameters, source }: LoginInput,
  isStepUp: boolean,
): Promise<RequestedParameters> {
  const { config } = engine
  const { iss, [GUARD_PARAMETER]: sealed, ...query } = parameters
  if (iss !== undefined && iss !== (await getProvider(config).metadata()).issuer)
    throw new IdpError('INVALID_REQUEST', { detail: 'Parameter: iss.' })
  const opened = await openGuardParameters(engine, sealed)
  const guardSession = opened && (await engine.sessions.load(exchange))
  const { linkScope: earlierScope, required: guard, tried } = toGuardLogin(config, opened ?? {}, guardSession)
  // Only a link of the application itself may set them.
  const isIgnored = (name: string): boolean =>
    source === 'cross-site-query' &&
    (name === 'audience' || name === 'scope') &&
    !config.crossSiteLoginParameters.includes(name)
  if (Object.keys(query).some(isIgnored)) config.log.once(IGNORED_PARAMETERS)
  const { scope, ...settable } = filterParameters(query, (name) => mayQuerySet(name) && !isIgnored(name))
  const { scope: guardScope, ...required } = guard
  const changes = queryChanges(config.authorization, settable, isStepUp)
  const linkScope = unitedScope(asString(scope), earlierScope)
  return {
    changes: withGuardParameters(changes, required),
    furtherScope: unitedScope(linkScope, guardScope),
    linkScope,
    guard,
    tried,
  }
}

/**
 * Adds audience and organization of the session, unless others are requested: like `getAccessToken`, a popup gets a token for
 * the existing session, which keeps its organization. Forces `response_mode=query`, because the session cookie is only sent with
 * a GET.
 */
function withPopupParameters(
  { authorization }: Config,
  session: StoredSession | null,
  changes: ParameterChanges,
): ParameterChanges {
  const audience = changes['audience'] ?? (session ? mainAudience(authorization, session.data) : undefined)
  const organization = changes['organization'] ?? (session ? provenOrganization(session) : undefined)
  const hasMode = authorization.parameters.has('response_mode') || 'response_mode' in changes
  const mode = hasMode ? { response_mode: 'query' } : {}
  return defined({ ...changes, audience, organization, ...mode })
}

/**
 * Returns the scope to request. Limits the default scope to the scopes that the provider supports, so it may load the
 * metadata.
 */
async function toScope(
  config: Config,
  { changes, furtherScope, scope: replacement }: RequestedParameters,
  session: StoredSession | null,
): Promise<unknown> {
  if (replacement !== undefined && replacement !== null) return replacement
  const audience = asString(changes['audience']) ?? config.authorization.audience
  const authorization = usesDefaultScope(config.authorization, audience)
    ? withOfferedScope(config, await getProvider(config).metadata())
    : config.authorization
  // That of a further audience may lack it, since a refresh needs none; a login needs an ID token.
  const scope = extendedScope(authorization, audience, unitedScope(furtherScope, 'openid'))
  // A refresh token for another audience would yield tokens that are mistaken for those of the session.
  const isForeign = session !== null && audience !== mainAudience(authorization, session.data)
  return isForeign ? withoutScope(scope, OFFLINE_ACCESS) : scope
}

/** Returns whether a login link chose a part of the scope, or the audience. */
function isFromLink(
  { authorization: configured }: Config,
  { changes, guard, linkScope }: RequestedParameters,
  { authorization: { audience }, ownScope }: LoginRequest,
): boolean {
  if (!guard) return false
  const known = unitedScope(effectiveScope(configured, audience), ownScope)
  return changes['audience'] !== undefined || !coversScope(known, linkScope)
}

/** Determines the parameters of the authorization request, and those that the callback needs. */
async function prepare(engine: Engine, exchange: Exchange, input: LoginInput) {
  const { config } = engine
  const isPopup = input.popup !== undefined
  const session = isPopup ? await engine.sessions.load(exchange) : null
  const requested =
    input.source === 'application'
      ? requestFromApplication(input)
      : await requestFromQuery(engine, exchange, input, session !== null)
  const { guard, tried = [] } = requested
  const changes = isPopup ? withPopupParameters(config, session, requested.changes) : requested.changes
  const scope = await toScope(config, { ...requested, changes }, session)
  const request = await toLoginRequest(config, { ...changes, scope }, guard)
  const { authorization, fingerprint = '', ownScope } = request
  const { audience, maxAge, parameters } = authorization
  if (input.source === 'application' && !isPopup && !coversScope(authorization.scope, 'openid'))
    throw invalidConfiguration("authorizationParameters.scope must contain 'openid', also in a call.")
  const acr = guard ? guard.acr_values : parameters.get('acr_values')
  const isStepUp = guard && session && isStepUpOnly(config.authorization, authorization, guard)
  const transaction = defined({
    scope: authorization.scope,
    ownScope: ownScope || undefined,
    requestedAcr: acr === config.authorization.parameters.get('acr_values') ? undefined : acr,
    fromLink: isFromLink(config, requested, request) || undefined,
    maxAge,
    audience,
    organization: parameters.get('organization'),
    requestedAuthentication: [fingerprint, ...tried].join(' ') || undefined,
    stepUpOnly: isStepUp || undefined,
  })
  return { authorization, transaction }
}

/**
 * Starts a login and returns the authorization URL:
 * 1. determines the base URL of the application for this request;
 * 2. merges the parameters;
 * 3. creates state, nonce and PKCE verifier;
 * 4. encrypts the transaction: `SESSION_TOO_LARGE` if the session leaves no room for its cookie;
 * 5. builds the authorization URL from the provider's metadata, or pushes the request to the provider (PAR, RFC 9126);
 * 6. stages the transaction cookie. This comes last, so that a failure leaves none behind.
 */
export async function login(engine: Engine, exchange: Exchange, input: LoginInput): Promise<URL> {
  const { config } = engine
  const appBaseUrl = engine.baseUrl(exchange)
  const { popup } = input
  const { authorization, transaction } = await prepare(engine, exchange, input)
  const redirectUri = toRedirectUri(config, appBaseUrl, authorization.redirectUri)
  if (authorization.crossSitePost && !appBaseUrl.startsWith('https:')) {
    const detail =
      'response_mode form_post needs SameSite=None cookies, which browsers accept over https only: use an https appBaseUrl.'
    throw invalidConfiguration(detail)
  }
  const returnTo = toReturnPath(config, appBaseUrl, input.returnTo)
  const startedAt = config.clock()
  const place = toRequestPlace(appBaseUrl, exchange.request)
  // A restarted popup would end on a page of the application instead of closing.
  const noRestart = input.restarted || popup !== undefined || undefined
  const note = defined({ issuedAt: startedAt, ...place, returnTo, noRestart })
  const state = await createState(engine.sealer, note)
  const nonce = randomToken(32)
  const codeVerifier = newCodeVerifier()
  const stageTransaction = await engine.transactions.prepare(
    exchange,
    defined({
      stateHash: await hashToken(state),
      responseType: 'code',
      nonce,
      codeVerifier,
      redirectUri,
      appBaseUrl,
      returnTo,
      ...transaction,
      popup,
      crossSitePost: authorization.crossSitePost || undefined,
      startedAt,
      expiresAt: startedAt + config.transaction.cookie.maxAge,
      clientTag: await engine.clientTag(),
    }),
  )
  const url = await authorizationUrl(getProvider(engine.config), {
    parameters: authorization.parameters,
    redirectUri,
    state,
    nonce,
    codeVerifier,
  })
  stageTransaction()
  reportLargeHead(exchange.cookies, config.log.once, { location: url.href })
  const method = config.pushedAuthorizationRequests ? 'par' : 'redirect'
  const { correlationId: id } = input
  config.log.emit({ level: 'info', code: 'LOGIN_STARTED', id, method, redirectUri })
  return url
}
