import { introspectionRequest } from 'oauth4webapi'
import type { ResourceConfig } from '../config/resource.ts'
import { hashToken } from '../crypto/random.ts'
import { IdpError } from '../errors/base.ts'
import { Lru } from '../lib/lru.ts'
import { copyJson } from '../lib/own-properties.ts'
import { processWide, processWideFor, toKey } from '../lib/registry.ts'
import { SingleFlight } from '../lib/shared-run.ts'
import type { VerifiedAccessToken } from './access-token-claims.ts'
import { assert, checkNoClient, checkTimes, has, selectByAudience, toContent } from './access-token-claims.ts'
import { call } from './call.ts'
import { isTime } from './claims.ts'
import type { JsonObject } from './json.ts'
import type { Provider } from './provider.ts'
import type { ProviderResponse } from './translate.ts'
import { invalidResponse } from './translate.ts'

/** Introspection of access tokens by the provider (RFC 7662). */

/** Seconds for which the response about an active token is used, at most until the token expires: a revoked one passes so long. */
const ACTIVE_LIFETIME = 60
/** Seconds for which the response about another token is used. */
const INACTIVE_LIFETIME = 5
/** Maximum number of responses that are kept for a `fetch`. */
const MAX_RESPONSES = 10_000
/** Maximum number of requests at once in this process: strangers can send any number of tokens. */
const MAX_REQUESTS = 50
/** Maximum length of a token in characters. */
const LENGTH_LIMIT = 65_536

/** The provider's response about one token, with `active`. */
interface Introspection {
  readonly body: JsonObject
  /** Seconds since the epoch. */
  readonly expiresAt: number
}

/** A resource whose tokens the provider introspects. */
export type IntrospectedResource = ResourceConfig & Required<Pick<ResourceConfig, 'introspection'>>

export const isIntrospected = (resource: ResourceConfig): resource is IntrospectedResource =>
  resource.introspection !== undefined

function readActive(response: ProviderResponse): JsonObject {
  const { body } = response
  if (!body) throw invalidResponse('It is not a JSON object.', response, 'RESPONSE_NOT_OAUTH')
  if (typeof body['active'] !== 'boolean') throw invalidResponse('active is missing or no boolean.', response)
  return body
}

async function requestIntrospection(provider: Provider, token: string): Promise<Introspection> {
  const metadata = await provider.metadata()
  const additionalParameters = { token_type_hint: 'access_token' }
  const body = await call(
    { provider, metadata, endpoint: 'introspectionEndpoint', bound: false },
    ({ authentication, client, options, server }) =>
      introspectionRequest(server, client, authentication, token, { ...options, additionalParameters }),
    readActive,
  )
  const now = provider.config.clock()
  const { active, exp } = body
  const lifetime = active ? ACTIVE_LIFETIME : INACTIVE_LIFETIME
  return { body, expiresAt: isTime(exp) ? Math.min(exp, now + lifetime) : now + lifetime }
}

/** Returns the response about a token, from memory or by one request for all that ask at the same time. */
async function getResponse(
  provider: Provider,
  token: string,
  audiences: readonly string[],
): Promise<JsonObject> {
  const { config } = provider
  const responses = processWideFor(
    'cache:introspections/1',
    config.fetch,
    () => new Lru<string, Introspection>(MAX_RESPONSES),
  )
  const requests = processWide('queue:introspections/1', () => new SingleFlight<Introspection>())
  const { clientAuth, clientId } = config
  // A wrong secret must not get the responses to the right one.
  const secret = clientAuth.kind === 'secret' ? clientAuth.secret : ''
  const key = await hashToken(toKey(config.provider.url, clientId, secret, audiences, token), 32)
  const known = responses.get(key)
  if (known && known.expiresAt > config.clock()) return copyJson(known.body)
  if (!requests.get(key) && requests.size >= MAX_REQUESTS)
    throw new IdpError('TOKEN_UNDECIDED', { detail: `${MAX_REQUESTS} tokens are being introspected.` })
  const received = await requests.run(key, () => requestIntrospection(provider, token), config.httpTimeout)
  responses.set(key, received)
  return copyJson(received.body)
}

async function getClaims(
  provider: Provider,
  token: string,
  resources: readonly IntrospectedResource[],
): Promise<JsonObject> {
  assert(token.length <= LENGTH_LIMIT, 'It is too long.')
  const claims = await getResponse(
    provider,
    token,
    resources.map(({ audience }) => audience),
  )
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
  const claims = await getClaims(provider, token, resources)
  const resource = selectResource(claims, resources)
  checkNoClient(claims, [provider.config.clientId, ...resource.notAudience])
  checkKind(claims)
  checkTimes(claims, provider)
  const { issuer } = await provider.metadata()
  assert(!has(claims, 'iss') || claims['iss'] === issuer, 'iss is not the issuer of the provider.')
  return { ...toContent(claims), resource }
}

/** Checks that the provider has not revoked a token that is otherwise verified. Throws as `introspect` does. */
export async function checkActive(
  provider: Provider,
  token: string,
  resource: IntrospectedResource,
): Promise<void> {
  await getClaims(provider, token, [resource])
}
