import type { AuthorizationConfig, Config } from '../config/config.ts'
import { toRequestPlace } from '../config/request-host.ts'
import { hashToken, randomToken } from '../crypto/random.ts'
import type { Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import { InvalidConfigurationError } from '../errors/configuration.ts'
import { reportLargeHead } from '../http/cookie-budget.ts'
import type { Exchange } from '../http/exchange.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { chain } from '../lib/chain.ts'
import { defined } from '../lib/defined.ts'
import { authorizationUrl, mayConfigurationSet, mayQuerySet, newCodeVerifier } from '../oidc/authorize.ts'
import { getProvider } from '../oidc/provider.ts'
import { beyondScope, coversScope, unitedScope, withoutScope } from '../session/model/scope.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { withOfferedScope } from '../tokens/offered-scope.ts'
import { mainAudience } from '../tokens/select.ts'
import { OFFLINE_ACCESS, usesDefaultScope } from '../tokens/token-request.ts'
import type { EffectiveAuthorization, ParameterChanges } from '../transaction/authorization.ts'
import {
  effectiveAuthorization,
  effectiveScope,
  extendedScope,
  isStepUpOnly,
  queryChanges,
  withGuardParameters,
} from '../transaction/authorization.ts'
import { toRedirectUri, toReturnPath } from '../transaction/destination.ts'
import type { GuardLogin } from '../transaction/guard-login.ts'
import { toGuardLogin } from '../transaction/guard-login.ts'
import type { GuardParameters } from '../transaction/guard-parameters.ts'
import { GUARD_PARAMETER, openGuardParameters } from '../transaction/guard-parameters.ts'
import { toRequestFingerprint } from '../transaction/requested-authentication.ts'
import { createState } from '../transaction/state.ts'
import type { LoginTransaction } from '../transaction/transaction.ts'

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
  readonly furtherScope?: string
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
  const furtherScope = asString(scope)
  return defined({ changes, furtherScope })
}

/** Throws `INVALID_REQUEST` unless the issuer that started the login is the configured one. */
function assertIssuer(config: Config, issuer: unknown): MaybePromise<void> {
  return chain(getProvider(config).metadata(), (metadata) => {
    if (issuer !== metadata.issuer) throw new IdpError('INVALID_REQUEST', { detail: 'Parameter: iss.' })
  })
}

const IGNORED_PARAMETERS =
  'A page of another site linked to the login route with audience or scope, which was ignored. In a route of the ' +
  'application pass them to startInteractiveLogin, or list them in crossSiteLoginParameters.'

/** Leaves out the parameters that only a link of the application itself may set. */
function withoutForeignParameters(
  { crossSiteLoginParameters: listed, log }: Config,
  parameters: ParameterChanges,
): ParameterChanges {
  const isIgnored = (name: string): boolean =>
    (name === 'audience' || name === 'scope') && !listed.includes(name)
  if (Object.keys(parameters).some(isIgnored)) log.once(IGNORED_PARAMETERS)
  return filterParameters(parameters, (name) => !isIgnored(name))
}

/** Returns the login that a guard requires, continued in the session of this request; without a guard it requires nothing. */
function openGuardLogin(engine: Engine, exchange: Exchange, sealed: unknown): MaybePromise<GuardLogin> {
  return chain(openGuardParameters(engine, sealed), (required) =>
    chain(required && engine.sessions.load(exchange), (session) =>
      toGuardLogin(engine.config, required ?? {}, session),
    ),
  )
}

/**
 * Returns the parameters from the query of the login route: those that a link may set, and the sealed ones of a guard.
 */
