import type { KeyKind } from '../crypto/keys.ts'

/** PEM labels (RFC 7468) of the two types of keys in options and variables. */
export type PemLabel = 'PRIVATE KEY' | 'PUBLIC KEY'

/**
 * Variables often contain the line breaks of PEM text as the two characters `\n`, and the quotes of their file, which
 * `docker run --env-file` keeps.
 */
export function unescapePem(text: string): string {
  const [, , unquoted = text] = /^(["'])(.*)\1$/s.exec(text) ?? []
  return unquoted.replaceAll('\\r', '').replaceAll('\\n', '\n').trim()
}

/** DER of the object identifiers of key types (RFC 3279, RFC 5480, RFC 8410), in hexadecimal. */
const identifiers: readonly (readonly [string, KeyKind])[] = [
  ['06092a864886f70d010101', 'RSA'],
  ['06082a8648ce3d030107', 'P-256'],
  ['06052b81040022', 'P-384'],
  ['06052b81040023', 'P-521'],
  ['06032b6570', 'Ed25519'],
]

/** The identifier is in the first bytes; later the same bytes could be part of a key. */
const HEAD = 48

/** Returns the bytes of PEM text in hexadecimal; an empty string if they are not base64. */
function toHex(pem: string): string {
  try {
    const binary = atob(pem.replace(/-----[^-]+-----/g, '').replace(/\s+/g, ''))
    return Array.from(binary, (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')).join('')
  } catch {
    return ''
  }
}

/** Returns the kind of key that a PEM string declares; undefined for kinds that cannot sign. */
export function detectKeyKind(pem: string): KeyKind | undefined {
  const head = toHex(pem).slice(0, HEAD * 2)
  return identifiers.find(([identifier]) => head.includes(identifier))?.[1]
}

/**
 * DER of the tag of a modulus, and a length of two bytes: after the version of an RSA private key (RFC 8017, appendix A.1.2), or in
 * the bit string of a public key in SPKI form, in a sequence that begins with it (appendix A.1.1).
 */
const MODULUS = /(?:020100|0382[0-9a-f]{4}003082[0-9a-f]{4})0282([0-9a-f]{4})/

/** Returns whether the modulus of an RSA key has at least 2048 bits: 256 bytes after one of zeros. */
export function hasLongModulus(pem: string): boolean {
  const [, length = '0'] = MODULUS.exec(toHex(pem)) ?? []
  return Number.parseInt(length, 16) > 256
}

/** Hexadecimal digits of an uncompressed point on P-256, and of a private key that names no public one. */
const POINT = 130
const BARE_PRIVATE_KEY = 140

/**
 * Returns whether PEM texts of two P-256 keys are known not to be a pair. If the private key does not contain its
 * public key, only the first use shows it.
 */
export function isOtherPair(publicKey: string, privateKey: string): boolean {
  const secret = toHex(privateKey)
  return secret.length > BARE_PRIVATE_KEY && !secret.includes(toHex(publicKey).slice(-POINT))
}

/**
 * Returns why `text` is not PEM text with this label, to follow the name of the option in a message; null if it is.
 * Whether the key is usable is known only when it is imported, at the first use.
 */
export function pemFault(text: string, label: PemLabel): string | null {
  const found = /-----BEGIN ([A-Z0-9 ]+)-----/.exec(text)?.[1]
  if (found === undefined) return `must be PEM text that begins with -----BEGIN ${label}-----`
  if (found === label) {
    const whole = new RegExp(`^-----BEGIN ${label}-----\\s+[A-Za-z0-9+/=\\s]+-----END ${label}-----$`)
    return whole.test(text) ? null : 'must be one complete PEM text, with its END line and base64 between'
  }
  if (label === 'PUBLIC KEY') return 'must be a public key in SPKI form (-----BEGIN PUBLIC KEY-----)'
  if (found === 'ENCRYPTED PRIVATE KEY') return 'must not be encrypted: give an unencrypted PKCS#8 key'
  return 'must be a PKCS#8 key (-----BEGIN PRIVATE KEY-----): openssl pkcs8 -topk8 -nocrypt converts it'
}
