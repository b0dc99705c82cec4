/** A key of the Web Crypto API: `CryptoKey`, a global type in the DOM but not in Node.js. */
export type WebCryptoKey = Extract<
  Awaited<ReturnType<typeof crypto.subtle.generateKey>>,
  { readonly type: unknown }
>

/**
 * Generates a key pair for DPoP (RFC 9449), for the option `dpopKeyPair`. Tokens are bound to it: every process that
 * shares the sessions needs the same pair, also after a restart. Applications with persistent sessions therefore load
 * it from the variables `IDP_DPOP_PUBLIC_KEY` and `IDP_DPOP_PRIVATE_KEY` (`npx idp-client dpop-keys` generates them).
 *
 * @param options `extractable`: whether the private key may be exported; default false.
 */
export async function generateDpopKeyPair(options: { extractable?: boolean } = {}): Promise<{
  publicKey: WebCryptoKey
  privateKey: WebCryptoKey
}> {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(
    { name: 'ECDSA', namedCurve: 'P-256' },
    options.extractable ?? false,
    ['sign', 'verify'],
  )
  return { publicKey, privateKey }
}

/** The kinds of keys that sign here. */
export type KeyKind = 'RSA' | 'P-256' | 'P-384' | 'P-521' | 'Ed25519'

/** The JWS algorithms that a key of each kind can sign with (RFC 7518, RFC 8037, RFC 9864). */
export const algorithmsOfKind: Readonly<Record<KeyKind, readonly string[]>> = {
  RSA: ['RS256', 'PS256', 'RS384', 'PS384', 'RS512', 'PS512'],
  'P-256': ['ES256'],
  'P-384': ['ES384'],
  'P-521': ['ES512'],
  Ed25519: ['EdDSA', 'Ed25519'],
}

const CURVES: readonly KeyKind[] = ['P-256', 'P-384', 'P-521']

/** Returns the JWS algorithms of a key; a `CryptoKey` supports one algorithm, which may have two names. */
export function signatureAlgorithms({ algorithm }: CryptoKey): readonly string[] {
  if (algorithm.name === 'Ed25519') return algorithmsOfKind.Ed25519
  if (algorithm.name === 'ECDSA' && 'namedCurve' in algorithm) {
    const curve = CURVES.find((name) => name === algorithm.namedCurve)
    return curve ? algorithmsOfKind[curve] : []
  }
  const family = { 'RSASSA-PKCS1-v1_5': 'RS', 'RSA-PSS': 'PS' }[algorithm.name]
  if (family === undefined || !('hash' in algorithm)) return []
  const size = /^SHA-(256|384|512)$/.exec((algorithm.hash as { name: string }).name)?.[1]
  return size === undefined ? [] : [`${family}${size}`]
}

/** Whether a value is a Web Crypto key, of any realm and implementation. */
export function isCryptoKey(value: unknown): value is CryptoKey {
  return Object.prototype.toString.call(value) === '[object CryptoKey]'
}

/** The members that identify a public key (RFC 7638). */
const IDENTITY = ['kty', 'crv', 'x', 'y', 'n', 'e'] as const

/** Returns the same text for the same public key, whatever its `kid` and its algorithm. */
export function toKeyIdentity(jwk: Readonly<Partial<Record<(typeof IDENTITY)[number], unknown>>>): string {
  return JSON.stringify(IDENTITY.map((name) => jwk[name]))
}
