import type { DpopKeys } from '../config/config.ts'
import type { Es256Jwk } from '../crypto/es256.ts'
import {
  areOnePair,
  exportPublicJwk,
  importPrivatePem,
  importPublicPem,
  toThumbprintInput,
} from '../crypto/es256.ts'
import { hashToken } from '../crypto/random.ts'
import { InvalidConfigurationError } from '../errors/configuration.ts'

export interface ImportedKeys {
  readonly publicKey: CryptoKey
  readonly privateKey: CryptoKey
  /** The public key as embedded in proofs. */
  readonly jwk: Es256Jwk
  /** JWK SHA-256 thumbprint (RFC 7638). */
  readonly thumbprint: string
}

function unusable(detail: string): InvalidConfigurationError {
  return new InvalidConfigurationError('INVALID_CONFIGURATION', { detail, remedy: 'DPOP_KEYS' })
}

async function load(keys: DpopKeys): Promise<{ publicKey: CryptoKey; privateKey: CryptoKey }> {
  switch (keys.kind) {
    case 'none':
      throw unusable(
        'DPoP needs a key pair: set dpopKeyPair, or both IDP_DPOP_PUBLIC_KEY and IDP_DPOP_PRIVATE_KEY.',
      )
    case 'pair':
      return keys
    case 'pem':
      return {
        publicKey: await importPublicPem(keys.publicKey),
        privateKey: await importPrivatePem(keys.privateKey),
      }
  }
}

/** Imports and tests the keys. Throws `InvalidConfigurationError` if they are missing, unusable or not a pair. */
export async function importDpopKeys(keys: DpopKeys): Promise<ImportedKeys> {
  const names =
    keys.kind === 'pem' ? 'IDP_DPOP_PUBLIC_KEY and IDP_DPOP_PRIVATE_KEY' : 'The two keys of dpopKeyPair'
  try {
    const { privateKey, publicKey } = await load(keys)
    const jwk = await exportPublicJwk(publicKey)
    if (await areOnePair(privateKey, jwk)) {
      return { publicKey, privateKey, jwk, thumbprint: await hashToken(toThumbprintInput(jwk), 32) }
    }
  } catch (error) {
    if (error instanceof InvalidConfigurationError) throw error
    // The runtime's own error is dropped: it may quote the key.
    throw unusable(`${names} cannot be used as ES256 keys (elliptic curve P-256).`)
  }
  throw unusable(`${names} are not one pair.`)
}
