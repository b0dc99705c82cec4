import { fromBase64url } from '../crypto/base64url.ts'
import { invalidAtStart } from '../errors/configuration.ts'
import { decodeJsonObject } from '../lib/json.ts'
import { utf8 } from '../lib/utf8.ts'

/**
 * The secret of the former library, or several of them while it rotates them. Each has 32 characters or more. Undefined, for example
 * because a variable is not set, throws an `InvalidConfigurationError` when the first former session is read.
 */
export type FormerSecret = string | readonly string[] | undefined

/** A decrypted cookie. Some libraries keep the times of a session in the header. */
export interface OpenedJwe {
  readonly header: Readonly<Record<string, unknown>>
  readonly payload: Readonly<Record<string, unknown>>
}

const MIN_SECRET_LENGTH = 32

function assertLongEnough(library: string, secrets: readonly unknown[]): void {
  const isLongEnough = (secret: unknown) => typeof secret === 'string' && secret.length >= MIN_SECRET_LENGTH
  if (secrets.length > 0 && secrets.every(isLongEnough)) return
  throw invalidAtStart(
    `The secret of takeOver (${library}) must be the secret of the former library, or a non-empty array of its secrets, each with at least ${MIN_SECRET_LENGTH} characters. If the former secret is shorter, omit takeOver: its users log in again.`,
  )
}

async function deriveKey(secret: string, info: string): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey('raw', utf8(secret), 'HKDF', false, ['deriveKey'])
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: utf8(info) }
  return crypto.subtle.deriveKey(hkdf, material, { name: 'AES-GCM', length: 256 }, false, ['decrypt'])
}

/** Several strings decode to the same bytes. Only one of them is accepted, so that a string can identify the session. */
const isCanonical = (jwe: string) => jwe.split('.').every((part) => fromBase64url(part) !== null)

async function openWith(jwe: string, key: CryptoKey): Promise<OpenedJwe | null> {
  // Many modules, which an application loads when its first former session arrives.
  const { compactDecrypt } = await import('jose/jwe/compact/decrypt')
  try {
    const { plaintext, protectedHeader } = await compactDecrypt(jwe, key, {
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
    })
    const payload = decodeJsonObject(plaintext)
    return payload && { header: { ...protectedHeader }, payload }
  } catch {
    return null
  }
}

/**
 * Returns a function that decrypts a JWE in compact serialization (RFC 7516): `dir` with `A256GCM`, the key derived from the secret
 * by HKDF-SHA256 with an empty salt and `info`. It returns `null` for anything that does not open with one of the secrets, or that
 * does not contain an object of JSON. It does not check times.
 *
 * @throws InvalidConfigurationError if a secret is shorter than 32 characters
 */
export function createOpener(
  library: string,
  secret: FormerSecret,
  info: string,
): (jwe: string) => Promise<OpenedJwe | null> {
  const secrets = typeof secret === 'string' ? [secret] : secret
  if (secrets) assertLongEnough(library, secrets)
  let keys: Promise<CryptoKey[]> | undefined
  return async (jwe) => {
    if (!secrets)
      throw invalidAtStart(
        `The secret of takeOver (${library}) is undefined. Set the variable that it is read from.`,
      )
    if (!isCanonical(jwe)) return null
    keys ??= Promise.all(secrets.map((each) => deriveKey(each, info)))
    for (const key of await keys) {
      const opened = await openWith(jwe, key)
      if (opened) return opened
    }
    return null
  }
}
