import { CompactSign } from 'jose/jws/compact/sign'
import { importPKCS8 } from 'jose/key/import'
import type { ClientAuth } from 'oauth4webapi'
import { ClientSecretPost, TlsClientAuth } from 'oauth4webapi'
import type { Config, SecretMethod } from '../config/config.ts'
import { randomToken } from '../crypto/random.ts'
import { invalidConfiguration } from '../errors/configuration.ts'
import { defined } from '../lib/objects.ts'
import { lazy } from '../lib/request-scope.ts'
import { utf8 } from '../lib/utf8.ts'
import { serverTime } from './claims.ts'
import type { JsonObject } from './json.ts'
import type { EndpointName, ServerMetadata } from './metadata.ts'
import { requireEndpoint } from './metadata.ts'
import type { Provider } from './provider.ts'
import { isSupportedAlgorithm } from './signed-token.ts'

type Assertion = Extract<Config['clientAuth'], { kind: 'assertion' }>

/** Returns the configured algorithm, otherwise the first of the key's own order that the provider advertises. */
function selectAlgorithm(
  { algorithm, algorithms }: Assertion,
  { clientAuthAlgorithms }: ServerMetadata,
): string {
  const chosen = algorithm ?? algorithms.find((name) => clientAuthAlgorithms?.includes(name) ?? true)
  if (chosen !== undefined) return chosen
  const detail =
    `clientAssertionSigningKey signs with ${algorithms.join(', ')}, but the provider takes none of these ` +
    '(token_endpoint_auth_signing_alg_values_supported): use another key, or set clientAssertionSigningAlg.'
  throw invalidConfiguration(detail)
}

/** Imports the private key of an option. */
export async function importSigningKey(
  option: string,
  key: string | CryptoKey,
  algorithm: string,
): Promise<CryptoKey> {
  if (typeof key !== 'string') return key
  try {
    return await importPKCS8(key, algorithm)
  } catch {
    // The runtime's own error is not kept: it may quote the key.
    throw invalidConfiguration(`${option} cannot be used as a PKCS#8 private key for ${algorithm}.`)
  }
}

/** A private key of the client, imported for one algorithm. */
interface Signer {
  readonly key: CryptoKey
  readonly algorithm: string
  /** Without a configured one there is none: a guess (a thumbprint) that differs from what is registered is refused. */
  readonly keyId?: string | undefined
}

/** Seconds for which a signature of the client is valid. */
const LIFETIME = 60

/** Signs claims as the client, with a fresh `jti` and a lifetime of 60 s. */
export function signClaims(
  config: Pick<Config, 'clientId' | 'clock' | 'dpop'>,
  { algorithm, key, keyId }: Signer,
  claims: JsonObject,
  type?: string,
): Promise<string> {
  const now = serverTime(config)
  const times = { iat: now, nbf: now, exp: now + LIFETIME }
  return new CompactSign(
    utf8(JSON.stringify({ ...claims, iss: config.clientId, jti: randomToken(32), ...times })),
  )
    .setProtectedHeader(defined({ alg: algorithm, kid: keyId, typ: type }))
    .sign(key)
}

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

async function assertionBy(config: Config, auth: Assertion, metadata: ServerMetadata): Promise<ClientAuth> {
  const algorithm = selectAlgorithm(auth, metadata)
  const { audience, keyId } = auth
  const key = await importSigningKey('clientAssertionSigningKey', auth.key, algorithm)
  // Ed25519 has two names; the provider gets the one that it advertised.
  const signer = { key, algorithm, keyId }
  const aud = audience === 'token_endpoint' ? requireEndpoint(metadata, 'tokenEndpoint') : metadata.issuer
  const { clientId } = config
  return async (_server, _client, body) => {
    body.set('client_id', clientId)
    body.set('client_assertion_type', ASSERTION_TYPE)
    body.set('client_assertion', await signClaims(config, signer, { sub: clientId, aud }))
  }
}

/**
 * `private_key_jwt`: `aud` is one string, the issuer or the token endpoint; lifetime 60 s, a fresh `jti` each time (RFC 7523).
 * The key is imported once for each metadata, since that costs more than signing.
 */
function assertionAuths(config: Config, auth: Assertion): (metadata: ServerMetadata) => ClientAuth {
  let latest: { readonly metadata: ServerMetadata; readonly signer: () => Promise<ClientAuth> } | undefined
  return (metadata) => {
    if (latest?.metadata !== metadata)
      latest = { metadata, signer: lazy(() => assertionBy(config, auth, metadata)) }
    const { signer } = latest
    return async (...given) => (await signer())(...given)
  }
}

/**
 * Form-urlencodes a credential for HTTP Basic (RFC 6749 section 2.3.1). The unreserved characters of RFC 3986 stay as they
 * are, which every decoder reads alike, and so do providers that decode nothing.
 */
