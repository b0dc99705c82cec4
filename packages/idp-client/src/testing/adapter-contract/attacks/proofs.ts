import { hashToken, randomToken } from '../../../crypto/random.ts'
import { systemClock } from '../../../lib/clock.ts'
import type { Sending } from '../browser.ts'
import type { ContractHost } from '../host.ts'
import type { Attack } from './attack.ts'
import { AUDIENCE, bearer, bound, refusals, toAttack } from './attack.ts'
import type { Key, Members } from './forge.ts'
import { decode, encode, newProofKey, sign, thumbprint } from './forge.ts'

/** A proof: what is wrong with it, its claims over those of a valid one, members of its header, and another key that signs it. */
type ProofRow = readonly [title: string, claims: Members, header?: Members, signer?: CryptoKey]

interface Material {
  readonly host: ContractHost
  readonly key: Key
  /** Bound to the key. */
  readonly token: string
  readonly now: number
}

async function prove(
  { host, key, now, token }: Material,
  [, claims, header, signer]: ProofRow = ['valid', {}],
): Promise<string> {
  const valid = {
    jti: randomToken(),
    htm: 'GET',
    htu: `${host.url}/shared`,
    iat: now,
    ath: await hashToken(token, 32),
  }
  const protectedHeader = { alg: 'ES256', typ: 'dpop+jwt', jwk: key.jwk, ...header }
  return sign(protectedHeader, { ...valid, ...claims }, signer ?? key.pair.privateKey)
}

async function proofRows({ host, key, now, token }: Material): Promise<readonly ProofRow[]> {
  const other = await newProofKey()
  const scheme = host.url.startsWith('https:') ? 'http' : 'https'
  return [
    ['another method', { htm: 'POST' }],
    ['the method in lower case', { htm: 'get' }],
    ['no method', { htm: undefined }],
    ['another path', { htu: `${host.url}/resource` }],
    ['another origin', { htu: 'https://evil.example/shared' }],
    ['the other scheme', { htu: `${host.url}/shared`.replace(/^https?/, scheme) }],
    ['a path as URL', { htu: '/shared' }],
    ['no URL', { htu: undefined }],
    ['the hash of another token', { ath: await hashToken(`${token}x`, 32) }],
    ['no hash', { ath: undefined }],
    ['an hour old', { iat: now - 3600 }],
    ['of an hour later', { iat: now + 3600 }],
    ['no time', { iat: undefined }],
    ['a time as text', { iat: String(now) }],
    ['no id', { jti: undefined }],
    ['an empty id', { jti: '' }],
    ['an endless id', { jti: 'x'.repeat(1025) }],
    ['another type', {}, { typ: 'jwt' }],
    ['no type', {}, { typ: undefined }],
    ['no key', {}, { jwk: undefined }],
    ['another key', {}, { jwk: other.jwk }, other.pair.privateKey],
    ['another key that signs for ours', {}, {}, other.pair.privateKey],
    ['a private key', {}, { jwk: await crypto.subtle.exportKey('jwk', key.pair.privateKey) }],
    ['a symmetric key', {}, { jwk: { kty: 'oct', k: 'AAAA' } }],
    ['an address of a key', {}, { jwk: undefined, jku: 'https://evil.example/keys' }],
    ['a critical extension', {}, { crit: ['b64'], b64: true }],
  ]
}

/** Values of `cnf` that do not name exactly one key. */
const bindings = (jkt: string): Readonly<Record<string, unknown>> => ({
  'a certificate': { 'x5t#S256': jkt },
  'a key and a certificate': { jkt, 'x5t#S256': jkt },
  'a short thumbprint': { jkt: 'short' },
  'a number as thumbprint': { jkt: 1 },
  nothing: {},
  null: null,
  'a list': [],
  'a text': jkt,
})

/** The attacks with bound tokens, and the request that passes before them: one of them uses its proof again. */
export interface ProofAttacks {
  readonly valid: Sending
  readonly attacks: readonly Attack[]
}

/** Returns the attacks with tokens that are bound to a key, and with proofs of it (RFC 9449). */
export async function proofAttacks(host: ContractHost): Promise<ProofAttacks> {
  const key = await newProofKey()
  const jkt = await thumbprint(key)
  const issue = (cnf: unknown): Promise<string> => host.accessToken({ sub: 'carol', aud: AUDIENCE, cnf })
  const [token, unbound] = await Promise.all([issue({ jkt }), issue(undefined)])
  const material = { host, key, token, now: systemClock() }
  const refusal = host.infersBaseUrl ? refusals.unprovable : refusals.proof
  const valid = bound(token, await prove(material))
  const withProof = (title: string, proof?: string): Attack => toAttack(title, bound(token, proof), refusal)
  const [one, two] = [await prove(material), await prove(material)]
  const none = `${encode({ ...decode(one.split('.')[0]), alg: 'none' })}.${one.split('.')[1]}.`
  const rows = await proofRows(material)
  const proven = await Promise.all(rows.map((row) => prove(material, row)))
  const odd = await Promise.all(
    Object.entries(bindings(jkt)).map(async ([of, cnf]) => [of, await issue(cnf)] as const),
  )
  const asBearer = bearer(token)
  return {
    valid,
    attacks: [
      ...rows.map(([title], at) => withProof(`a proof: ${title}`, proven[at])),
      withProof('no proof'),
      withProof('an empty proof', ''),
      withProof('a proof that is no JWT', 'x'),
      withProof('a proof with alg none', none),
      withProof('two proofs', `${one}, ${two}`),
      withProof('two proofs without a space', `${one},${two}`),
      toAttack('a used proof', valid, refusal),
      toAttack('a bound token as Bearer', asBearer, refusals.token),
      toAttack(
        'a bound token as Bearer with a proof',
        { headers: { ...asBearer.headers, dpop: one } },
        refusals.token,
      ),
      toAttack('an unbound token as DPoP', bound(unbound, one), refusals.boundToken),
      ...odd.map(([of, other]) => toAttack(`a token bound to ${of}`, bound(other, one), refusals.boundToken)),
      ...odd.map(([of, other]) =>
        toAttack(`a token bound to ${of}, as Bearer`, bearer(other), refusals.token),
      ),
    ],
  }
}
