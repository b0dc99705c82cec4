import { fc } from './fast-check.ts'

export interface Named {
  readonly name: string
  readonly value: string
}

/** Cookies that an attack begins with. */
export interface Material {
  /** Name of the cookie that is aimed at. */
  readonly name: string
  /** One that opens where it belongs. */
  readonly whole: string
  /** Others of its kind that came in pieces, each complete. */
  readonly sets: readonly (readonly Named[])[]
  /** Sealed texts that have to be refused as they are: of other secrets, purposes, clients. */
  readonly foreign: readonly string[]
}

/* JOSE headers that might mislead a parser. */
const headers = [
  { alg: 'none' },
  { alg: 'HS256', typ: 'session' },
  { alg: 'dir', enc: 'A128CBC-HS256', typ: 'session' },
  { alg: 'dir', enc: 'A256GCM', typ: 'session', zip: 'DEF' },
  { alg: 'PBES2-HS256+A128KW', enc: 'A256GCM', p2c: 2_000_000_000, p2s: 'AAAA' },
  { alg: 'dir', enc: 'A256GCM', crit: ['exp'], exp: 1 },
  { alg: 'ECDH-ES', enc: 'A256GCM', epk: { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' } },
  { alg: 'RSA-OAEP', enc: 'A256GCM', jku: 'https://evil.example/keys' },
  { alg: 'dir', enc: 'A256GCM', typ: 'session', kid: '../../secret' },
  { alg: 'dir', enc: 'A256GCM', typ: 'session', kid: '__proto__' },
].map((header) => Buffer.from(JSON.stringify(header)).toString('base64url'))

const garbage = fc.oneof(
  fc.constantFrom('', '.', '....', 'null', '{}', '%', '%E0%A4%A', '%00', '%FF%FE', '"quoted"', 'a=b=c'),
  fc.string({ unit: fc.constantFrom(...'ABab019-_.%=\u00e9'), maxLength: 40 }),
)

const percent = (letter = 'x'): string => `%${letter.charCodeAt(0).toString(16)}`

/** Damages a value: cuts it, flips bits, swaps its header, encodes parts of it. */
export function spoilt(value: string): fc.Arbitrary<string> {
  const at = fc.nat(value.length - 1)
  const body = value.slice(value.indexOf('.'))
  const insert = (index: number, text: string, rest = index): string =>
    value.slice(0, index) + text + value.slice(rest)
  return fc.oneof(
    at.map((end) => value.slice(0, end)),
    at.map((start) => value.slice(start)),
    fc.tuple(at, at).map(([start, end]) => insert(start, '', end)),
    fc.tuple(at, fc.constantFrom(...'Az0_-.%"')).map(([index, letter]) => insert(index, letter, index + 1)),
    fc.tuple(at, garbage).map(([index, text]) => insert(index, text)),
    at.map((index) => insert(index, percent(value[index]), index + 1)),
    fc.constantFrom(...headers).map((header) => header + body),
    fc.constantFrom(...'AEIMQUYcgkosw048').map((end) => value.slice(0, -1) + end),
  )
}

function namesNear(name: string): fc.Arbitrary<string> {
  const suffixes = ['0', '1', '2', '00', '-1', '1e3', '99999999', '_0', '', '__proto__', 'conn_0', 'ended']
  const inherited = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'then']
  return fc.constantFrom(name, ...suffixes.map((suffix) => `${name}__${suffix}`), ...inherited)
}

/** Cookies as no browser of an honest user sends them, names repeated among them. */
export function hostileCookies({ foreign, name, sets, whole }: Material): fc.Arbitrary<Named[]> {
  const pieces = sets.flat()
  const text = fc.oneof(garbage, spoilt(whole), ...pieces.map(({ value }) => spoilt(value)))
  const bare = fc
    .oneof({ weight: 4, arbitrary: text }, { weight: 1, arbitrary: fc.constantFrom(...foreign) })
    .map((value) => [{ name, value }])
  const misplaced = fc.record({
    name: namesNear(name),
    value: fc.oneof(text, fc.constantFrom(...pieces.map(({ value }) => value))),
  })
  const some = fc.shuffledSubarray(pieces)
  const others = fc.array(misplaced, { maxLength: 5 })
  return fc.oneof(
    { weight: 6, arbitrary: bare },
    { weight: 1, arbitrary: some },
    { weight: 1, arbitrary: others },
    { weight: 2, arbitrary: fc.tuple(bare, some, others).map((all) => all.flat()) },
  )
}

/** Far more chunks than there can be, with what a set begins with or without it. */
export function floods({ name, sets: [set = []] }: Material): Named[][] {
  const generation = set[0]?.value.slice(0, 8) ?? 'abcdefgh'
  const flood = (count: number): Named[] =>
    Array.from({ length: 2000 }, (_, at) => ({ name: `${name}__${at}`, value: `${generation}.${count}.x` }))
  const beyond = { name: `${name}__99999999`, value: set[0]?.value ?? '' }
  return [flood(2), [...flood(32), beyond], flood(99), [...set.slice(1), ...flood(set.length)]]
}

/** Percent-encoding undone, where there is any. */
export function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

/** Whether all of a genuine cookie is there, whatever else is. */
export function isWhole({ name, sets, whole }: Material, cookies: readonly Named[]): boolean {
  const has = (wanted: Named): boolean =>
    cookies.some((cookie) => cookie.name === wanted.name && decoded(cookie.value) === wanted.value)
  return has({ name, value: whole }) || sets.some((set) => set.every(has))
}

export function headerOf(cookies: readonly Named[]): string {
  return cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
}
