import type { Config } from '../config/config.ts'
import { checkAudience } from '../config/resource.ts'
import type { Engine } from '../engine.ts'
import { IdpError, isIdpError } from '../errors/base.ts'
import type { Code } from '../errors/code.ts'
import { codes } from '../errors/codes.ts'
import { InvalidConfigurationError } from '../errors/configuration.ts'
import type { Exchange, RequestView } from '../http/exchange.ts'
import { reportFailure } from '../log/failure.ts'
import { selectByAudience, verifyAccessToken } from '../oidc/access-token.ts'
import { isOfOrganization, toVerificationClock } from '../oidc/claims.ts'
import { verifyDpopProof } from '../oidc/dpop-proof.ts'
import { getProvider } from '../oidc/provider.ts'
import { supportedAlgorithms } from '../oidc/signed-token.ts'
import { coversScope, unitedScope } from '../session/model/scope.ts'
import type { SessionData } from '../session/model/session-data.ts'
import { mainAudience } from '../tokens/select.ts'
import type { Accepted } from './accept.ts'
import type { Auth, TokenAuth } from './auth.ts'
import { checkSession, toSessionAuth } from './check-session.ts'
import { isCrossSite } from './cross-site.ts'
import type { AuthResult } from './guards.ts'
import { rejection, toChallenge, UNMET_CODES } from './rejection.ts'
import { reportRefusal } from './report-refusal.ts'
import type { Requirements, Unmet } from './requirements.ts'
import { hasMethods, isOfContext, isRecent, withoutPrototype } from './requirements.ts'
import type { Resource } from './resource.ts'
import { rememberProof } from './used-proofs.ts'

/** The guard of an API that accepts access tokens. */
interface Guard {
  readonly accepted: Accepted
  readonly requirements: Requirements
}

/** The scheme of a token, as in a challenge. */
type Scheme = 'Bearer' | 'DPoP'

type Credential =
  | { readonly kind: 'token'; readonly scheme: Scheme; readonly token: string }
  | { readonly kind: 'none' }
  /** A scheme of other code, such as the Basic authentication of a staging server. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'malformed' }

/** One credential of RFC 6750 section 2.1; a list of several has a comma, which a token cannot have. */
const CREDENTIAL = /^(bearer|dpop) +([\w.~+/-]+=*)$/i

/** Reads the header `Authorization`; tokens in a query or a form are never read. */
function readCredential({ headers }: RequestView): Credential {
  const header = headers.get('authorization')?.trim()
  if (header === undefined) return { kind: 'none' }
  const [, scheme = '', token] = CREDENTIAL.exec(header) ?? []
  if (token === undefined)
    return { kind: /(?:^|[\s,])[^\w\s]*(?:bearer|dpop)(?!\w)/i.test(header) ? 'malformed' : 'foreign' }
  return { kind: 'token', scheme: scheme.toLowerCase() === 'dpop' ? 'DPoP' : 'Bearer', token }
}

const ALGORITHMS = `algs="${supportedAlgorithms.join(' ')}"`

/** The additions of a guard to its challenges: the scopes that a request needs, and the URL of the metadata of its API. */
interface Challenger {
  readonly scope?: readonly string[] | undefined
  readonly metadata?: string | undefined
}

const toChallenger = ({ accepted, requirements: { scope } }: Guard): Challenger => ({
  scope,
  metadata: accepted.resources.find(({ config }) => config.metadata)?.config.metadata?.url,
})

/** Returns a challenge of RFC 6750 section 3 or RFC 9449 section 7.1. Scopes and messages have no quotes to escape. */
function toSchemeChallenge(
  scheme: Scheme,
  code: Code | undefined,
  { metadata, scope = [] }: Challenger,
): string {
  const error = code && `error="${code.toLowerCase()}", error_description="${codes[code].message}"`
  const address = metadata && `resource_metadata="${metadata}"`
  const scopes = scope.length > 0 ? `scope="${scope.join(' ')}"` : undefined
  const algorithms = scheme === 'DPoP' ? ALGORITHMS : undefined
  const parameters = [error, address, scopes, algorithms].filter(Boolean).join(', ')
  return parameters === '' ? scheme : `${scheme} ${parameters}`
}

function reject(code: Code, challenge: string): AuthResult {
  return { response: rejection(codes[code].status, code, undefined, challenge) }
}

/** Rejects a request without credential: a client may use either scheme, as its tokens demand. */
function rejectAnonymous(guard: Guard): AuthResult {
  const challenger = toChallenger(guard)
  const challenges = [
    toSchemeChallenge('Bearer', undefined, challenger),
    toSchemeChallenge('DPoP', undefined, challenger),
  ]
  return reject('NOT_AUTHENTICATED', challenges.join(', '))
}

/** Seconds after which a client should repeat a request whose token could not be verified. */
const RETRY_AFTER = '5'

/** Rejects a request whose token could not be verified, because metadata or keys of the provider could not be loaded. */
function unavailable(code: Code): AuthResult {
  const response = rejection(503, code)
  response.headers.set('retry-after', RETRY_AFTER)
  return { response }
}

/**
 * Returns the URLs that a proof may name: below the configured base URL, with and without a prefix that a proxy has removed. A
 * base URL that is inferred from the request would let its sender choose them.
 */
function provenUrls(engine: Engine, exchange: Exchange): readonly string[] {
  const { appBaseUrl, production } = engine.config
  if (production && appBaseUrl.kind === 'inferred') {
    const detail =
      'DPoP proofs name the URL of the API: set appBaseUrl (APP_BASE_URL), which they are compared with.'
    throw new InvalidConfigurationError('INVALID_CONFIGURATION', { detail })
  }
  const base = engine.baseUrl(exchange)
  const { pathname = '/' } = exchange.request.url ?? {}
  return [new URL(base).origin + pathname, base + pathname]
}

