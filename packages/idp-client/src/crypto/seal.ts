import * as platform from '#cipher'
import type { MaybePromise } from '../lib/chain.ts'
import { chain } from '../lib/chain.ts'
import { Lru } from '../lib/lru.ts'
import { processWide } from '../lib/registry.ts'
import type { Bytes } from '../lib/utf8.ts'
import { utf8 } from '../lib/utf8.ts'
import type { Cipher, CipherKey } from './cipher.ts'

/** Purpose of a sealed value. Each purpose has its own key, so that a value of one cannot be opened as another. */
export type Purpose =
  | 'session'
  | 'session-id'
  | 'transaction'
  | 'state'
  | 'mfa'
  | 'connection'
  | 'logout'
  | 'guard'
  | 'dpop-nonce'

/** Seals bytes into compact JWE (RFC 7516; `dir`, `A256GCM`) and opens them again. Neither throws for any input. */
export interface Sealer {
  /** Seals with the first secret. Results above 64 KiB cannot be opened. */
  seal(purpose: Purpose, plaintext: Bytes): MaybePromise<string>
  /** Returns `null` unless a secret of this sealer sealed the value for this purpose. */
  open(purpose: Purpose, sealed: string): MaybePromise<Bytes | null>
  /** Returns whether a value claims to be sealed for this purpose with the first secret. Verifies nothing. */
  isCurrent(purpose: Purpose, sealed: string): MaybePromise<boolean>
  /** Returns whether a value claims to be sealed for this purpose with one of the secrets. Verifies nothing. */
  isOwn(purpose: Purpose, sealed: string): MaybePromise<boolean>
  /** Identifies the first secret without revealing anything about it: the `kid` of sealed values. */
  readonly keyId: MaybePromise<string>
}

/** The key of one secret for one purpose, and the prefix of every value sealed with it. */
interface PurposeKey {
  readonly key: CipherKey
  readonly aad: Bytes
  /** Encoded header and empty encrypted key with its two dots. */
  readonly prefix: string
}

interface KeyRing {
  readonly keyId: string
  purposeKey(purpose: Purpose): MaybePromise<PurposeKey>
}

export const MAX_SEALED_CHARACTERS = 65_536
const IV_BYTES = 12
const IV_CHARACTERS = 16
const TAG_CHARACTERS = 22
const KEY_ID_CHARACTERS = 6
/* Maximum number of secrets whose keys are cached; an application has one or two. */
const MAX_KEY_RINGS = 32

function createRing(cipher: Cipher, secret: string): MaybePromise<KeyRing> {
  const keys = new Map<Purpose, PurposeKey>()
  return chain(cipher.deriveBytes(secret, 'idp-client kid v1', KEY_ID_CHARACTERS), (bytes) => {
    const keyId = cipher.toBase64url(bytes).slice(0, KEY_ID_CHARACTERS)
    const create = (purpose: Purpose): MaybePromise<PurposeKey> => {
      // `open` compares this string and parses nothing, so the properties and their order are part of the cookie format.
      const text = JSON.stringify({ alg: 'dir', enc: 'A256GCM', typ: purpose, kid: keyId })
      const header = cipher.toBase64url(utf8(text))
      return chain(cipher.deriveKey(secret, `idp-client ${purpose} v1`), (key) => {
        const created = { key, aad: utf8(header), prefix: `${header}..` }
        keys.set(purpose, created)
        return created
      })
    }
    return { keyId, purposeKey: (purpose) => keys.get(purpose) ?? create(purpose) }
  })
}

/** Returns the keys of a secret, which are derived once per process and shared by all its clients. */
function getKeyRing(cipher: Cipher, secret: string): MaybePromise<KeyRing> {
  const rings = processWide('cache:key-rings/2', () => new Lru<string, KeyRing>(MAX_KEY_RINGS))
  return chain(cipher.digest('sha256', secret), (hash) => {
    const id = `${cipher.kind} ${cipher.toBase64url(hash)}`
    const known = rings.get(id)
    if (known) return known
    return chain(createRing(cipher, secret), (created) => {
      rings.set(id, created)
      return created
    })
  })
}

function openWith(cipher: Cipher, purposeKey: PurposeKey, sealed: string): MaybePromise<Bytes | null> {
  const start = purposeKey.prefix.length
  const ivEnd = start + IV_CHARACTERS
  const tagStart = sealed.length - TAG_CHARACTERS
  if (tagStart - 1 <= ivEnd || sealed[ivEnd] !== '.' || sealed[tagStart - 1] !== '.') return null
  const iv = cipher.fromBase64url(sealed.slice(start, ivEnd))
  const ciphertext = cipher.fromBase64url(sealed.slice(ivEnd + 1, tagStart - 1))
  const tag = cipher.fromBase64url(sealed.slice(tagStart))
  return iv && ciphertext && tag && cipher.decrypt(purposeKey.key, iv, purposeKey.aad, { ciphertext, tag })
}

function sealWith(cipher: Cipher, purposeKey: PurposeKey, plaintext: Bytes): MaybePromise<string> {
  const iv = cipher.randomBytes(IV_BYTES)
  return chain(cipher.encrypt(purposeKey.key, iv, purposeKey.aad, plaintext), ({ ciphertext, tag }) => {
    const body = cipher.toBase64url(ciphertext)
    return `${purposeKey.prefix}${cipher.toBase64url(iv)}.${body}.${cipher.toBase64url(tag)}`
  })
}

/**
 * Creates a sealer with one or several secrets: the first seals, all open. Keys are derived on first use and shared by
 * the whole process.
 */
export function createSealer(secrets: readonly [string, ...string[]], cipher: Cipher = platform): Sealer {
  const known: (KeyRing | undefined)[] = []

  function ringAt(index: number, secret: string): MaybePromise<KeyRing> {
    return (
      known[index] ??
      chain(getKeyRing(cipher, secret), (ring) => {
        known[index] = ring
        return ring
      })
    )
  }

  const getCurrentKey = (purpose: Purpose): MaybePromise<PurposeKey> =>
    chain(ringAt(0, secrets[0]), (ring) => ring.purposeKey(purpose))

  /** Returns the key with the prefix of the value, starting at the secret with this index. */
  function findKey(index: number, purpose: Purpose, sealed: string): MaybePromise<PurposeKey | null> {
    const secret = secrets[index]
    if (secret === undefined) return null
    return chain(ringAt(index, secret), (ring) =>
      chain(ring.purposeKey(purpose), (purposeKey) =>
        sealed.startsWith(purposeKey.prefix) ? purposeKey : findKey(index + 1, purpose, sealed),
      ),
    )
  }

  return {
    seal: (purpose, plaintext) =>
      chain(getCurrentKey(purpose), (purposeKey) => sealWith(cipher, purposeKey, plaintext)),
    open: (purpose, sealed) =>
      sealed.length > MAX_SEALED_CHARACTERS
        ? null
        : chain(
            findKey(0, purpose, sealed),
            (purposeKey) => purposeKey && openWith(cipher, purposeKey, sealed),
          ),
    isCurrent: (purpose, sealed) => chain(getCurrentKey(purpose), ({ prefix }) => sealed.startsWith(prefix)),
    isOwn: (purpose, sealed) => chain(findKey(0, purpose, sealed), (purposeKey) => purposeKey !== null),
    get keyId() {
      return chain(ringAt(0, secrets[0]), (ring) => ring.keyId)
    },
  }
}