function requestFromQuery(
  engine: Engine,
  exchange: Exchange,
  { parameters, source }: LoginInput,
  session: StoredSession | null,
): MaybePromise<RequestedParameters> {
  const { config } = engine
  const { iss, [GUARD_PARAMETER]: sealed, ...query } = parameters
  return chain(iss === undefined ? undefined : assertIssuer(config, iss), () =>
    chain(openGuardLogin(engine, exchange, sealed), ({ linkScope: earlierScope, required: guard, tried }) => {
      const allowed = filterParameters(query, mayQuerySet)
      const isForeign = source === 'cross-site-query'
      const { scope, ...settable } = isForeign ? withoutForeignParameters(config, allowed) : allowed
      const { scope: guardScope, ...required } = guard
      const changes = queryChanges(config.authorization, settable, session !== null)
      const linkScope = unitedScope(asString(scope), earlierScope)
      const furtherScope = unitedScope(linkScope, guardScope)
      return defined({
        changes: withGuardParameters(changes, required),
        furtherScope: furtherScope === '' ? undefined : furtherScope,
        linkScope: linkScope === '' ? undefined : linkScope,
        guard,
        tried,
      })
    }),
  )
}

/**
 * Adds the audience of the session, unless another is requested: like `getAccessToken`, a popup gets a token for the
 * existing session. Forces `response_mode=query`, because the session cookie is only sent with a GET.
 */
function withPopupParameters(
  { authorization }: Config,
  session: StoredSession | null,
  { changes, ...request }: RequestedParameters,
): RequestedParameters {
  const audience =
    asString(changes['audience']) ?? (session ? mainAudience(authorization, session.data) : undefined)
  const mode = authorization.parameters.has('response_mode') ? { response_mode: 'query' } : {}
  return { ...request, changes: defined({ ...changes, audience, ...mode }) }
}

/** Returns the configuration whose default scope the provider supports, if a login for this audience uses that scope. */
function toOfferedAuthorization(
  config: Config,
  audience: string | undefined,
): MaybePromise<AuthorizationConfig> {
  if (!usesDefaultScope(config.authorization, audience)) return config.authorization
  return chain(getProvider(config).metadata(), (metadata) => withOfferedScope(config, metadata))
}

/**
 * Merges the parameters with the configured ones. Limits the default scope to the scopes that the provider supports, so it
 * may load the metadata.
 */
function mergeParameters(
  config: Config,
  { changes, furtherScope, scope: replacement }: RequestedParameters,
  session: StoredSession | null,
): MaybePromise<EffectiveAuthorization> {
  if (replacement !== undefined && replacement !== null)
    return effectiveAuthorization(config, { ...changes, scope: replacement })
  const audience = asString(changes['audience']) ?? config.authorization.audience
  return chain(toOfferedAuthorization(config, audience), (authorization) => {
    const scope = extendedScope(authorization, audience, furtherScope)
    // A refresh token for another audience would yield tokens that are mistaken for those of the session.
    const isForeign = session !== null && audience !== mainAudience(authorization, session.data)
    const requestedScope = isForeign ? withoutScope(scope, OFFLINE_ACCESS) : scope
    return effectiveAuthorization(config, { ...changes, scope: requestedScope })
  })
}

type TransactionParameters = Pick<
  LoginTransaction,
  | 'scope'
  | 'ownScope'
  | 'maxAge'
  | 'audience'
  | 'fromLink'
  | 'organization'
  | 'requestedAuthentication'
  | 'requestedAcr'
  | 'stepUpOnly'
>

interface Prepared {
  readonly authorization: EffectiveAuthorization
  /** The parameters that the callback needs. */
  readonly transaction: TransactionParameters
}

/** Returns what was requested for this login, and the parameters of its authorization request. */
function resolveAuthorization(
  engine: Engine,
  exchange: Exchange,
  input: LoginInput,
  session: StoredSession | null,
): MaybePromise<readonly [RequestedParameters, EffectiveAuthorization]> {
  const { config } = engine
  const requested =
    input.source === 'application'
      ? requestFromApplication(input)
      : requestFromQuery(engine, exchange, input, session)
  return chain(requested, (given) => {
    const parameters = input.popup === undefined ? given : withPopupParameters(config, session, given)
    return chain(mergeParameters(config, parameters, session), (merged) => [given, merged] as const)
  })
}

