import type { Config } from '../config/config.ts'
import type { ResourceConfig } from '../config/resource.ts'
import { checkAudience } from '../config/resource.ts'
import type { Application, Engine } from '../engine.ts'
import { IdpError, isIdpError } from '../errors/base.ts'
import type { Code } from '../errors/code.ts'
import { OAuthError } from '../errors/provider.ts'
import type { AccessTokenExchangeOptions } from '../flows/exchange-access-token.ts'
import type { Exchange } from '../http/exchange.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { chain } from '../lib/chain.ts'
import { defined } from '../lib/objects.ts'
import { reportRefusal } from '../log/refusal.ts'
import { verifyAccessToken } from '../oidc/access-token.ts'
import type { AccessTokenContent, VerifiedAccessToken } from '../oidc/access-token-claims.ts'
import type { Provider } from '../oidc/provider.ts'
import { getProvider, getPublicProvider } from '../oidc/provider.ts'
import { supportedAlgorithms } from '../oidc/signed-token.ts'
import { coversScope, unitedScope } from '../session/model/scope.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { mainAudience } from '../tokens/select.ts'
import { effectiveScope } from '../transaction/authorization.ts'
import type { Accepted } from './accept.ts'
import type { Auth, TokenAuth } from './auth.ts'
import { checkBinding, newNonce } from './binding.ts'
import type { LoginParameters } from './check-session.ts'
import { checkSession, toSessionAuth } from './check-session.ts'
import type { SentCredential } from './credential.ts'
import { readCredential } from './credential.ts'
import { isCrossSite, isForeignOrigin } from './cross-site.ts'
import type { AuthResult } from './guards.ts'
import type { Scheme } from './rejection.ts'
import { rejection, toChallenge, UNMET_CODES, unmetParameters } from './rejection.ts'
import type { Requirements, Unmet } from './requirements.ts'
import { findUnmet, isAuthorized, mainScope, toGrantedScope } from './requirements.ts'

/** The guard of an API that accepts access tokens. */
interface Guard {
  readonly accepted: Accepted
  readonly requirements: Requirements
}

type ChallengeParameters = Readonly<Record<string, string | undefined>>

/** Returns a challenge of this guard, with the URL of the metadata of its API; never without a parameter (RFC 6750 section 3). */
function challengeOf(
  { accepted }: Guard,
  scheme: Scheme,
  code: Code | undefined,
  parameters: ChallengeParameters,
): string {
  const { metadata } = accepted.resources.find((resource) => resource.metadata) ?? {}
  const algs = scheme === 'DPoP' ? supportedAlgorithms.join(' ') : undefined
  const known = defined({ resource_metadata: metadata?.url, ...parameters, algs })
  const isBare = code === undefined && Object.keys(known).length === 0
  return toChallenge(scheme, code, isBare ? { realm: accepted.resources[0]?.audience } : known)
}

const toScope = ({ requirements: { scope } }: Guard): ChallengeParameters => ({ scope: scope?.join(' ') })

/** Rejects a request with a credential. */
function reject(guard: Guard, code: Code, scheme: Scheme = 'Bearer'): AuthResult {
  const challenge = challengeOf(guard, scheme, code, toScope(guard))
  return { response: rejection(code, { challenge }) }
}

/** Rejects a request without credential: a client may use either scheme, as its tokens demand. */
function rejectAnonymous(guard: Guard): AuthResult {
  const schemes = ['Bearer', 'DPoP'] as const
  const challenges = schemes.map((scheme) => challengeOf(guard, scheme, undefined, toScope(guard)))
  return { response: rejection('NOT_AUTHENTICATED', { challenge: challenges.join(', ') }) }
}

/** Seconds after which a client should repeat a request whose token could not be verified. */
const RETRY_AFTER = 5
/** The longest time that the provider may demand for that. */
const LONGEST_RETRY = 300