/** Checks that the sender has the key that its token is bound to. Throws `INVALID_TOKEN` and `INVALID_DPOP_PROOF`. */
async function checkBinding(
  engine: Engine,
  exchange: Exchange,
  { scheme, token: accessToken }: Sent,
  thumbprint: string | undefined,
): Promise<void> {
  if ((scheme === 'DPoP') !== (thumbprint !== undefined)) {
    const detail = thumbprint
      ? 'It is bound to a key and needs the scheme DPoP.'
      : 'It is not bound, but its scheme is DPoP.'
    throw new IdpError('INVALID_TOKEN', { detail })
  }
  if (thumbprint === undefined) return
  const { headers, method } = exchange.request
  const proven = {
    proof: headers.get('dpop'),
    method,
    urls: provenUrls(engine, exchange),
    accessToken,
    thumbprint,
  }
  const name = await verifyDpopProof(engine.config, proven)
  if (!(await rememberProof(engine, name)))
    throw new IdpError('INVALID_DPOP_PROOF', { detail: 'It was used before: every request needs a new one.' })
}

type Sent = Extract<Credential, { kind: 'token' }>

async function verify(
  engine: Engine,
  exchange: Exchange,
  sent: Sent,
  resources: Accepted['resources'],
): Promise<TokenAuth> {
  const { config } = engine
  for (const resource of resources) checkAudience(resource.config, config.clientId)
  const { config: resource } = selectByAudience(sent.token, resources) ?? resources[0]
  const { thumbprint, ...content } = await verifyAccessToken(getProvider(config), sent.token, resource)
  await checkBinding(engine, exchange, sent, thumbprint)
  return Object.freeze({ kind: 'token', ...content, token: sent.token })
}

/** Returns the first requirement that the claims of a token do not meet; a claim that is missing meets none. */
function findUnmet(config: Config, requirements: Requirements, { claims, scope }: TokenAuth): Unmet | null {
  const { acr, amr, maxAge, organization } = requirements
  if (Object.keys(requirements).length === 0) return null
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
function rejectUnmet(
  unmet: Unmet,
  guard: Guard,
  { scheme, scope }: { readonly scheme: Scheme; readonly scope: string },
): AuthResult {
  const code = UNMET_CODES[unmet]
  const { requirements } = guard
  if (unmet !== 'scope')
    return { response: rejection(codes[code].status, code, undefined, toChallenge(unmet, requirements)) }
  const scopes = unitedScope(...(requirements.scope ?? []), scope).split(' ')
  return reject(code, toSchemeChallenge(scheme, code, { ...toChallenger(guard), scope: scopes }))
}

/** Lets the request pass if `authorize` returns true. Throws what it throws. */
async function authorized(auth: Auth, { authorize }: Requirements): Promise<AuthResult> {
  if (authorize && (await authorize(auth)) !== true)
    return { response: rejection(codes.ACCESS_DENIED.status, 'ACCESS_DENIED') }
  return { auth, session: auth.session }
}

async function checkToken(engine: Engine, exchange: Exchange, sent: Sent, guard: Guard): Promise<AuthResult> {
  const { accepted, requirements } = guard
  const { config } = engine
  const { scheme } = sent
  let auth: TokenAuth
  try {
    auth = await verify(engine, exchange, sent, accepted.resources)
  } catch (thrown) {
    if (isIdpError(thrown) && thrown.name === 'DiscoveryError') {
      reportFailure(config.log, thrown)
      return unavailable(thrown.code)
    }
    if (!isIdpError(thrown, 'INVALID_TOKEN') && !isIdpError(thrown, 'INVALID_DPOP_PROOF')) throw thrown
    reportRefusal(config, thrown)
    if (thrown.status === 503) return unavailable('JWKS_ERROR')
    return reject(thrown.code, toSchemeChallenge(scheme, thrown.code, toChallenger(guard)))
  }
  const unmet = findUnmet(config, requirements, auth)
  return unmet ? rejectUnmet(unmet, guard, { scheme, scope: auth.scope }) : authorized(auth, requirements)
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
  if (verdict.kind === 'unauthenticated') return rejectAnonymous(guard)
  if (verdict.kind === 'exhausted' || verdict.kind === 'insufficient') {
    const code = UNMET_CODES[verdict.unmet]
    const login = verdict.kind === 'insufficient' ? verdict.login : undefined
    return { response: rejection(codes[code].status, code, login, toChallenge(verdict.unmet, requirements)) }
  }
  const session = await toSessionAuth(engine, exchange)
  if (verdict.kind === 'forbidden' || !session) return rejectAnonymous(guard)
  const scopes = accepted.resources.map((resource) => grantedScope(engine.config, session.session, resource))
  const granted = scopes.find((each) => coversScope(each, scope.join(' ')))
  if (granted === undefined) return rejectUnmet('scope', guard, { scheme: 'Bearer', scope: '' })
  return authorized({ ...session, scope: granted }, requirements)
}

/**
 * Decides about a request by its access token, or if it has none by its session. A token decides alone: a session never rescues
 * a bad one. Throws if that cannot be decided for another reason than the provider.
 */
export async function checkAccepted(engine: Engine, exchange: Exchange, guard: Guard): Promise<AuthResult> {
  const { accepted } = guard
  const credential = readCredential(exchange.request)
  if (credential.kind === 'malformed')
    return reject('INVALID_REQUEST', toSchemeChallenge('Bearer', 'INVALID_REQUEST', toChallenger(guard)))
  if (credential.kind === 'token') return checkToken(engine, exchange, credential, guard)
  return accepted.session ? checkCookie(engine, exchange, guard) : rejectAnonymous(guard)
}
