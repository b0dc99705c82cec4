import type { Config } from '../config/config.ts'
import { checkAudience } from '../config/resource.ts'
import type { Engine } from '../engine.ts'
import { isIdpError } from '../errors/base.ts'
import type { Code } from '../errors/code.ts'
import { codes } from '../errors/codes.ts'
import type { Exchange, RequestView } from '../http/exchange.ts'
import { reportFailure, reportOutcome } from '../log/failure.ts'
import { selectByAudience, verifyAccessToken } from '../oidc/access-token.ts'
import { isOfOrganization, toVerificationClock } from '../oidc/claims.ts'
import { getProvider } from '../oidc/provider.ts'
import { coversScope, unitedScope } from '../session/model/scope.ts'
import type { SessionData } from '../session/model/session-data.ts'
import { mainAudience } from '../tokens/select.ts'
import type { Accepted } from './accept.ts'
import type { Auth, TokenAuth } from './auth.ts'
import { checkSession, toSessionAuth } from './check-session.ts'
import type { AuthResult } from './guards.ts'
import { rejection, toChallenge, UNMET_CODES } from './rejection.ts'
import type { Requirements, Unmet } from './requirements.ts'
import { hasMethods, isOfContext, isRecent, withoutPrototype } from './requirements.ts'
import type { Resource } from './resource.ts'

/** The guard of an API that accepts access tokens. */
interface Guard {
  readonly accepted: Accepted
  readonly requirements: Requirements
}

type Credential =
  | { readonly kind: 'bearer'; readonly token: string }
  | { readonly kind: 'none' }
  /** A scheme of other code, such as the Basic authentication of a staging server. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'bound' }
  | { readonly kind: 'malformed' }

/** One credential of RFC 6750 section 2.1; a list of several has a comma, which a token cannot have. */
const CREDENTIAL = /^(?:bearer|dpop) +([\w.~+/-]+=*)$/i

/** Reads the header `Authorization`; tokens in a query or a form are never read. */
function readCredential({ headers }: RequestView): Credential {
  const header = headers.get('authorization')?.trim()
  if (header === undefined || header === null) return { kind: 'none' }
  const token = CREDENTIAL.exec(header)?.[1]
  if (token === undefined)
    return { kind: /(?:^|[\s,])(?:bearer|dpop)(?:[\s,]|$)/i.test(header) ? 'malformed' : 'foreign' }
  return /^dpop/i.test(header) ? { kind: 'bound' } : { kind: 'bearer', token }
}

/** Returns the challenge of RFC 6750 section 3. Values need no escaping: scopes and messages cannot contain quotes. */
function bearerChallenge(code: Code | undefined, scope: readonly string[] = []): string {
  const error = code && `error="${code.toLowerCase()}", error_description="${codes[code].message}"`
  const scopes = scope.length > 0 ? `scope="${scope.join(' ')}"` : undefined
  const parameters = [error, scopes].filter(Boolean).join(', ')
  return parameters === '' ? 'Bearer' : `Bearer ${parameters}`
}

function reject(code: Code, challenge: string, status: number = codes[code].status): AuthResult {
  return { response: rejection(status, code, undefined, challenge) }
}

/** Seconds after which a client should repeat a request whose token could not be verified. */
const RETRY_AFTER = '5'

/** Rejects a request whose token could not be verified, because metadata or keys of the provider could not be loaded. */
function unavailable(engine: Engine, thrown: unknown, code: Code): AuthResult {
  reportFailure(engine.config.log, thrown)
  const response = rejection(503, code)
  response.headers.set('retry-after', RETRY_AFTER)
  return { response }
}

async function verify(engine: Engine, token: string, resources: Accepted['resources']): Promise<TokenAuth> {
  const { config } = engine
  for (const resource of resources) checkAudience(resource.config, config.clientId)
  const { config: resource } = selectByAudience(token, resources) ?? resources[0]
  const content = await verifyAccessToken(getProvider(config), token, resource)
  return Object.freeze({ kind: 'token', ...content, token })
}

/** Returns the first requirement that the claims of a token do not meet; a claim that is missing meets none. */
function findUnmet(config: Config, requirements: Requirements, { claims, scope }: TokenAuth): Unmet | null {
  const { acr, amr, maxAge, organization } = requirements
  const own = withoutPrototype(claims)
  const { now, tolerance } = toVerificationClock(config)
  const isAuthenticated =
    (maxAge === undefined || isRecent(own, maxAge, { now, tolerance })) &&
    (!acr || isOfContext(own, acr)) &&
    (!amr || hasMethods(own, amr))
  if (!isAuthenticated) return 'authentication'
  if (organization && !organization.some((one) => isOfOrganization(config, own, one))) return 'organization'
  return coversScope(scope, requirements.scope?.join(' ')) ? null : 'scope'
}