/** Returns the properties of the transaction that depend on who requested what: the application, a guard or a login link. */
function toOrigin(
  { authorization: configured }: Config,
  { changes, guard, linkScope }: RequestedParameters,
  { audience, parameters, scope }: EffectiveAuthorization,
): Pick<LoginTransaction, 'fromLink' | 'ownScope' | 'requestedAcr'> {
  const ownScope = beyondScope(guard ? guard.scope : scope, effectiveScope(configured, audience))
  const acr = guard ? guard.acr_values : parameters.get('acr_values')
  const isLinkAudience = guard !== undefined && changes['audience'] !== undefined
  const addsScope =
    guard !== undefined &&
    !coversScope(unitedScope(effectiveScope(configured, audience), ownScope), linkScope)
  return defined({
    ownScope: ownScope === '' ? undefined : ownScope,
    requestedAcr: acr === undefined || acr === configured.parameters.get('acr_values') ? undefined : acr,
    fromLink: isLinkAudience || addsScope ? true : undefined,
  })
}

/** Determines the parameters of the authorization request, and which of them the application itself requested. */
function prepare(engine: Engine, exchange: Exchange, input: LoginInput): MaybePromise<Prepared> {
  const { config } = engine
  return chain(input.popup === undefined ? null : engine.sessions.load(exchange), (session) =>
    chain(resolveAuthorization(engine, exchange, input, session), ([requested, authorization]) => {
      const { audience, maxAge, parameters, scope } = authorization
      const { guard, tried = [] } = requested
      const organization = parameters.get('organization')
      const origin = toOrigin(config, requested, authorization)
      const stepUpOnly =
        guard !== undefined && session !== null && isStepUpOnly(config.authorization, authorization, guard)
      const sent = defined({ parameters, ownScope: origin.ownScope })
      return chain(toRequestFingerprint(sent, effectiveAuthorization(config, {})), (fingerprint = '') => {
        const fingerprints = [fingerprint, ...tried].join(' ')
        return {
          authorization,
          transaction: defined({
            scope,
            ...origin,
            maxAge,
            audience,
            organization,
            requestedAuthentication: fingerprints === '' ? undefined : fingerprints,
            stepUpOnly: stepUpOnly ? (true as const) : undefined,
          }),
        }
      })
    }),
  )
}

function prepareTransaction(
  engine: Engine,
  exchange: Exchange,
  state: string,
  transaction: Omit<LoginTransaction, 'clientTag' | 'stateHash'>,
): MaybePromise<() => void> {
  return chain(hashToken(state), (stateHash) =>
    chain(engine.clientTag(), (clientTag) =>
      engine.transactions.prepare(exchange, { ...transaction, stateHash, clientTag }),
    ),
  )
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
    throw new InvalidConfigurationError('INVALID_CONFIGURATION', { detail })
  }
  const returnTo = toReturnPath(config, appBaseUrl, input.returnTo)
  const startedAt = config.clock()
  const place = toRequestPlace(appBaseUrl, exchange.request)
  // A restarted popup would end on a page of the application instead of closing.
  const noRestart = input.restarted || popup !== undefined ? { noRestart: true as const } : {}
  const state = await createState(engine.sealer, { issuedAt: startedAt, ...place, returnTo, ...noRestart })
  const nonce = randomToken(32)
  const codeVerifier = newCodeVerifier()
  const stageTransaction = await prepareTransaction(engine, exchange, state, {
    responseType: 'code',
    nonce,
    codeVerifier,
    redirectUri,
    appBaseUrl,
    returnTo,
    ...transaction,
    ...(popup === undefined ? {} : { popup }),
    ...(authorization.crossSitePost ? { crossSitePost: true } : {}),
    startedAt,
    expiresAt: startedAt + config.transaction.cookie.maxAge,
  })
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