/** Rejects a request whose token could not be verified, which is no fault of its sender. */
function rejectUndecided(error: IdpError): AuthResult {
  const response = rejection(error.code, { status: 503 })
  const retryAfter = (error instanceof OAuthError && error.retryAfter) || 0
  response.headers.set('retry-after', String(Math.max(RETRY_AFTER, Math.min(retryAfter, LONGEST_RETRY))))
  return { response }
}

function toTokenAuth(application: Application, token: string, content: AccessTokenContent): TokenAuth {
  // In this order: V8 needs microseconds to add properties to those of a spread object.
  return Object.freeze({
    kind: 'token',
    token,
    exchange: async (options: AccessTokenExchangeOptions) => {
      const { exchangeAccessToken } = await import('../flows/exchange-access-token.ts')
      return exchangeAccessToken(application.engine(), token, options)
    },
    ...content,
  })
}

function verify(
  application: Application,
  token: string,
  { resources }: Accepted,
): MaybePromise<VerifiedAccessToken> {
  const { config } = application.apiEngine()
  // Again: the client id may have been missing when the resource was created.
  for (const each of resources) checkAudience(each, config.idTokenAudiences)
  const client = (): Provider => getProvider(application.engine().config)
  return verifyAccessToken({ provider: getPublicProvider(config), resources, client }, token)
}

/** Checks that a verified token may be sent by the sender of the request. */
function checkSender(
  application: Application,
  exchange: Exchange,
  { scheme, token }: SentCredential,
  { binding, resource }: VerifiedAccessToken,
): MaybePromise<void> {
  // Other resources of the guard may allow more pages.
  if (isForeignOrigin(application, exchange, resource.origins)) throw new IdpError('CROSS_SITE_REQUEST')
  return checkBinding(application, exchange, { scheme, token, binding, resource })
}

/** Rejects a caller that does not meet a requirement. */
function rejectUnmet(
  unmet: Unmet,
  guard: Guard,
  { login, scheme = 'Bearer', scope }: RejectedCaller = {},
): AuthResult {
  const code = UNMET_CODES[unmet]
  const parameters = unmetParameters(unmet, guard.requirements, scope)
  const challenge = parameters && challengeOf(guard, scheme, code, parameters)
  return { response: rejection(code, { challenge, login }) }
}

interface RejectedCaller {
  readonly login?: LoginParameters | undefined
  readonly scheme?: Scheme
  readonly scope?: string
}

/** Lets the caller pass if `authorize` returns true. Throws what it throws. */
function authorized(auth: Auth, requirements: Requirements): MaybePromise<AuthResult> {
  const passed = { auth, session: auth.session }
  if (!requirements.authorize) return passed
  return chain(
    isAuthorized(requirements, () => auth),
    (isAllowed): AuthResult => (isAllowed ? passed : { response: rejection('ACCESS_DENIED') }),
  )
}

/** Errors that say nothing about the token, only that the provider does not respond. */
const PROVIDER_ERRORS: readonly string[] = ['DiscoveryError', 'OAuthError']

/** Errors of the sender, which are 401. */
const SENDER_CODES: readonly Code[] = ['INVALID_TOKEN', 'INVALID_DPOP_PROOF', 'USE_DPOP_NONCE']

/** Rejects a request by the error of its token. Throws an error that says nothing about the token. */
async function rejectToken(
  application: Application,
  thrown: unknown,
  scheme: Scheme,
  guard: Guard,
): Promise<AuthResult> {
  if (!isIdpError(thrown)) throw thrown
  const { code, name } = thrown
  const isUndecided = PROVIDER_ERRORS.includes(name) || code === 'TOKEN_UNDECIDED'
  if (code === 'CROSS_SITE_REQUEST') return { response: rejection(code) }
  if (!isUndecided && !SENDER_CODES.includes(code)) throw thrown
  // Every client begins without a nonce.
  if (code !== 'USE_DPOP_NONCE') reportRefusal(application.apiEngine().config, thrown)
  const result = isUndecided ? rejectUndecided(thrown) : reject(guard, code, scheme)
  if (code === 'USE_DPOP_NONCE')
    result.response?.headers.set('dpop-nonce', await newNonce(application.engine()))
  return result
}

