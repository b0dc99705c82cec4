import type { JWK } from 'jose'
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint'
import { exportJWK } from 'jose/key/export'
import { importJWK, importPKCS8, importSPKI } from 'jose/key/import'
import type { DpopKeys } from '../config/config.ts'
import { InvalidConfigurationError } from '../errors/configuration.ts'
import { utf8 } from '../lib/utf8.ts'

export interface ImportedKeys {
  readonly publicKey: CryptoKey
  readonly privateKey: CryptoKey
  /** The public key as embedded in proofs. */
  readonly jwk: JWK
  /** JWK SHA-256 thumbprint (RFC 7638). */
  readonly thumbprint: string
}

function unusable(detail: string): InvalidConfigurationError {
  return new InvalidConfigurationError('INVALID_CONFIGURATION', { detail, remedy: 'DPOP_KEYS' })
}

const signature = { name: 'ECDSA', hash: 'SHA-256' }

/** Returns whether the keys form a pair. A mismatch would otherwise only show as an unclear error of the provider. */
async function areOnePair(privateKey: CryptoKey, jwk: JWK): Promise<boolean> {
  const verifier = await importJWK(jwk, 'ES256')
  if (!(verifier instanceof CryptoKey)) return false
  const sample = utf8('idp-client')
  const signed = await crypto.subtle.sign(signature, privateKey, sample)
  return crypto.subtle.verify(signature, verifier, signed, sample)
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
        publicKey: await importSPKI(keys.publicKey, 'ES256', { extractable: true }),
        privateKey: await importPKCS8(keys.privateKey, 'ES256'),
      }
  }
}

/** Imports and tests the keys. Throws `InvalidConfigurationError` if they are missing, unusable or not a pair. */
export async function importDpopKeys(keys: DpopKeys): Promise<ImportedKeys> {
  const names =
    keys.kind === 'pem' ? 'IDP_DPOP_PUBLIC_KEY and IDP_DPOP_PRIVATE_KEY' : 'The two keys of dpopKeyPair'
  try {
    const { privateKey, publicKey } = await load(keys)
    const { crv, kty, x, y } = await exportJWK(publicKey)
    const jwk = { kty, crv, x, y } as JWK
    if (await areOnePair(privateKey, jwk)) {
      return { publicKey, privateKey, jwk, thumbprint: await calculateJwkThumbprint(jwk) }
    }
  } catch (error) {
    if (error instanceof InvalidConfigurationError) throw error
    // The runtime's own error is dropped: it may quote the key.
    throw unusable(`${names} cannot be used as ES256 keys (elliptic curve P-256).`)
  }
  throw unusable(`${names} are not one pair.`)
}
