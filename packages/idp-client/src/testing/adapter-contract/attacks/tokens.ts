import { systemClock } from '../../../lib/clock.ts'
import { signedInBrowser } from '../browser.ts'
import type { ContractHost } from '../host.ts'
import type { Attack, Refusal } from './attack.ts'
import { AUDIENCE, bearer, refusals, toAttack } from './attack.ts'
import type { Members } from './forge.ts'
import { decode, encode, foreignKey, hmacKey, sign, toPem } from './forge.ts'

/** A token of the provider: what it is, its claims over those of a valid one, and members of its header. */
type SignedRow = readonly [title: string, claims: Members, header?: Members]

type ForgedRow = readonly [title: string, token: string | Promise<string>]

/** The parts of tokens. */
interface Material {
  readonly now: number
  readonly clientId: string
  readonly issuer: string
  /** The parts of a valid token. */
  readonly valid: readonly [header: string, payload: string, signature: string]
  readonly header: Members
  readonly claims: Members
  /** The key in `header.kid`, as the provider publishes it. */
  readonly publicKey: Members
}

const LOGOUT = { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } }
/** A token without a type of its own needs a claim that ID tokens lack. */
const untyped = { client_id: undefined }

/** Everything that the provider may sign, but no access token for this API. */
const purposes = ({ clientId }: Material): readonly SignedRow[] => [
  ['an ID token of another client', { ...untyped, aud: 'other-app' }, { typ: 'JWT' }],
  ['an ID token with the API in aud', { ...untyped, aud: [AUDIENCE, 'other'], azp: 'other' }, { typ: 'JWT' }],
  ['an ID token with at_hash', { at_hash: 'x' }],
  ['an ID token with at_hash null', { at_hash: null }],
  ['an ID token with c_hash', { c_hash: 'x' }],
  ['an ID token with s_hash', { s_hash: 'x' }],
  ['an ID token with a nonce', { nonce: 'x' }],
  ['an ID token of Keycloak', { typ: 'ID' }],
  ['an ID token of Amazon Cognito', { token_use: 'id' }],
  ['an ID token of Microsoft Entra ID', { ...untyped, roles: ['Admin'] }, { typ: 'JWT' }],
  ['a refresh token of Keycloak', { typ: 'Refresh' }],
  ['an offline token of Keycloak', { typ: 'Offline' }],
  ['a logout token', LOGOUT, { typ: 'logout+jwt' }],
  ['a logout token without its type', LOGOUT],
  ['a logout token of Keycloak', { typ: 'Logout' }],
  ['a JARM response', { ...untyped, code: 'x', state: 'y' }, { typ: 'JWT' }],
  ['claims of a JARM response', { code: 'x' }],
  ['a nested JARM response', { response: 'x' }],
  ['an introspection response', { token_introspection: {} }, { typ: 'token-introspection+jwt' }],
  ['a UserInfo response', { ...untyped, aud: clientId, email: 'carol@example.test' }, { typ: undefined }],
  ['a UserInfo response for the API', { ...untyped, email: 'carol@example.test' }, { typ: 'JWT' }],
  ['a request object', {}, { typ: 'oauth-authz-req+jwt' }],
  ['a client assertion', {}, { typ: 'client-authentication+jwt' }],
  ['a DPoP proof', {}, { typ: 'dpop+jwt' }],
  ['a security event', {}, { typ: 'secevent+jwt' }],
  ['a token without any type', untyped, { typ: undefined }],
  ['a payload type in lower case', { typ: 'bearer' }],
  ['a payload type as a list', { typ: ['Bearer'] }],
  ['the payload type of a bound token without a binding', { typ: 'DPoP' }],
]

const audiences = ({ clientId, issuer }: Material): readonly SignedRow[] => [
  ['another audience', { aud: 'https://other.example.test/' }],
  ['no audience', { aud: undefined }],
  ['an audience that begins like ours', { aud: `${AUDIENCE}x` }],
  ['an audience in upper case', { aud: AUDIENCE.toUpperCase() }],
  ['an audience as an object', { aud: { [AUDIENCE]: true } }],
  ['an empty list of audiences', { aud: [] }],
  ['an audience in a nested list', { aud: [[AUDIENCE]] }],
  ['the client id as audience', { aud: clientId }],
  ['the client id beside our audience', { aud: [AUDIENCE, clientId] }],
  ['another issuer', { iss: 'https://other.example.test' }],
  ['the issuer with a slash', { iss: `${issuer}/` }],
  ['no issuer', { iss: undefined }],
  ['the issuer in a list', { iss: [issuer] }],
  ['no subject', { sub: undefined }],
  ['an empty subject', { sub: '' }],
  ['a subject as a list', { sub: ['carol'] }],
]

const times = ({ now }: Material): readonly SignedRow[] => [
  ['expired', { exp: now - 3600 }],
  ['no end', { exp: undefined }],
  ['an end as text', { exp: '9999999999' }],
  ['an end that is null', { exp: null }],
  ['not yet valid', { nbf: now + 3600 }],
  ['a start as text', { nbf: 'now' }],
  ['issued tomorrow', { iat: now + 86_400 }],
  ['issued as text', { iat: 'now' }],
]

const headers: readonly SignedRow[] = [
  ['a critical extension', {}, { crit: ['b64'], b64: true }],
  ['a header type as a list', {}, { typ: ['at+jwt'] }],
]

