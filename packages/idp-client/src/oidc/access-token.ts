import type { ResourceConfig } from '../config/resource.ts'
import { IdpError } from '../errors/base.ts'
import { defined } from '../lib/own-properties.ts'
import type { Assert } from './claims.ts'
import { createAssert, isTime, timeFault, toAudiences, toVerificationClock } from './claims.ts'
import type { JsonObject } from './json.ts'
import { isObject, stringProperty } from './json.ts'
import type { Provider } from './provider.ts'
import type { SignatureHeader, TokenKind } from './signed-token.ts'
import { decodeSupportedToken, signatureFaults, verifyDecoded } from './signed-token.ts'

/**
 * Access tokens that clients of the provider send to an API of this application: JWTs of RFC 9068, and those that providers
 * issued before it, which no header tells from ID tokens.
 */

/** A verified access token. */
export interface AccessTokenContent {
  readonly sub: string
  readonly clientId?: string
  /** Whether the client acts for itself, so that `sub` is no user. */
  readonly isClient: boolean
  /** Separated by spaces; empty without any. */
  readonly scope: string
  readonly claims: JsonObject
  /** Thumbprint (RFC 7638) of the key that the token is bound to; absent for a bearer token. */
  readonly thumbprint?: string
}

function refuse(detail: string): never {
  throw new IdpError('INVALID_TOKEN', { detail })
}

const assert: Assert = createAssert(refuse)

/** Header types of RFC 9068 section 4, in lower case. */
const OWN_TYPES: readonly unknown[] = ['at+jwt', 'application/at+jwt']

const toLower = (value: unknown): unknown => (typeof value === 'string' ? value.toLowerCase() : value)
const isOwnType = (typ: unknown): boolean => OWN_TYPES.includes(toLower(typ))

const kind: TokenKind = {
  sender: 'api-client',
  refuse,
  accepts: (typ) => isOwnType(typ) || toLower(typ) === 'jwt' || typ === undefined,
}

/** Claims of ID tokens, logout tokens and responses (OpenID Connect Core, Back-Channel Logout, FAPI, JARM). */
const FOREIGN_CLAIMS = ['events', 'at_hash', 'c_hash', 's_hash', 'code', 'response']

/**
 * Claims of which a token without a type of its own has at least one, and an ID token none. Not `roles`, which Microsoft Entra ID
 * also puts into ID tokens.
 */
const OWN_CLAIMS = ['scope', 'scp', 'client_id', 'cid', 'appid', 'azpacr', 'idtyp', 'gty', 'permissions']

/** Names of the claim that is the client, in the order of RFC 9068, OpenID Connect Core, Okta, Microsoft Entra ID. */
const CLIENT_CLAIMS = ['client_id', 'azp', 'cid', 'appid']

/** Claims that RFC 9068 section 2.2 requires beside `iss`, `aud` and `exp`, which are always required. */
const REQUIRED_CLAIMS = ['iat', 'jti', 'sub', 'client_id']

const has = (claims: JsonObject, name: string): boolean => Object.hasOwn(claims, name)

/** Refuses what the provider signs for another purpose: an ID token proves a login, not a permission. */
function checkPurpose(claims: JsonObject, hasOwnType: boolean): void {
  const { token_use: use, typ } = claims
  assert(
    typ === undefined || typ === 'Bearer' || typ === 'DPoP',
    'Its claim typ is not that of an access token.',
  )
  assert(use === undefined || use === 'access', 'Its token_use is not that of an access token.')
  assert(typ !== 'DPoP' || has(claims, 'cnf'), 'Its claim typ says that it is bound, but it has no cnf.')
  const foreign = FOREIGN_CLAIMS.find((name) => has(claims, name))
  assert(foreign === undefined, `It has the claim ${foreign}, as another kind of token of the provider may.`)
  assert(typ === 'Bearer' || !has(claims, 'nonce'), 'It has a nonce, as an ID token may.')
  const hasOwnClaim = typ === 'Bearer' || OWN_CLAIMS.some((name) => has(claims, name))
  assert(hasOwnType || hasOwnClaim, `It is no access token: it has none of ${OWN_CLAIMS.join(', ')}.`)
}

/** Refuses a token for a client: the audience of an ID token. */
function checkNoClient(claims: JsonObject, ids: readonly string[]): void {
  const audiences = toAudiences(claims)
  const isOfClient = ids.some((id) => audiences.includes(id))
  assert(!isOfClient, 'aud contains the id of a client, as that of an ID token does.')
}

/** Checks that a token has the type and the claims of RFC 9068 section 2. */
function checkProfile(claims: JsonObject, hasOwnType: boolean): void {
  assert(hasOwnType, 'Its type is not that of RFC 9068, which the option strict demands.')
  const missing = REQUIRED_CLAIMS.find((name) => !has(claims, name))
  assert(missing === undefined, `${missing} is missing, which RFC 9068 requires.`)
}