/** Challenges for all scopes that the client needs then: those of the operation, and those that its token has. */
function rejectUnmet(unmet: Unmet, requirements: Requirements, scope: string): AuthResult {
  const code = UNMET_CODES[unmet]
  if (unmet !== 'scope')
    return { response: rejection(codes[code].status, code, undefined, toChallenge(unmet, requirements)) }
  return reject(code, bearerChallenge(code, unitedScope(...(requirements.scope ?? []), scope).split(' ')))
}

/** Lets the request pass if `authorize` returns true. Throws what it throws. */
async function authorized(auth: Auth, { authorize }: Requirements): Promise<AuthResult> {
  if (authorize && (await authorize(auth)) !== true)
    return { response: rejection(codes.ACCESS_DENIED.status, 'ACCESS_DENIED') }
  return { auth, session: auth.session }
}

async function checkToken(
  engine: Engine,
  token: string,
  { accepted, requirements }: Guard,
): Promise<AuthResult> {
  const { config } = engine
  let auth: TokenAuth
  try {
    auth = await verify(engine, token, accepted.resources)
  } catch (thrown) {
    if (isIdpError(thrown) && thrown.name === 'DiscoveryError')
      return unavailable(engine, thrown, thrown.code)
    if (!isIdpError(thrown, 'INVALID_TOKEN')) throw thrown
    reportOutcome(config.log, thrown, { level: 'info', code: 'REQUEST_FAILED' })
    return reject('INVALID_TOKEN', bearerChallenge('INVALID_TOKEN', requirements.scope))
  }
  const unmet = findUnmet(config, requirements, auth)
  return unmet ? rejectUnmet(unmet, requirements, auth.scope) : authorized(auth, requirements)
}

const READING_METHODS = ['GET', 'HEAD', 'OPTIONS']

/**
 * Returns whether a request with a cookie may come from a page of another site. A browser that sends a cookie with a write names
 * its origin; a request that names none comes from no page.
 */
function isCrossSite(engine: Engine, exchange: Exchange): boolean {
  const { headers, method } = exchange.request
  const { sameSite } = engine.config.session.cookie
  if (READING_METHODS.includes(method) && sameSite !== 'none') return false
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  if (site !== null && site !== 'same-origin') return true
  return origin !== null && origin !== new URL(engine.baseUrl(exchange)).origin
}

/** Returns the scope that was granted to a session for an API: by its login, or for a further audience. */
function grantedScope({ authorization }: Config, session: SessionData, { audience }: Resource): string {
  const { accessTokens = [], tokenSet } = session
  const further = accessTokens.filter((entry) => entry.audience === audience)
  const entries = mainAudience(authorization, session) === audience ? [tokenSet, ...further] : further
  return unitedScope(...entries.map(({ scope }) => scope))
}

async function checkCookie(engine: Engine, exchange: Exchange, guard: Guard): Promise<AuthResult> {
  const { accepted, requirements } = guard
  const { authorize: _, scope = [], ...others } = requirements
  if (isCrossSite(engine, exchange)) return { response: rejection(403, 'CROSS_SITE_REQUEST') }
  const verdict = await checkSession(engine, exchange, others)
  if (verdict.kind === 'unauthenticated')
    return reject('NOT_AUTHENTICATED', bearerChallenge(undefined, scope))
  if (verdict.kind === 'exhausted' || verdict.kind === 'insufficient') {
    const code = UNMET_CODES[verdict.unmet]
    const login = verdict.kind === 'insufficient' ? verdict.login : undefined
    return { response: rejection(codes[code].status, code, login, toChallenge(verdict.unmet, requirements)) }
  }
  const session = await toSessionAuth(engine, exchange)
  if (verdict.kind === 'forbidden' || !session)
    return reject('NOT_AUTHENTICATED', bearerChallenge(undefined, scope))
  const scopes = accepted.resources.map((resource) => grantedScope(engine.config, session.session, resource))
  const granted = scopes.find((each) => coversScope(each, scope.join(' ')))
  if (granted === undefined) return rejectUnmet('scope', requirements, '')
  return authorized({ ...session, scope: granted }, requirements)
}

/**
 * Decides about a request by its access token, or if it has none by its session. A token decides alone: a session never rescues
 * a bad one. Throws if that cannot be decided for another reason than the provider.
 */
export async function checkAccepted(engine: Engine, exchange: Exchange, guard: Guard): Promise<AuthResult> {
  const { accepted, requirements } = guard
  const credential = readCredential(exchange.request)
  if (credential.kind === 'malformed') return reject('INVALID_REQUEST', bearerChallenge('INVALID_REQUEST'))
  if (credential.kind === 'bound')
    return reject('INVALID_TOKEN', bearerChallenge('INVALID_TOKEN', requirements.scope))
  if (credential.kind === 'bearer') return checkToken(engine, credential.token, guard)
  if (accepted.session) return checkCookie(engine, exchange, guard)
  return reject('NOT_AUTHENTICATED', bearerChallenge(undefined, requirements.scope))
}
