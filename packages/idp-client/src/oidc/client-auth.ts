import { importPKCS8 } from 'jose/key/import'
import type { ClientAuth, ClientMetadata } from 'openid-client'
import { ClientSecretBasic, ClientSecretPost, clockSkew, modifyAssertion, PrivateKeyJwt } from 'openid-client'
import type { Config } from '../config/config.ts'
import { InvalidConfigurationError } from '../errors/configuration.ts'
import { systemClock } from '../lib/clock.ts'
import { lazy } from '../lib/lazy.ts'
import type { ServerMetadata } from './metadata.ts'
import { serverTime } from './server-time.ts'

type Metadata = Pick<ServerMetadata, 'clientAuthAlgorithms' | 'clientAuthMethods'>
type Assertion = Extract<Config['clientAuth'], { kind: 'assertion' }>

interface Signer {
  readonly key: CryptoKey
  readonly algorithm: string
}

function unusable(detail: string): InvalidConfigurationError {
  return new InvalidConfigurationError('INVALID_CONFIGURATION', { detail })
}

/** The configured algorithm, else the first that the provider advertises and the key can sign with. */
function algorithmFor({ algorithm, algorithms }: Assertion, metadata: Metadata): string {
  const advertised = metadata.clientAuthAlgorithms
  const chosen =
    algorithm ?? (advertised ? advertised.find((name) => algorithms.includes(name)) : algorithms[0])
  if (chosen !== undefined) return chosen
  const detail =
    `clientAssertionSigningKey signs with ${algorithms.join(', ')}, but the provider takes none of these ` +
    '(token_endpoint_auth_signing_alg_values_supported): use another key, or set clientAssertionSigningAlg.'
  throw unusable(detail)
}

async function signerFor(auth: Assertion, metadata: Metadata): Promise<Signer> {
  const algorithm = algorithmFor(auth, metadata)
  if (typeof auth.key !== 'string') return { key: auth.key, algorithm }
  try {
    return { key: await importPKCS8(auth.key, algorithm), algorithm }
  } catch {
    // The runtime's own error is not kept: it may quote the key.
    throw unusable(`clientAssertionSigningKey cannot be used as a PKCS#8 private key for ${algorithm}.`)
  }
}

async function assertionBy(auth: Assertion, metadata: Metadata): Promise<ClientAuth> {
  const { algorithm, key } = await signerFor(auth, metadata)
  const { keyId } = auth
  // Without a configured key id there is none: a guess (a thumbprint) that differs from what is registered is refused.
  return PrivateKeyJwt(keyId === undefined ? key : { key, kid: keyId }, {
    // Ed25519 has two names; the provider gets the one that it advertised.
    [modifyAssertion]: (header) => {
      header['alg'] = algorithm
    },
  })
}

// Importing a key costs more than signing with it; weak, so that a key leaves memory with its configuration.
const assertions = new WeakMap<Assertion, WeakMap<Metadata, ClientAuth>>()

/** `private_key_jwt`: `aud` is the issuer as a string, lifetime 60 s, a fresh `jti` each time (RFC 7523). */
function assertionAuth(auth: Assertion, metadata: Metadata): ClientAuth {
  const known = assertions.get(auth) ?? new WeakMap<Metadata, ClientAuth>()
  assertions.set(auth, known)
  const found = known.get(metadata)
  if (found) return found
  const signer = lazy(() => assertionBy(auth, metadata))
  const made: ClientAuth = async (server, client, body, headers) =>
    (await signer())(server, client, body, headers)
  known.set(metadata, made)
  return made
}

/** The client as `openid-client` needs to know it, whose assertions tell our time. */
export function clientMetadata(config: Pick<Config, 'clientId' | 'clock' | 'dpop'>): ClientMetadata {
  const client: ClientMetadata = { client_id: config.clientId }
  const skew = serverTime(config) - systemClock()
  // A second more or less is the rounding of two reads, not another clock.
  if (Math.abs(skew) > 1) client[clockSkew] = skew
  return client
}

/**
 * How this client proves itself at every endpoint, exactly one method: a key by signed assertion; a secret by HTTP
 * Basic if that is advertised or nothing is, else in the body.
 */
export function clientAuthentication(config: Pick<Config, 'clientAuth'>, metadata: Metadata): ClientAuth {
  const { clientAuth } = config
  if (clientAuth.kind === 'assertion') return assertionAuth(clientAuth, metadata)
  const methods = metadata.clientAuthMethods ?? []
  return methods.length === 0 || methods.includes('client_secret_basic')
    ? ClientSecretBasic(clientAuth.secret)
    : ClientSecretPost(clientAuth.secret)
}

/** The same for an endpoint that takes JSON: members of the body, a fresh assertion or the secret. */
export async function clientCredentials(
  config: Config,
  metadata: ServerMetadata,
): Promise<Readonly<Record<string, string>>> {
  const { clientAuth } = config
  const authenticate =
    clientAuth.kind === 'assertion'
      ? assertionAuth(clientAuth, metadata)
      : ClientSecretPost(clientAuth.secret)
  const members = new URLSearchParams()
  const client = clientMetadata(config)
  await authenticate({ issuer: metadata.issuer }, client, members, new Headers())
  return Object.fromEntries(members)
}