function checkTimes(claims: JsonObject, { config }: Provider): void {
  const { exp, iat, nbf } = claims
  assert(isTime(exp), 'exp is missing or not a number.')
  assert(iat === undefined || isTime(iat), 'iat is not a number.')
  assert(nbf === undefined || isTime(nbf), 'nbf is not a number.')
  const fault = timeFault(claims, toVerificationClock(config))
  assert(fault === undefined, fault ?? '')
}

/**
 * Verifies the signature by a published key. Only newly loaded keys prove that a key does not exist: until they may be loaded
 * again, such a token is undecided, which is no fault of its sender.
 */
async function checkSignature(provider: Provider, token: string, header: SignatureHeader): Promise<void> {
  const keys = await provider.keys()
  let outcome = await verifyDecoded(keys, token, header)
  if (outcome === 'unknown-key' || outcome === 'mismatch') {
    const { newer, pause } = await provider.newerKeys(keys, 'api-client')
    if (newer) outcome = await verifyDecoded(newer, token, header)
    else if (outcome === 'unknown-key' || header.keyId === undefined) {
      const detail = `No loaded key fits it, and keys may be loaded again in ${pause} s.`
      throw new IdpError('TOKEN_UNDECIDED', { detail })
    }
  }
  if (typeof outcome === 'string') refuse(signatureFaults[outcome])
}

const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/

/** Returns the scopes of `scope` (RFC 9068) or `scp` (Okta, Microsoft Entra ID): a string or a list. */
function toScope({ scope, scp }: JsonObject): string {
  const given = scope ?? scp
  const names: readonly unknown[] = typeof given === 'string' ? given.split(' ') : [given].flat()
  return names.filter((name) => typeof name === 'string' && SCOPE_TOKEN.test(name)).join(' ')
}

const THUMBPRINT = /^[\w-]{43}$/

/** Returns the key that a token is bound to (RFC 9449 section 6.1). A stolen token must not pass without any other binding. */
function toThumbprint(claims: JsonObject): string | undefined {
  if (!has(claims, 'cnf')) return undefined
  const { cnf } = claims
  const jkt = isObject(cnf) && Object.keys(cnf).length === 1 ? cnf['jkt'] : undefined
  assert(
    typeof jkt === 'string' && THUMBPRINT.test(jkt),
    'It is bound (cnf) to something that cannot be verified here.',
  )
  return jkt
}

/** Returns user, client, scope and key that the claims of a token name. Throws `INVALID_TOKEN` without a `sub`. */
function toContent(claims: JsonObject): AccessTokenContent {
  const sub = stringProperty(claims, 'sub')
  assert(sub !== undefined, 'sub is missing or not a string.')
  const ids = CLIENT_CLAIMS.map((name) => stringProperty(claims, name)).filter((id) => id !== undefined)
  const isClient = ids.includes(sub) || claims['idtyp'] === 'app' || claims['gty'] === 'client-credentials'
  return defined({
    sub,
    clientId: ids[0],
    isClient,
    scope: toScope(claims),
    claims,
    thumbprint: toThumbprint(claims),
  })
}

/** Returns the first of the resources that the token is for. */
function selectByAudience<R extends ResourceConfig>(claims: JsonObject, resources: readonly R[]): R {
  const audiences = toAudiences(claims)
  const found = resources.find(({ audience }) => audiences.includes(audience))
  return found ?? refuse('aud does not contain the audience of a resource that the guard accepts.')
}

/**
 * Verifies an access token of the provider for one of the resources (RFC 9068 section 4): `iss`, `aud` and what kind of token it
 * is before any key is loaded, then the signature by a published key, never one that the token names. Throws `INVALID_TOKEN`;
 * `TOKEN_UNDECIDED` if only keys that may not be loaded yet can decide; `DiscoveryError` while metadata or keys cannot be loaded.
 */
export async function verifyAccessToken(
  provider: Provider,
  token: string,
  resources: readonly ResourceConfig[],
): Promise<AccessTokenContent> {
  const { claims, type, ...header } = decodeSupportedToken(token, kind)
  const { notAudience, strict } = selectByAudience(claims, resources)
  checkNoClient(claims, [provider.config.clientId, ...notAudience])
  checkPurpose(claims, isOwnType(type))
  if (strict) checkProfile(claims, isOwnType(type))
  checkTimes(claims, provider)
  const content = toContent(claims)
  // Last, so that tokens for others cause no request while the metadata cannot be loaded.
  const { issuer } = await provider.metadata()
  assert(claims['iss'] === issuer, 'iss is not the issuer of the provider.')
  await checkSignature(provider, token, header)
  return content
}
