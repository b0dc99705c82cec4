import type { ResourceConfig } from '../config/resource.ts'
import { IdpError } from '../errors/base.ts'
import { defined, isObject } from '../lib/objects.ts'
import type { Assert } from './claims.ts'
import { createAssert, isForAudience, isTime, timeFault, toVerificationClock } from './claims.ts'
import type { JsonObject } from './json.ts'
import { stringProperty } from './json.ts'
import type { PublicProvider } from './provider.ts'

/** The claims of an access token, signed in a JWT or in the response of an introspection. */

/** The registered claims of an access token, with the types that every guard checks (RFC 7519 section 4.1). */
export interface CheckedClaims {
  readonly sub: string
  readonly iss?: string
  /** Contains the audience of the resource. Absent only for an opaque token, where `introspection` allows that. */
  readonly aud?: string | readonly unknown[]
  /** Seconds since the epoch, as `iat` and `nbf`. */
  readonly exp?: number
  readonly iat?: number
  readonly nbf?: number
}

/** A verified access token. */
export interface AccessTokenContent {
  readonly sub: string
  readonly clientId?: string
  /** Whether the client acts for itself, so that `sub` is no user. */
  readonly isClient: boolean
  /** Separated by spaces; empty without any. */
  readonly scope: string
  readonly claims: JsonObject & CheckedClaims
}

/** An access token that one of the resources accepts, but for the proof of what it is bound to. */
export interface VerifiedAccessToken {
  readonly content: AccessTokenContent
  /** Undefined for a bearer token. */
  readonly binding: TokenBinding | undefined
  readonly resource: ResourceConfig
}

/** The key or certificate that the sender of a token must prove to have, by its SHA-256 in base64url. */
export interface TokenBinding {
  /** `jkt`: a key (RFC 9449 section 6.1), by its thumbprint (RFC 7638); `x5t#S256`: a certificate (RFC 8705 section 3.1). */
  readonly method: 'jkt' | 'x5t#S256'
  readonly thumbprint: string
}

export function refuse(detail: string): never {
  throw new IdpError('INVALID_TOKEN', { detail })
}

export const assert: Assert = createAssert(refuse)

export const has = (claims: JsonObject, name: string): boolean => Object.hasOwn(claims, name)

/** Names of the claim that is the client, in the order of RFC 9068, OpenID Connect Core, Okta, Microsoft Entra ID. */
const CLIENT_CLAIMS = ['client_id', 'azp', 'cid', 'appid']

/** Claims of ID tokens, logout tokens and responses (OpenID Connect Core, Back-Channel Logout, FAPI, JARM). */
const FOREIGN_CLAIMS = ['events', 'at_hash', 'c_hash', 's_hash', 'code', 'response']

/** Refuses the claims of another kind of token of the provider, and a `token_use` (Amazon Cognito) that names one. */
export function checkNotForeign(claims: JsonObject): void {
  const { token_use: use, typ } = claims
  const isUse = use === undefined || use === 'access' || use === 'access_token'
  assert(isUse, 'Its token_use is not that of an access token.')
  for (const name of FOREIGN_CLAIMS)
    if (has(claims, name)) refuse(`It has the claim ${name}, as another kind of token of the provider may.`)
  assert(typ === 'Bearer' || !has(claims, 'nonce'), 'It has a nonce, as an ID token may.')
}

/** Refuses a token for a client: the audience of an ID token. */
export function checkNoClient(claims: JsonObject, ids: readonly string[]): void {
  const isOfClient = ids.some((id) => isForAudience(claims, id))
  assert(!isOfClient, 'aud contains the id of a client, as that of an ID token does.')
}

/** Refuses a token that is not valid now. A time that is missing is not checked. */
export function checkTimes(claims: JsonObject, { config }: PublicProvider): void {
  const { exp, iat, nbf } = claims
  assert(exp === undefined || isTime(exp), 'exp is not a number.')
  assert(iat === undefined || isTime(iat), 'iat is not a number.')
  assert(nbf === undefined || isTime(nbf), 'nbf is not a number.')
  const fault = timeFault(claims, toVerificationClock(config))
  assert(fault === undefined, fault ?? '')
}

const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/

const SCOPES = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/

/** Returns the scopes of `scope` (RFC 9068) or `scp` (Okta, Microsoft Entra ID): a string or a list. */
function toScope({ scope, scp }: JsonObject): string {
  const given = scope ?? scp
  if (typeof given === 'string' && SCOPES.test(given)) return given
  const names: readonly unknown[] = typeof given === 'string' ? given.split(' ') : [given].flat()
  return names.filter((name) => typeof name === 'string' && SCOPE_TOKEN.test(name)).join(' ')
}

const THUMBPRINT = /^[\w-]{43}$/

/** Returns what a token is bound to. A stolen token must not pass without any other binding. */
export function toBinding(claims: JsonObject): TokenBinding | undefined {
  if (!has(claims, 'cnf')) return undefined
  const entries = isObject(claims['cnf']) ? Object.entries(claims['cnf']) : []
  const [method, thumbprint] = entries.length === 1 ? (entries[0] ?? []) : []
  assert(
    (method === 'jkt' || method === 'x5t#S256') &&
      typeof thumbprint === 'string' &&
      THUMBPRINT.test(thumbprint),
    'It is bound (cnf) to something that cannot be verified here.',
  )
  return { method, thumbprint }
}

/** Auth0 appends it to the id of a client that acts for itself. */
const CLIENT_SUFFIX = '@clients'

/**
 * Returns whether the client acts for itself: its id is the subject, also in the form of Auth0, or a claim of Microsoft Entra ID
 * or Auth0 says so.
 */
function isOfClient(claims: JsonObject, sub: string): boolean {
  const { gty, idtyp } = claims
  if (idtyp === 'app' || gty === 'client-credentials') return true
  const id = sub.endsWith(CLIENT_SUFFIX) ? sub.slice(0, -CLIENT_SUFFIX.length) : sub
  return CLIENT_CLAIMS.some((name) => claims[name] === sub || claims[name] === id)
}

/** Returns whether claims whose times and audience were checked also have a subject. */
const haveSubject = (claims: JsonObject): claims is JsonObject & CheckedClaims =>
  stringProperty(claims, 'sub') !== undefined

/**
 * Returns user, client and scope that the claims of a token name. Throws `INVALID_TOKEN` without a `sub`.
 *
 * @param isServiceAccount whether it is known that the client acts for itself.
 */
export function toContent(claims: JsonObject, isServiceAccount = false): AccessTokenContent {
  assert(haveSubject(claims), 'sub is missing or not a string.')
  const { sub } = claims
  const [clientId] = CLIENT_CLAIMS.flatMap((name) => stringProperty(claims, name) ?? [])
  const isClient = isServiceAccount || isOfClient(claims, sub)
  const scope = toScope(claims)
  return defined({ sub, clientId, isClient, scope, claims })
}

/** Returns the first of the resources that the token is for. */
export function selectByAudience<R extends ResourceConfig>(claims: JsonObject, resources: readonly R[]): R {
  const found = resources.find(({ audience }) => isForAudience(claims, audience))
  return found ?? refuse('aud does not contain the audience of a resource that the guard accepts.')
}
