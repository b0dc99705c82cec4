import type { ResourceConfig } from '../config/resource.ts'
import { IdpError } from '../errors/base.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { processWide } from '../lib/registry.ts'
import type { VerifiedAccessToken } from './access-token-claims.ts'
import {
  assert,
  checkNoClient,
  checkNotForeign,
  checkTimes,
  has,
  refuse,
  selectByAudience,
  toBinding,
  toContent,
} from './access-token-claims.ts'
import { checkActive, introspect, isIntrospected } from './introspection.ts'
import type { JsonObject } from './json.ts'
import type { ServerMetadata } from './metadata.ts'
import type { Provider, ProviderDocuments, PublicProvider } from './provider.ts'
import type { KeySet, SignatureFault, SignatureHeader, TokenKind } from './signed-token.ts'
import {
  decodeObject,
  decodeSupportedToken,
  parseClaims,
  signatureFaults,
  verifyDecoded,
  verifyWith,
} from './signed-token.ts'
import { VerifiedHeaders } from './verified-headers.ts'

/**
 * Access tokens that clients of the provider send to an API of this application: JWTs of RFC 9068, those that providers issued
 * before it, which no header tells from ID tokens, and opaque ones.
 */

/** Header types of RFC 9068 section 4, in lower case. */
const OWN_TYPES: readonly unknown[] = ['at+jwt', 'application/at+jwt']

const toLower = (value: unknown): unknown => (typeof value === 'string' ? value.toLowerCase() : value)
const isOwnType = (typ: unknown): boolean => OWN_TYPES.includes(toLower(typ))

const kind: TokenKind = {
  sender: 'api-client',
  refuse,
  assert,
  accepts: (typ) => isOwnType(typ) || toLower(typ) === 'jwt' || typ === undefined,
}

/** Maximum number of headers to remember: a provider has a few keys. */
const MAX_HEADERS = 100

const verifiedHeaders = (): VerifiedHeaders<SignatureHeader> =>
  processWide('cache:access-token-headers/1', () => new VerifiedHeaders(MAX_HEADERS))

/**
 * Claims of which a token without a type of its own has at least one, and an ID token none. Not `roles`, which Microsoft Entra ID
 * also puts into ID tokens.
 */
const OWN_CLAIMS = ['scope', 'scp', 'client_id', 'cid', 'appid', 'azpacr', 'idtyp', 'gty', 'permissions']

const NO_ACCESS_TOKEN = `It is no access token: it has none of ${OWN_CLAIMS.join(', ')}.`

/** Claims that RFC 9068 section 2.2 requires beside `iss`, `aud` and `exp`, which are always required. */
const REQUIRED_CLAIMS = ['iat', 'jti', 'sub', 'client_id']

/** Refuses what the provider signs for another purpose: an ID token proves a login, not a permission. */
function checkPurpose(claims: JsonObject, hasOwnType: boolean): void {
  const { typ } = claims
  assert(
    typ === undefined || typ === 'Bearer' || typ === 'DPoP',
    'Its claim typ is not that of an access token.',
  )
  assert(typ !== 'DPoP' || has(claims, 'cnf'), 'Its claim typ says that it is bound, but it has no cnf.')
  checkNotForeign(claims)
  const hasOwnClaim = typ === 'Bearer' || OWN_CLAIMS.some((name) => has(claims, name))
  assert(hasOwnType || hasOwnClaim, NO_ACCESS_TOKEN)
}

/** Checks that a token has the type and the claims of RFC 9068 section 2. */
function checkProfile(claims: JsonObject, hasOwnType: boolean): void {
  assert(hasOwnType, 'Its type is not that of RFC 9068, which the option strict demands.')
  const missing = REQUIRED_CLAIMS.find((name) => !has(claims, name))
  assert(missing === undefined, `${missing} is missing, which RFC 9068 requires.`)
}

/** A signature that the keys of the provider did not verify. */
interface SignatureFailure {
  readonly header: SignatureHeader
  readonly token: string
  readonly keys: KeySet
  readonly fault: SignatureFault
}

/** Why the loaded keys do not decide about a token. */
const undecided: Readonly<Record<SignatureFault, string>> = {
  'unknown-key': 'No loaded key fits it',
  mismatch: 'No loaded key verifies its signature',
  unverifiable: 'The loaded key that fits it cannot be used',
}

/**
 * Verifies a signature by newer keys. Only newly loaded keys prove that a key does not exist: until they may be loaded again, such
 * a token is undecided, which is no fault of its sender.
 */
async function verifyByNewerKeys(
  provider: PublicProvider,
  { fault, header, keys, token }: SignatureFailure,
): Promise<void> {
  const { newer, pause } = await provider.newerKeys(keys, 'api-client')
  if (!newer && (fault === 'unknown-key' || header.keyId === undefined)) {
    const detail = `${undecided[fault]}, and keys may be loaded again in ${pause} s.`
    throw new IdpError('TOKEN_UNDECIDED', { detail })
  }
  const outcome = newer ? await verifyDecoded(newer, token, header) : fault
  if (typeof outcome === 'string') refuse(signatureFaults[outcome])
}

