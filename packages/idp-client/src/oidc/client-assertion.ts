import { importPKCS8 } from 'jose/key/import'
import type { ClientAuth } from 'oauth4webapi'
import { modifyAssertion, PrivateKeyJwt } from 'oauth4webapi'
import { lazy } from '../lib/lazy.ts'
import type { Assertion, Metadata } from './client-auth.ts'
import { selectAlgorithm, unusable } from './client-auth.ts'
import { requireEndpoint } from './metadata.ts'

async function importPem(pem: string, algorithm: string): Promise<CryptoKey> {
  try {
    return await importPKCS8(pem, algorithm)
  } catch {
    // The runtime's own error is not kept: it may quote the key.
    throw unusable(`clientAssertionSigningKey cannot be used as a PKCS#8 private key for ${algorithm}.`)
  }
}

async function assertionBy(auth: Assertion, metadata: Metadata): Promise<ClientAuth> {
  const algorithm = selectAlgorithm(auth, metadata)
  const key = typeof auth.key === 'string' ? await importPem(auth.key, algorithm) : auth.key
  const { audience, keyId } = auth
  const tokenEndpoint = audience && requireEndpoint(metadata, 'tokenEndpoint')
  // Without a configured key id there is none: a guess (a thumbprint) that differs from what is registered is refused.
  return PrivateKeyJwt(keyId === undefined ? key : { key, kid: keyId }, {
    // Ed25519 has two names; the provider gets the one that it advertised.
    [modifyAssertion]: (header, payload) => {
      header['alg'] = algorithm
      if (tokenEndpoint !== undefined) payload['aud'] = tokenEndpoint
    },
  })
}

/**
 * `private_key_jwt`: `aud` is one string, the issuer or the token endpoint; lifetime 60 s, a fresh `jti` each time (RFC 7523).
 * The key is imported once for each metadata, since that costs more than signing.
 */
export function assertionAuths(auth: Assertion): (metadata: Metadata) => ClientAuth {
  let latest: { readonly metadata: Metadata; readonly signer: () => Promise<ClientAuth> } | undefined
  return (metadata) => {
    if (latest?.metadata !== metadata) latest = { metadata, signer: lazy(() => assertionBy(auth, metadata)) }
    const { signer } = latest
    return async (...given) => (await signer())(...given)
  }
}
