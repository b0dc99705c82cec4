import { importPKCS8 } from 'jose/key/import'
import type { ClientAuth } from 'openid-client'
import { ClientSecretBasic, ClientSecretPost, PrivateKeyJwt } from 'openid-client'
import type { Config } from '../config/config.ts'
import { InvalidConfigurationError } from '../errors/configuration.ts'
import { lazy } from '../lib/lazy.ts'
import type { ServerMetadata } from './metadata.ts'

type Metadata = Pick<ServerMetadata, 'clientAuthAlgorithms' | 'clientAuthMethods'>
type Assertion = Extract<Config['clientAuth'], { kind: 'assertion' }>

/** In the order of preference where neither the option nor the provider decides. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'ES384', 'ES512', 'PS384', 'PS512', 'RS384', 'RS512']

/** The PEM under the first algorithm that fits it: a PEM names the kind of key, not what it signs with. */
async function importKey(auth: Assertion, metadata: Metadata): Promise<CryptoKey> {
  if (typeof auth.key !== 'string') return auth.key
  const advertised = metadata.clientAuthAlgorithms?.filter((algorithm) => ALGORITHMS.includes(algorithm))
  const candidates = auth.algorithm === undefined ? (advertised ?? ALGORITHMS) : [auth.algorithm]
  for (const algorithm of candidates) {
    try {
      return await importPKCS8(auth.key, algorithm)
    } catch {
      // Another kind of key; the next algorithm may fit.
    }
  }
  const detail = `clientAssertionSigningKey is no PKCS#8 private key for ${candidates.join(', ') || 'any advertised algorithm'}.`
  throw new InvalidConfigurationError('INVALID_CONFIGURATION', { detail })
}

// Importing a key costs more than signing with it; weak, so that a key leaves memory with its configuration.
const assertions = new WeakMap<Assertion, WeakMap<Metadata, ClientAuth>>()

/** `private_key_jwt`: `aud` is the issuer as a string, lifetime 60 s, a fresh `jti` each time (RFC 7523). */
function assertionAuth(auth: Assertion, metadata: Metadata): ClientAuth {
  const known = assertions.get(auth) ?? new WeakMap<Metadata, ClientAuth>()
  assertions.set(auth, known)
  const found = known.get(metadata)
  if (found) return found
  const signer = lazy(async () => PrivateKeyJwt(await importKey(auth, metadata)))
  const made: ClientAuth = async (server, client, body, headers) =>
    (await signer())(server, client, body, headers)
  known.set(metadata, made)
  return made
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
