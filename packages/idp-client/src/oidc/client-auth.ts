import { CompactSign } from 'jose/jws/compact/sign'
import { importPKCS8 } from 'jose/key/import'
import type { ClientAuth } from 'oauth4webapi'
import { ClientSecretPost, TlsClientAuth } from 'oauth4webapi'
import type { Config, SecretMethod, SigningKey } from '../config/config.ts'
import { randomToken } from '../crypto/random.ts'
import { invalidConfiguration } from '../errors/configuration.ts'
import { defined } from '../lib/objects.ts'
import { perObject } from '../lib/registry.ts'
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

async function importKey(option: string, key: string | CryptoKey, algorithm: string): Promise<CryptoKey> {
  if (typeof key !== 'string') return key
  try {
    return await importPKCS8(key, algorithm)
  } catch {
    // The runtime's own error is not kept: it may quote the key.
    throw invalidConfiguration(`${option} cannot be used as a PKCS#8 private key for ${algorithm}.`)
  }
}

/** The imported keys by algorithm: importing one costs more than signing with it. */
const getImported = perObject((_key: SigningKey) => new Map<string, () => Promise<CryptoKey>>())

/** Imports the private key of an option, once for each algorithm. */
export function importSigningKey(
  option: string,
  signingKey: SigningKey,
  algorithm: string,
): Promise<CryptoKey> {
  const keys = getImported(signingKey)
  const load = keys.get(algorithm) ?? lazy(() => importKey(option, signingKey.key, algorithm))
  keys.set(algorithm, load)
  return load()
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

/** `private_key_jwt`: `aud` is one string, the issuer or the token endpoint; lifetime 60 s, a fresh `jti` each time (RFC 7523). */
function assertionAuth(config: Config, auth: Assertion, metadata: ServerMetadata): ClientAuth {
  const { clientId } = config
  return async (_server, _client, body) => {
    // Ed25519 has two names; the provider gets the one that it advertised.
    const algorithm = selectAlgorithm(auth, metadata)
    const key = await importSigningKey('clientAssertionSigningKey', auth, algorithm)
    const aud =
      auth.audience === 'token_endpoint' ? requireEndpoint(metadata, 'tokenEndpoint') : metadata.issuer
    const signer = { key, algorithm, keyId: auth.keyId }
    body.set('client_id', clientId)
    body.set('client_assertion_type', ASSERTION_TYPE)
    body.set('client_assertion', await signClaims(config, signer, { sub: clientId, aud }, auth.typ))
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
  if (clientAuth.kind === 'assertion') return (metadata) => assertionAuth(config, clientAuth, metadata)
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
