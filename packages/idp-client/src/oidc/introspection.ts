import { introspectionRequest } from 'oauth4webapi'
import type { ResourceConfig } from '../config/resource.ts'
import { hashToken } from '../crypto/random.ts'
import { IdpError } from '../errors/base.ts'
import { Lru } from '../lib/lru.ts'
import { copyJson } from '../lib/objects.ts'
import { perObject, toKey } from '../lib/registry.ts'
import { SingleFlight } from '../lib/shared-run.ts'
import type { VerifiedAccessToken } from './access-token-claims.ts'
import {
  assert,
  checkNoClient,
  checkNotForeign,
  checkTimes,
  has,
  selectByAudience,
  toBinding,
  toContent,
} from './access-token-claims.ts'
import { call } from './call.ts'
import { isTime } from './claims.ts'
import type { JsonObject } from './json.ts'
import type { ServerMetadata } from './metadata.ts'
import type { Provider } from './provider.ts'
import type { ProviderResponse } from './translate.ts'
import { invalidResponse } from './translate.ts'

/** Introspection of access tokens by the provider (RFC 7662). */

/** Seconds for which the response about an active token is used, at most until the token expires: a revoked one passes so long. */
const ACTIVE_LIFETIME = 60
/** Seconds for which the response about another token is used. */
const INACTIVE_LIFETIME = 5
/** Maximum number of responses that a client keeps, of active tokens and of others. */
const MAX_RESPONSES = 10_000
/** Maximum number of requests of a client at once, of opaque tokens and of JWTs: strangers can send any number of tokens. */
const MAX_REQUESTS = 50
/** Maximum length of a token in characters. */
const LENGTH_LIMIT = 65_536

/** The provider's response about one token, with `active`. */
interface Introspection {
  readonly body: JsonObject
  /** When it was requested, in seconds since the epoch. */
  readonly at: number
  /** Seconds for which it is used. */
  readonly lifetime: number
}

/** The responses that a client has got, by a hash of the token and the accepted audiences. */
class Introspections {
  // Strangers can fill the second one, but not displace active tokens or stop the checks of verified JWTs.
  readonly #active = new Lru<string, Introspection>(MAX_RESPONSES)
  readonly #inactive = new Lru<string, Introspection>(MAX_RESPONSES)
  readonly opaque = new SingleFlight<Introspection>()
  readonly jwt = new SingleFlight<Introspection>()

  find(key: string, now: number): JsonObject | undefined {
    const known = this.#active.get(key) ?? this.#inactive.get(key)
    return known && Math.abs(now - known.at) < known.lifetime ? known.body : undefined
  }

  /** Replaces what was known, also if the token was active before. */
  add(key: string, { body, ...times }: Introspection): void {
    this.#active.delete(key)
    this.#inactive.delete(key)
    if (body['active']) this.#active.set(key, { body, ...times })
    else this.#inactive.set(key, { body: { active: false }, ...times })
  }
}

/** Returns what this client knows. Two clients may not get the same response, so they share nothing. */
const getIntrospections = perObject((_client: Provider) => new Introspections())

/** A resource whose tokens the provider introspects. */
export type IntrospectedResource = ResourceConfig & Required<Pick<ResourceConfig, 'introspection'>>

export const isIntrospected = (resource: ResourceConfig): resource is IntrospectedResource =>
  resource.introspection !== undefined

function readActive(response: ProviderResponse): JsonObject {
  const { body } = response
  if (!body) throw invalidResponse('It is not a JSON object.', response, 'RESPONSE_NOT_OAUTH')
  if (typeof body['active'] !== 'boolean')
    throw invalidResponse('active is missing or not a boolean.', response)
  return body
}

async function requestIntrospection(
  provider: Provider,
  metadata: ServerMetadata,
  token: string,
): Promise<Introspection> {
  const at = provider.config.clock()
  const additionalParameters = { token_type_hint: 'access_token' }
  const body = await call(
    { provider, metadata, endpoint: 'introspectionEndpoint', bound: false },
    ({ authentication, client, options, server }) =>
      introspectionRequest(server, client, authentication, token, { ...options, additionalParameters }),
    readActive,
  )
  const { active, exp } = body
  const longest = active ? ACTIVE_LIFETIME : INACTIVE_LIFETIME
  return { body, at, lifetime: isTime(exp) ? Math.min(exp - at, longest) : longest }
}

