import { importPKCS8, importSPKI } from 'jose/key/import'
import type { Config, SigningKey } from '../config/config.ts'
import type { PublicJwk } from '../config/options.ts'
import { isCryptoKey, toKeyIdentity } from '../crypto/keys.ts'
import { invalidConfiguration } from '../errors/configuration.ts'

/**
 * The public keys of the client (RFC 7517): a public JWK is made of the members of this list, so that no member of a private key can
 * be left in it.
 */
const MEMBERS = ['kty', 'crv', 'x', 'y', 'n', 'e', 'kid', 'alg'] as const

type Members = Readonly<Partial<Record<(typeof MEMBERS)[number], unknown>>>

function toPublicJwk(members: Members): PublicJwk {
  const listed = MEMBERS.flatMap((name) =>
    typeof members[name] === 'string' ? [[name, members[name]] as const] : [],
  )
  const jwk: unknown = { ...Object.fromEntries(listed), use: 'sig' }
  return jwk as PublicJwk
}

/** The key of an option, and the option's names for messages. */
interface OwnKey {
  readonly option: string
  readonly keyIdOption: string
  readonly signingKey: SigningKey
}

function ownKeys({ clientAuth, requestObject }: Config): readonly OwnKey[] {
  const option = 'clientAssertionSigningKey'
  return [
    ...(clientAuth.kind === 'assertion'
      ? [{ option, keyIdOption: `${option}Id`, signingKey: clientAuth }]
      : []),
    ...(requestObject
      ? [{ option: 'requestObject.key', keyIdOption: 'requestObject.keyId', signingKey: requestObject }]
      : []),
  ]
}

async function exportKey(option: string, importKey: () => Promise<CryptoKey>): Promise<JsonWebKey> {
  try {
    return await crypto.subtle.exportKey('jwk', await importKey())
  } catch {
    // The runtime's own error is not kept: it may quote the key.
    throw invalidConfiguration(`${option} cannot be read as a key.`)
  }
}

/** Returns the public key of a signing key; null if that is not extractable, and published as an additional key. */
async function toOwnJwk(own: OwnKey, additional: readonly PublicJwk[]): Promise<PublicJwk | null> {
  const { keyIdOption, option, signingKey } = own
  const { algorithm, algorithms, key, keyId: kid } = signingKey
  if (isCryptoKey(key) && !key.extractable) {
    if (kid !== undefined && additional.some((jwk) => jwk.kid === kid)) return null
    const remedy = `add its public key to additionalPublicKeys, with the kid that ${keyIdOption} has`
    throw invalidConfiguration(
      `${option} is a CryptoKey that is not extractable, so its public key is unknown: ${remedy}.`,
    )
  }
  const [first = 'RS256', ...others] = algorithms
  const exported = await exportKey(option, async () =>
    typeof key === 'string' ? importPKCS8(key, algorithm ?? first, { extractable: true }) : key,
  )
  const alg = algorithm ?? (others.length === 0 ? first : undefined)
  return toPublicJwk({ ...exported, kid, alg })
}

/** PEM text declares the type of its key only; any algorithm of that type imports it. */
const IMPORT_ALGORITHMS = ['RS256', 'ES256', 'ES384', 'ES512', 'EdDSA']

async function importPublic(pem: string): Promise<CryptoKey> {
  const imported = await Promise.allSettled(
    IMPORT_ALGORITHMS.map((algorithm) => importSPKI(pem, algorithm, { extractable: true })),
  )
  const found = imported.find((result) => result.status === 'fulfilled')
  if (!found) throw new TypeError('not a key')
  return found.value
}

async function toAdditionalJwk(key: string | PublicJwk, at: number): Promise<PublicJwk> {
  if (typeof key !== 'string') return toPublicJwk(key)
  const exported = await exportKey(`additionalPublicKeys[${at}]`, () => importPublic(key))
  return toPublicJwk({ ...exported, alg: undefined })
}

/** Adds a key to those before it. The same key under the same `kid`, or under none, is published once, for all its algorithms. */
function withKey(keys: readonly PublicJwk[], key: PublicJwk): readonly PublicJwk[] {
  const named = keys.find(({ kid }) => kid !== undefined && kid === key.kid)
  if (named && toKeyIdentity(named) !== toKeyIdentity(key))
    throw invalidConfiguration(`Two different keys have the same kid: give each of them its own.`)
  const isSame = (other: PublicJwk): boolean =>
    toKeyIdentity(other) === toKeyIdentity(key) &&
    (other.kid === key.kid || other.kid === undefined || key.kid === undefined)
  const known = keys.find(isSame)
  if (!known) return [...keys, key]
  const alg = known.alg === key.alg ? key.alg : undefined
  const merged = toPublicJwk({ ...known, kid: known.kid ?? key.kid, alg })
  return keys.map((other) => (other === known ? merged : other))
}

/**
 * Returns the public keys that the provider needs to verify what the client signs: those of assertions and of signed requests, and
 * `additionalPublicKeys`. A `kid` is the one in the header of what is signed. Throws `InvalidConfigurationError`.
 */
export async function toPublicKeys(config: Config): Promise<readonly PublicJwk[]> {
  const additional = await Promise.all(config.additionalPublicKeys.map(toAdditionalJwk))
  const own = await Promise.all(ownKeys(config).map((key) => toOwnJwk(key, additional)))
  const all = [...own.filter((jwk) => jwk !== null), ...additional]
  if (all.length > 0) return all.reduce<readonly PublicJwk[]>(withKey, [])
  const options = 'clientAssertionSigningKey, requestObject or additionalPublicKeys'
  throw invalidConfiguration(`There is no key whose public part could be published: set ${options}.`)
}
