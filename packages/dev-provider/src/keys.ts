import type { KeyObject } from 'node:crypto'
import { generateKeyPair, randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import type { CryptoKey, JWK, JWTHeaderParameters, JWTPayload } from 'jose'
import { CompactSign, exportJWK, exportPKCS8, importJWK } from 'jose'
import { DevProviderError } from './error.ts'

const generate = promisify(generateKeyPair)

export const SIGNING_ALGS = ['RS256', 'ES256', 'PS256', 'EdDSA'] as const
export type SigningAlg = (typeof SIGNING_ALGS)[number]

/** A key to sign with: private JWK, CryptoKey, KeyObject, or raw bytes for HS256. */
export type SigningKey = JWK | CryptoKey | KeyObject | Uint8Array

export interface SignOptions {
  /** Protected header members over the default `{ alg, kid }`; `undefined` removes one. */
  readonly header?: { [Name in keyof JWTHeaderParameters]?: JWTHeaderParameters[Name] | undefined }
  /** Default RS256. */
  readonly alg?: string
  /** Default: the provider's current key for the algorithm. */
  readonly key?: SigningKey
}

export interface KeyPair {
  readonly publicJwk: JWK
  /** PKCS#8. */
  readonly privatePem: string
}

/** The signing keys of one provider. */
export interface KeyRing {
  /** Private keys, the current ones first, as oidc-provider wants them. */
  privateJwks(): { keys: JWK[] }
  /** Makes new keys; the old ones stay published behind them, or are gone at once. */
  rotate(options?: { readonly keepOld?: boolean }): Promise<void>
  /** Signs a JWT with a current key or with a given one. */
  sign(claims: JWTPayload, options?: SignOptions): Promise<string>
  /** Lets the next provider of this process have the RSA keys, under new key ids. */
  release(): void
}

function labelled(jwk: JWK, alg: SigningAlg): JWK {
  return { ...jwk, kid: `dev-${alg.toLowerCase()}-${randomUUID().slice(0, 8)}`, alg, use: 'sig' }
}

function material(alg: SigningAlg): Promise<{ privateKey: KeyObject; publicKey: KeyObject }> {
  if (alg === 'EdDSA') return generate('ed25519')
  return alg === 'ES256' ? generate('ec', { namedCurve: 'P-256' }) : generate('rsa', { modulusLength: 2048 })
}

/** A fresh key pair with its own key id. */
export async function createKeyPair(alg: SigningAlg): Promise<KeyPair> {
  const { privateKey, publicKey } = await material(alg)
  return {
    publicJwk: labelled(await exportJWK(publicKey), alg),
    privatePem: await exportPKCS8(privateKey),
  }
}

/** RSA keys of stopped providers: to generate one takes longer than everything else at the start of a provider. */
const spareRsaKeys: JWK[] = []

async function createKeys(): Promise<JWK[]> {
  const privateJwk = async (alg: SigningAlg): Promise<JWK> =>
    (alg === 'RS256' ? spareRsaKeys.pop() : undefined) ?? exportJWK((await material(alg)).privateKey)
  const [rsa, ec, ed] = await Promise.all([privateJwk('RS256'), privateJwk('ES256'), privateJwk('EdDSA')])
  // One RSA key under two ids: generating another would double the time that a provider takes to start.
  return [labelled(rsa, 'RS256'), labelled(ec, 'ES256'), labelled(rsa, 'PS256'), labelled(ed, 'EdDSA')]
}

function isJwk(key: SigningKey): key is JWK {
  return 'kty' in key && typeof key.kty === 'string'
}

/** Compact JWS over the claims; algorithm `none` gives an unsigned token. */
export async function signJwt(
  claims: JWTPayload,
  header: JWTHeaderParameters,
  key: SigningKey,
): Promise<string> {
  const payload = Buffer.from(JSON.stringify(claims))
  if (header.alg === 'none') {
    return `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${payload.toString('base64url')}.`
  }
  const signer = isJwk(key) ? await importJWK(key, header.alg) : key
  return new CompactSign(payload).setProtectedHeader(header).sign(signer)
}

const PRIVATE_MEMBERS = new Set(['d', 'p', 'q', 'dp', 'dq', 'qi'])

/** Returns the JWK set that `jwks_uri` publishes. */
export function publicJwks(ring: KeyRing): { keys: JWK[] } {
  const keys = ring
    .privateJwks()
    .keys.map(
      (jwk): JWK =>
        Object.fromEntries(Object.entries(jwk).filter(([member]) => !PRIVATE_MEMBERS.has(member))),
    )
  return { keys }
}

export async function createKeyRing(): Promise<KeyRing> {
  let keys = await createKeys()
  let isReleased = false

  const current = (alg: string): JWK => {
    const key = keys.find((candidate) => candidate.alg === alg)
    if (key) return key
    throw new DevProviderError(`No provider key signs ${alg}: use ${SIGNING_ALGS.join(', ')} or pass a key.`)
  }
  return {
    privateJwks: () => ({ keys: structuredClone(keys) }),
    rotate: async ({ keepOld = false } = {}) => {
      const fresh = await createKeys()
      keys = keepOld ? [...fresh, ...keys] : fresh
    },
    sign: (claims, { header = {}, alg = header.alg ?? 'RS256', key } = {}) => {
      const own = alg === 'none' ? undefined : (key ?? current(alg))
      const kid = own && isJwk(own) ? own.kid : undefined
      const members = Object.entries({ alg, kid, ...header }).filter(([, value]) => value !== undefined)
      return signJwt(
        claims,
        { ...Object.fromEntries(members), alg: header.alg ?? alg },
        own ?? new Uint8Array(),
      )
    },
    release: () => {
      if (!isReleased) spareRsaKeys.push(...keys.filter(({ alg }) => alg === 'RS256'))
      isReleased = true
    },
  }
}