function formUrlEncode(text: string): string {
  return encodeURIComponent(text)
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+')
}

function basicAuth(secret: string): ClientAuth {
  return (_server, { client_id: id }, _body, headers) => {
    headers.set('authorization', `Basic ${btoa(`${formUrlEncode(id)}:${formUrlEncode(secret)}`)}`)
  }
}

/** Returns the methods that the provider advertises for this endpoint alone (RFC 8414 section 2), if any. */
function ownMethods(
  { introspectionAuthMethods, revocationAuthMethods }: ServerMetadata,
  endpoint: EndpointName | undefined,
): readonly string[] | undefined {
  if (endpoint === 'introspectionEndpoint') return introspectionAuthMethods
  return endpoint === 'revocationEndpoint' ? revocationAuthMethods : undefined
}

/**
 * Returns the configured method, otherwise HTTP Basic if that is advertised or nothing is, otherwise the body; the other one at an
 * endpoint that advertises only that for itself, as Authlib does.
 */
function secretMethod(
  { method }: { readonly method?: SecretMethod },
  metadata: ServerMetadata,
  endpoint?: EndpointName,
): SecretMethod {
  const { clientAuthMethods = [] } = metadata
  const isBasic = clientAuthMethods.length === 0 || clientAuthMethods.includes('client_secret_basic')
  const usual = method ?? (isBasic ? 'client_secret_basic' : 'client_secret_post')
  const other = usual === 'client_secret_basic' ? 'client_secret_post' : 'client_secret_basic'
  const own = ownMethods(metadata, endpoint)
  return own?.includes(other) && !own.includes(usual) ? other : usual
}

/** Returns how this client authenticates at an endpoint: exactly one method, a key by signed assertion, a certificate by TLS. */
export function clientAuthentications(config: Config): Provider['authentication'] {
  const { clientAuth } = config
  if (clientAuth.kind === 'assertion') return assertionAuths(config, clientAuth)
  if (clientAuth.kind === 'certificate') return () => TlsClientAuth()
  const { secret } = clientAuth
  return (metadata, endpoint) =>
    secretMethod(clientAuth, metadata, endpoint) === 'client_secret_basic'
      ? basicAuth(secret)
      : ClientSecretPost(secret)
}

/* Registered names (IANA, OAuth Token Endpoint Authentication Methods): only these are repeated from the metadata. */
const REGISTERED_METHOD =
  /^(?:none|client_secret_(?:basic|post|jwt)|private_key_jwt|(?:self_signed_)?tls_client_auth)$/

function listed(names: readonly string[] | undefined, isKnown: (name: string) => boolean): string {
  if (!names) return 'nothing'
  return names.filter(isKnown).join(', ') || 'none of those that this library knows'
}

/** Returns how the client authenticated and which methods the provider advertises, for an error message. */
export function describeAuthentication(
  { clientAuth }: Config,
  metadata: ServerMetadata,
  endpoint?: EndpointName,
): string {
  const advertised = ownMethods(metadata, endpoint) ?? metadata.clientAuthMethods
  const methods = listed(advertised, (name) => REGISTERED_METHOD.test(name))
  if (clientAuth.kind === 'secret')
    return `Sent: ${secretMethod(clientAuth, metadata, endpoint)}; advertised: ${methods}.`
  if (clientAuth.kind === 'certificate')
    return `Sent: client_id, and the TLS certificate of [customFetch]; advertised: ${methods}.`
  const sent = `private_key_jwt with ${selectAlgorithm(clientAuth, metadata)}`
  const audience = clientAuth.audience === 'token_endpoint' ? 'the token endpoint' : 'the issuer'
  const keyId = clientAuth.keyId === undefined ? 'without kid' : 'with kid'
  const algorithms = listed(metadata.clientAuthAlgorithms, isSupportedAlgorithm)
  return `Sent: ${sent}, aud ${audience}, ${keyId}; advertised: ${methods}, with ${algorithms}.`
}

/**
 * Returns the client authentication for a JSON endpoint, as properties of the body: a new assertion, the secret, or
 * with a certificate the client id alone.
 */
export async function clientCredentials(
  { authentication, config }: Pick<Provider, 'authentication' | 'config'>,
  metadata: ServerMetadata,
): Promise<Readonly<Record<string, string>>> {
  const { clientAuth, clientId } = config
  const authenticate =
    clientAuth.kind === 'secret' ? ClientSecretPost(clientAuth.secret) : authentication(metadata)
  const members = new URLSearchParams()
  await authenticate({ issuer: metadata.issuer }, { client_id: clientId }, members, new Headers())
  return Object.fromEntries(members)
}