/** Only newly loaded keys prove that a key does not exist. */
const unknownKeys = ({ header: { kid } }: Material): readonly SignedRow[] => [
  ...Array.from(
    { length: 5 },
    (_, at): SignedRow => [`unknown key ${at} of a flood`, {}, { kid: `new-${at}` }],
  ),
  ['a key id as a path', {}, { kid: '../../dev/null' }],
  ['a key id as a statement', {}, { kid: "' or 1=1 --" }],
  ['a key id as a number', {}, { kid: 1 }],
  ['a key id as a list', {}, { kid: [kid] }],
  ['an unknown key with addresses', {}, { kid: 'x', jku: 'http://127.0.0.1:1/', x5u: 'http://127.0.0.1:1/' }],
  ['the key id of another algorithm', {}, { alg: 'ES256', kid }],
]

async function forgedRows({ claims, header, publicKey, valid }: Material): Promise<readonly ForgedRow[]> {
  const [first, payload, signature] = valid
  const { jwk, pair } = await foreignKey()
  const forged = (members: Members): Promise<string> =>
    sign({ ...header, ...members }, claims, pair.privateKey)
  const hs256 = async (key: string): Promise<string> =>
    sign({ ...header, alg: 'HS256' }, claims, await hmacKey(key))
  const otherLetter = signature.startsWith('A') ? 'B' : 'A'
  const withHeader = (members: Members): string =>
    [encode({ ...header, ...members }), payload, signature].join('.')
  return [
    ['no signature', `${first}.${payload}.`],
    ['alg none', `${encode({ ...header, alg: 'none' })}.${payload}.`],
    ['alg NONE with a signature', withHeader({ alg: 'NONE' })],
    ['no alg', withHeader({ alg: undefined })],
    ['an alg as a list', withHeader({ alg: ['RS256'] })],
    ['HS256 with the public key as JWK', hs256(JSON.stringify(publicKey))],
    ['HS256 with the public key as PEM', toPem(publicKey).then(hs256)],
    ['HS256 with an empty key', hs256('\0')],
    ['a foreign key in jwk', forged({ jwk })],
    ['a foreign key in jku', forged({ jku: 'http://127.0.0.1:1/keys' })],
    ['a foreign key in x5c', forged({ x5c: ['MII'] })],
    ['a foreign key in x5u', forged({ x5u: 'http://127.0.0.1:1/keys' })],
    ['a foreign key with the id of ours', forged({})],
    ['another payload', [first, encode({ ...claims, sub: 'bob' }), signature].join('.')],
    ['a payload that is no JSON', `${first}.bm8.${signature}`],
    ['a signature with padding', `${first}.${payload}.${signature}=`],
    ['another signature', `${first}.${payload}.${otherLetter}${signature.slice(1)}`],
    ['an encrypted token', 'eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0.a.b.c.d'],
    ['a refresh token that is opaque', 'v1.MRrtE8mQ2Hn0bXz5'],
    ['a token of two parts', `${first}.${payload}`],
    ['a token of four parts', `${first}.${payload}.${signature}.`],
    ['dots', '....'],
    ['empty objects', 'e30.e30.e30'],
    ['a long token', `${'a'.repeat(6000)}.e30.e30`],
  ]
}

async function toMaterial(host: ContractHost, idToken: string): Promise<Material> {
  const parts = (await host.accessToken({ sub: 'carol', aud: AUDIENCE })).split('.')
  const [first = '', payload = '', signature = ''] = parts
  const [header, claims] = [decode(first), decode(payload)]
  const publicKey = host.publicKeys().find(({ kid }) => kid === header['kid']) ?? {}
  const clientId = String(decode(idToken.split('.')[1])['aud'])
  const now = systemClock()
  const valid = [first, payload, signature] as const
  return { now, clientId, issuer: String(claims['iss']), valid, header, claims, publicKey }
}

/** Returns the ID token of a user, which a logout sends to the provider. */
async function readIdToken(host: ContractHost): Promise<string> {
  const browser = await signedInBrowser(host)
  const { location } = await browser.send('/auth/logout')
  return location?.searchParams.get('id_token_hint') ?? ''
}

/** Returns the attacks with what is no access token for the API. */
export async function tokenAttacks(host: ContractHost): Promise<readonly Attack[]> {
  const idToken = await readIdToken(host)
  const material = await toMaterial(host, idToken)
  const signed = async ([title, claims, header]: SignedRow, ...allowed: Refusal[]): Promise<Attack> => {
    const token = await host.accessToken({ sub: 'carol', aud: AUDIENCE, ...claims }, header)
    return toAttack(title, bearer(token), ...allowed)
  }
  const rows = [...purposes(material), ...audiences(material), ...times(material), ...headers]
  const forged = await forgedRows(material)
  const ofSession = toAttack('the ID token of the session', bearer(idToken), refusals.token)
  const atResource = [
    ofSession,
    await signed(['a token for another API', { aud: 'https://other.example.test/' }], refusals.token),
    await signed(['a token of a client', { sub: 'api-client' }], refusals.notUser),
  ]
  return Promise.all([
    ofSession,
    ...atResource.map((attack) => ({ ...attack, path: '/resource' })),
    ...rows.map((row) => signed(row, refusals.token)),
    ...unknownKeys(material).map((row) => signed(row, refusals.undecided, refusals.token)),
    ...forged.map(async ([title, token]) => toAttack(title, bearer(await token), refusals.token)),
  ])
}