async function checkToken(
  application: Application,
  exchange: Exchange,
  sent: SentCredential,
  guard: Guard,
): Promise<AuthResult> {
  const { accepted, requirements } = guard
  const { scheme, token } = sent
  let auth: TokenAuth
  try {
    const verified = await verify(application, token, accepted)
    const proven = checkSender(application, exchange, sent, verified)
    if (proven) await proven
    auth = toTokenAuth(application, token, verified.content)
  } catch (thrown) {
    return await rejectToken(application, thrown, scheme, guard)
  }
  const { claims, scope } = auth
  const unmet = findUnmet(
    requirements,
    { authentications: [claims], organization: claims, scope },
    application.apiEngine().config,
  )
  return unmet ? rejectUnmet(unmet, guard, { scheme, scope }) : authorized(auth, requirements)
}

/** Returns the scope that was granted to a session for an API: by its login, or for a further audience. */
function grantedScope(
  { authorization }: Config,
  session: StoredSession,
  { audience }: ResourceConfig,
): string {
  const own = effectiveScope(authorization, audience)
  const further = (session.data.accessTokens ?? []).filter((entry) => entry.audience === audience)
  const main = mainAudience(authorization, session.data) === audience ? mainScope(session, own) : ''
  return unitedScope(main, ...further.map((entry) => toGrantedScope(entry, own)))
}

/** Returns the login that can obtain the required scope: there is one only if logins request the audience of a resource. */
async function loginForScope(
  engine: Engine,
  exchange: Exchange,
  { accepted, requirements }: Guard,
  session: StoredSession,
): Promise<LoginParameters | undefined> {
  const main = mainAudience(engine.config.authorization, session.data)
  if (!accepted.resources.some(({ audience }) => audience === main)) return undefined
  const { login } = await checkSession(engine, exchange, requirements)
  return login
}

async function checkCookie(engine: Engine, exchange: Exchange, guard: Guard): Promise<AuthResult> {
  const { accepted, requirements } = guard
  const { scope = [], ...others } = requirements
  const verdict = await checkSession(engine, exchange, others)
  if (verdict.kind === 'unauthenticated') return rejectAnonymous(guard)
  // Only then: a client on a page of another origin needs the challenge, and has no cookie.
  if (isCrossSite(engine, exchange)) return { response: rejection('CROSS_SITE_REQUEST') }
  if (verdict.kind !== 'granted') return rejectUnmet(verdict.unmet, guard, { login: verdict.login })
  const scopes = accepted.resources.map((resource) => grantedScope(engine.config, verdict.session, resource))
  const granted = scopes.find((each) => coversScope(each, scope.join(' ')))
  if (granted === undefined) {
    const login = await loginForScope(engine, exchange, guard, verdict.session)
    return rejectUnmet('scope', guard, { login })
  }
  return authorized({ ...toSessionAuth(verdict.session), scope: granted }, requirements)
}

/**
 * Decides about a request by its access token, or if it has none by its session. A token decides alone: a session never rescues
 * a bad one. Throws if that cannot be decided for another reason than the provider.
 */
export function checkAccepted(
  application: Application,
  exchange: Exchange,
  guard: Guard,
): MaybePromise<AuthResult> {
  const { accepted } = guard
  if (isForeignOrigin(application, exchange, accepted.origins))
    return { response: rejection('CROSS_SITE_REQUEST') }
  const credential = readCredential(exchange.request)
  if (credential === 'malformed') return reject(guard, 'INVALID_REQUEST')
  if (credential) return checkToken(application, exchange, credential, guard)
  return accepted.session ? checkCookie(application.engine(), exchange, guard) : rejectAnonymous(guard)
}