/**
 * Whether a token is, or begins with, a signed JWT: some providers ignore what follows it, so that with another dot it would be
 * judged by a response alone. An encrypted one (`enc`) is opaque.
 */
function isJwt(token: string): boolean {
  const [head = '', ...rest] = token.split('.', 2)
  const header = rest.length > 0 ? decodeObject(head) : null
  return header !== null && !has(header, 'enc')
}

/** Returns whether a token is one of Keycloak for a service account, which alone has `client_id` beside `azp` there. */
const isServiceAccount = ({ azp, client_id: id, typ }: JsonObject): boolean =>
  typ === 'Bearer' && id !== undefined && id === azp

/** Judges everything about a token that needs neither the metadata nor the keys of the provider. */
function judgeClaims(
  provider: PublicProvider,
  claims: JsonObject,
  { type }: SignatureHeader,
  resources: readonly ResourceConfig[],
): VerifiedAccessToken {
  const resource = selectByAudience(claims, resources)
  checkNoClient(claims, provider.config.idTokenAudiences)
  checkNoClient(claims, resource.notAudience)
  const hasOwnType = isOwnType(type)
  checkPurpose(claims, hasOwnType)
  if (resource.strict) checkProfile(claims, hasOwnType)
  assert(has(claims, 'exp'), 'exp is missing.')
  checkTimes(claims, provider)
  return { content: toContent(claims, isServiceAccount(claims)), binding: toBinding(claims), resource }
}

/** The parts that decide about a token, beside the token itself. */
interface Judge {
  readonly provider: PublicProvider
  readonly resources: readonly ResourceConfig[]
  /** Returns the client, which introspection alone needs. */
  readonly client: () => Provider
}

function checkIssuer({ iss }: JsonObject, { issuer }: ServerMetadata): void {
  assert(iss === issuer, 'iss is not the issuer of the provider.')
}

/** Returns a verified token; introspects it, too, where its resource says so. */
function complete(
  { client }: Judge,
  token: string,
  verified: VerifiedAccessToken,
): MaybePromise<VerifiedAccessToken> {
  const { resource } = verified
  if (!isIntrospected(resource) || !resource.introspection.always) return verified
  return checkActive(client(), token, resource).then(() => verified)
}

/**
 * Judges the claims of a token before any key is loaded for it, then its signature.
 *
 * @param tried the outcome with keys that were tried before
 */
async function verifyStepByStep(
  judge: Judge,
  token: string,
  tried?: { readonly keys: KeySet; readonly outcome: Uint8Array | SignatureFault },
): Promise<VerifiedAccessToken> {
  const { provider, resources } = judge
  const headers = verifiedHeaders()
  const { claims, encodedHeader, header } = decodeSupportedToken(token, kind, headers)
  const verified = judgeClaims(provider, claims, header, resources)
  // Last, so that tokens for others cause no request while the metadata cannot be loaded.
  checkIssuer(claims, await provider.metadata())
  const keys = await provider.keys()
  const fault = tried?.keys === keys ? tried.outcome : await verifyDecoded(keys, token, header)
  if (typeof fault === 'string') await verifyByNewerKeys(provider, { fault, header, keys, token })
  else headers.add(encodedHeader, header)
  return complete(judge, token, verified)
}

/**
 * Verifies the signature before the claims are judged, so that a token is decoded once. Unless a cached key verifies it, what is wrong
 * is found step by step.
 */
async function verifyKnown(
  judge: Judge,
  token: string,
  header: SignatureHeader,
  { keys, metadata }: ProviderDocuments,
): Promise<VerifiedAccessToken> {
  const outcome = await verifyWith(keys, token, header)
  const claims = typeof outcome === 'string' ? null : parseClaims(outcome)
  if (!claims) return verifyStepByStep(judge, token, { keys, outcome })
  const verified = judgeClaims(judge.provider, claims, header, judge.resources)
  checkIssuer(claims, metadata)
  return complete(judge, token, verified)
}

/**
 * Verifies an access token of the provider for one of the resources (RFC 9068 section 4): `iss`, `aud` and what kind of token it
 * is before any key is loaded, then the signature by a published key, never one that the token names. Throws `INVALID_TOKEN`;
 * `TOKEN_UNDECIDED` if only keys that may not be loaded yet can decide; `DiscoveryError` while metadata or keys cannot be loaded. A
 * token of another form is introspected, where a resource says so; see `introspect`, which alone needs the client.
 */
export function verifyAccessToken(judge: Judge, token: string): MaybePromise<VerifiedAccessToken> {
  const { client, provider, resources } = judge
  if (resources.some(isIntrospected) && !isJwt(token))
    return introspect(client(), token, resources.filter(isIntrospected))
  const header = verifiedHeaders().get(token.slice(0, token.indexOf('.')))
  const cached = header && provider.cached()
  return cached ? verifyKnown(judge, token, header, cached) : verifyStepByStep(judge, token)
}