/** Returns the response about a token, from memory or by one request for all that want it at the same time. */
async function getResponse(
  provider: Provider,
  token: string,
  audiences: readonly string[],
  form: 'opaque' | 'jwt',
): Promise<JsonObject> {
  const { clock, httpTimeout } = provider.config
  const known = getIntrospections(provider)
  const key = await hashToken(toKey(audiences, token), 32)
  const body = known.find(key, clock())
  if (body) return copyJson(body)
  // Before the run, whose deadline is that of one request.
  const metadata = await provider.metadata()
  const requests = known[form]
  if (requests.size >= MAX_REQUESTS && !requests.get(key))
    throw new IdpError('TOKEN_UNDECIDED', { detail: `${MAX_REQUESTS} tokens are being introspected.` })
  const received = await requests.run(key, () => requestIntrospection(provider, metadata, token), httpTimeout)
  known.add(key, received)
  return copyJson(received.body)
}

async function getClaims(
  provider: Provider,
  token: string,
  resources: readonly IntrospectedResource[],
  form: 'opaque' | 'jwt',
): Promise<JsonObject> {
  assert(token.length <= LENGTH_LIMIT, 'It is too long.')
  const audiences = resources.map(({ audience }) => audience)
  const claims = await getResponse(provider, token, audiences, form)
  assert(claims['active'] === true, 'The provider says that it is not active.')
  return claims
}

/**
 * Refuses what the provider says is another kind of token, such as a refresh token, for which `active` is true as well. Without
 * `aud`, which refresh tokens lack, it must say that it is an access token.
 */
function checkKind(claims: JsonObject): void {
  const { token_type: scheme, typ } = claims
  const isType = (value: unknown): boolean =>
    value === undefined || (typeof value === 'string' && /^(?:bearer|dpop)$/i.test(value))
  assert(isType(scheme), 'The provider says that its token_type is neither Bearer nor DPoP.')
  assert(isType(typ), 'The provider says by typ that it is no access token.')
  const isStated = has(claims, 'aud') || scheme !== undefined || typ !== undefined
  assert(isStated, 'It has neither aud nor token_type: it may be a refresh token.')
}

const saysDpop = ({ token_type: scheme, typ }: JsonObject): boolean =>
  [scheme, typ].some((value) => typeof value === 'string' && value.toLowerCase() === 'dpop')

/** Returns the resource of a token: by `aud`, or the first that does not demand one of the provider. */
function selectResource(claims: JsonObject, resources: readonly IntrospectedResource[]): ResourceConfig {
  const undemanding = resources.find(({ introspection }) => introspection.audience === 'optional')
  return has(claims, 'aud') || !undemanding ? selectByAudience(claims, resources) : undemanding
}

/**
 * Validates an opaque access token by the provider's response. Throws `INVALID_TOKEN`; `TOKEN_UNDECIDED` while too many requests
 * are under way; `OAuthError` and `DiscoveryError` if the provider does not respond.
 */
export async function introspect(
  provider: Provider,
  token: string,
  resources: readonly IntrospectedResource[],
): Promise<VerifiedAccessToken> {
  const claims = await getClaims(provider, token, resources, 'opaque')
  const resource = selectResource(claims, resources)
  checkNoClient(claims, [provider.config.clientId, ...resource.notAudience])
  checkKind(claims)
  checkNotForeign(claims)
  checkTimes(claims, provider)
  const { issuer } = await provider.metadata()
  assert(!has(claims, 'iss') || claims['iss'] === issuer, 'iss is not the issuer of the provider.')
  const content = toContent(claims)
  const binding = toBinding(claims)
  const isProven = !saysDpop(claims) || binding?.method === 'jkt'
  assert(isProven, 'The provider says that it is bound by DPoP, but not to which key (cnf).')
  return { content, binding, resource }
}

/** Checks that the provider has not revoked a token that is otherwise verified. Throws as `introspect` does. */
export async function checkActive(
  provider: Provider,
  token: string,
  resource: IntrospectedResource,
): Promise<void> {
  await getClaims(provider, token, [resource], 'jwt')
}
