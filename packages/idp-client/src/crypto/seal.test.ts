import { hkdfSync } from 'node:crypto'
import { CompactEncrypt, compactDecrypt } from 'jose'
import { describe, expect, it } from 'vitest'
import { fc } from '../../test/support/fast-check.ts'
import type { Bytes } from '../lib/utf8.ts'
import { text, utf8 } from '../lib/utf8.ts'
import * as node from './cipher.node.ts'
import type { Cipher } from './cipher.ts'
import * as web from './cipher.web.ts'
import type { Purpose, Sealer } from './seal.ts'
import { createSealer } from './seal.ts'

const ciphers: readonly Cipher[] = [node, web]
const purposes: readonly Purpose[] = [
  'session',
  'session-id',
  'transaction',
  'state',
  'mfa',
  'connection',
  'logout',
  'guard',
]
const secret = 'a0'.repeat(32)
const other = 'b1'.repeat(32)

/** The documented derivation, made with nothing of ours. */
const keyFor = (of: string, purpose: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', of, '', `idp-client ${purpose} v1`, 32))
const keyIdFor = (of: string): string =>
  Buffer.from(hkdfSync('sha256', of, '', 'idp-client kid v1', 6))
    .toString('base64url')
    .slice(0, 6)
const headerOf = (sealed: string): string => Buffer.from(sealed.split('.')[0] ?? '', 'base64url').toString()
const encode = (value: string): string => Buffer.from(value).toString('base64url')
const plain = (bytes: Bytes | null): string | null => bytes && text(bytes)
const parts = (sealed: string): [string, string, string, string, string] => {
  const [header = '', key = '', iv = '', body = '', tag = ''] = sealed.split('.')
  return [header, key, iv, body, tag]
}

describe.each(ciphers)('sealer on $kind', (cipher) => {
  const sealer = createSealer([secret], cipher)

  it('[S232] [S233] writes a compact JWE with exactly the documented header', async () => {
    for (const purpose of purposes) {
      const sealed = await sealer.seal(purpose, utf8('x'))
      expect(headerOf(sealed)).toBe(
        `{"alg":"dir","enc":"A256GCM","typ":"${purpose}","kid":"${keyIdFor(secret)}"}`,
      )
      expect(sealed.split('.')).toHaveLength(5)
    }
    expect(await sealer.keyId).toBe(keyIdFor(secret))
  })

  it('encrypts values that jose decrypts', async () => {
    for (const purpose of purposes) {
      const opened = await compactDecrypt(await sealer.seal(purpose, utf8('größe')), keyFor(secret, purpose))
      expect(text(new Uint8Array(opened.plaintext))).toBe('größe')
      expect(opened.protectedHeader['typ']).toBe(purpose)
    }
  })

  it('decrypts values that jose encrypted', async () => {
    const header = { alg: 'dir', enc: 'A256GCM', typ: 'session', kid: keyIdFor(secret) }
    const sealed = await new CompactEncrypt(utf8('from jose'))
      .setProtectedHeader(header)
      .encrypt(keyFor(secret, 'session'))
    expect(plain(await sealer.open('session', sealed))).toBe('from jose')
  })

  it('rejects a JWE of jose with any other header, even with the right key', async () => {
    const kid = keyIdFor(secret)
    const base = { alg: 'dir', enc: 'A256GCM', typ: 'session', kid }
    const headers = [
      { ...base, zip: 'DEF' },
      { ...base, jku: 'https://evil.example/jwks' },
      { ...base, p2c: 2_000_000_000 },
      { ...base, typ: 'JWT' },
      { ...base, kid: 'AAAAAA' },
      { alg: 'dir', enc: 'A256GCM', typ: 'session' },
      { kid, typ: 'session', enc: 'A256GCM', alg: 'dir' },
    ]
    for (const header of headers) {
      const { zip, ...rest } = header as Record<string, string>
      const jwe = new CompactEncrypt(utf8('x')).setProtectedHeader(rest as { alg: string; enc: string })
      const sealed = await jwe.encrypt(keyFor(secret, 'session'))
      const swapped = zip === undefined ? sealed : sealed.replace(/^[^.]*/, encode(JSON.stringify(header)))
      expect(await sealer.open('session', swapped), JSON.stringify(header)).toBeNull()
    }
  })

  it('rejects a value after a change of header, structure or any bit', async () => {
    const sealed = await sealer.seal('session', utf8('the plaintext of a session'))
    const [header, , iv, body, tag] = parts(sealed)
    expect(plain(await sealer.open('session', [header, '', iv, body, tag].join('.')))).toBe(
      'the plaintext of a session',
    )
    const claims = (change: object): string =>
      encode(JSON.stringify({ ...JSON.parse(headerOf(sealed)), ...change }))
    const structural = [
      [claims({ alg: 'A256KW' }), '', iv, body, tag],
      [claims({ alg: 'none' }), '', iv, body, tag],
      [claims({ enc: 'A128GCM' }), '', iv, body, tag],
      [claims({ crit: ['exp'] }), '', iv, body, tag],
      [claims({ typ: 'transaction' }), '', iv, body, tag],
      [`${header}=`, '', iv, body, tag],
      [header, 'AAAA', iv, body, tag],
      [header, '', iv, body, tag, ''],
      [header, '', iv, body],
      [header, iv, body, tag],
      [header, '', iv, body, tag.slice(0, -1)],
      [header, '', iv, body.slice(0, -1), tag],
      [header, '', iv, body, `${tag}A`],
      [header, '', iv.slice(0, -1), body, tag],
      [header, '', iv, '', tag],
      [header, '', iv, body, ''],
      [header, '', body, iv, tag],
      ['', '', '', '', ''],
    ]
    for (const candidate of structural) {
      expect(await sealer.open('session', candidate.join('.')), candidate.join('.')).toBeNull()
    }
    for (let at = 0; at < sealed.length; at++) {
      const swapped = sealed[at] === 'A' ? 'B' : 'A'
      expect(
        await sealer.open('session', sealed.slice(0, at) + swapped + sealed.slice(at + 1)),
        `at ${at}`,
      ).toBeNull()
      expect(await sealer.open('session', sealed.slice(0, at)), `cut at ${at}`).toBeNull()
    }
  })

  it('rejects base64url that is not canonical, although it decodes to the same bytes', async () => {
    // 25 bytes leave two letters in the last group, whose last four bits mean nothing.
    const sealed = await sealer.seal('session', utf8('p'.repeat(25)))
    const [header, , iv, body, tag] = parts(sealed)
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const twin = (value: string): string =>
      value.slice(0, -1) + alphabet[alphabet.indexOf(value.slice(-1)) + 1]
    expect(Buffer.from(twin(body), 'base64url')).toEqual(Buffer.from(body, 'base64url'))
    expect(await sealer.open('session', [header, '', iv, twin(body), tag].join('.'))).toBeNull()
    expect(await sealer.open('session', [header, '', iv, body, twin(tag)].join('.'))).toBeNull()
    expect(await sealer.open('session', ` ${sealed}`)).toBeNull()
    expect(await sealer.open('session', `${sealed}\n`)).toBeNull()
    expect(await sealer.open('session', [header, '', iv, `${body}==`, tag].join('.'))).toBeNull()
  })

  it('decrypts a value only for the purpose that it was encrypted for', async () => {
    for (const from of purposes) {
      const sealed = await sealer.seal(from, utf8(from))
      for (const to of purposes) {
        expect(plain(await sealer.open(to, sealed)), `${from} as ${to}`).toBe(from === to ? from : null)
      }
    }
  })

  it('decrypts an empty plaintext, and nothing above 64 KiB', async () => {
    expect(await sealer.open('state', await sealer.seal('state', utf8('')))).toHaveLength(0)
    const fits = await sealer.seal('session', new Uint8Array(49_000))
    expect(await sealer.open('session', fits)).toHaveLength(49_000)
    const large = await sealer.seal('session', new Uint8Array(49_200))
    expect(large.length).toBeGreaterThan(65_536)
    expect(await sealer.open('session', large)).toBeNull()
  })

  it('decrypts with every secret, encrypts with the first, and rejects values of a removed one', async () => {
    const old = createSealer([secret], cipher)
    const both = createSealer([other, secret], cipher)
    const fresh = createSealer([other], cipher)
    const sealed = await old.seal('session', utf8('kept'))
    expect(plain(await both.open('session', sealed))).toBe('kept')
    expect(await fresh.open('session', sealed)).toBeNull()
    const resealed = await both.seal('session', utf8('kept'))
    expect(headerOf(resealed)).toContain(keyIdFor(other))
    expect(plain(await fresh.open('session', resealed))).toBe('kept')
    expect(await old.open('session', resealed)).toBeNull()
    expect(await both.keyId).toBe(keyIdFor(other))
    expect(await both.isCurrent('session', sealed)).toBe(false)
    expect(await both.isCurrent('session', resealed)).toBe(true)
    expect(await both.isCurrent('connection', resealed)).toBe(false)
    for (const text of [sealed, resealed, `${sealed}x`, sealed.slice(0, -5)]) {
      expect(await both.isOwn('session', text)).toBe(true)
      expect(await both.isOwn('connection', text)).toBe(false)
    }
    expect(await fresh.isOwn('session', sealed)).toBe(false)
    for (const text of ['', 'garbage', sealed.slice(1), sealed.slice(0, 20)]) {
      expect(await both.isOwn('session', text)).toBe(false)
    }
  })

  it('decrypts values of the other platform', async () => {
    const counterpart = createSealer([secret], cipher.kind === 'node' ? web : node)
    const sealed = await counterpart.seal('connection', utf8('across'))
    expect(plain(await sealer.open('connection', sealed))).toBe('across')
  })

  it('derives the keys of a secret once per process, for any number of sealers', async () => {
    let derivations = 0
    const counting: Cipher = {
      ...cipher,
      deriveKey: (of, info) => {
        derivations++
        return cipher.deriveKey(of, info)
      },
    }
    const fresh = `${cipher.kind} ${node.toBase64url(node.randomBytes(24))}`
    const first = createSealer([fresh], counting)
    const sealed = await first.seal('session', utf8('x'))
    for (let round = 0; round < 20; round++) {
      const next = createSealer([fresh], counting)
      await next.seal('session', utf8('x'))
      expect(plain(await next.open('session', sealed))).toBe('x')
    }
    expect(derivations).toBe(1)
  })
})

/** Texts of the kinds that browsers, proxies and attackers send in place of ours. */
function fuzzed(sealed: string): fc.Arbitrary<string> {
  const cut = fc.tuple(fc.nat(sealed.length), fc.nat(sealed.length))
  return fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.string({ unit: fc.constantFrom(...'ABab019-_.='), maxLength: 400 }),
    cut.map(([from, to]) => sealed.slice(from, to)),
    cut.map(([from, to]) => sealed.slice(0, from) + sealed.slice(to)),
    fc
      .tuple(fc.nat(sealed.length), fc.string({ unit: 'binary', maxLength: 5 }))
      .map(([at, inserted]) => sealed.slice(0, at) + inserted + sealed.slice(at)),
    fc
      .array(fc.string({ unit: fc.constantFrom(...'ABab019-_'), maxLength: 40 }), {
        minLength: 5,
        maxLength: 5,
      })
      .map((pieces) => pieces.join('.')),
    fc
      .array(fc.base64String(), { minLength: 4, maxLength: 6 })
      .map((pieces) => `${sealed.split('.')[0]}.${pieces.join('.')}`),
  )
}

describe('sealer with invalid input', () => {
  it('rejects every fuzzed cookie and never throws', () => {
    const sealer = createSealer([secret])
    const sealed = sealer.seal('session', utf8('{"user":{"sub":"alice"}}'))
    if (typeof sealed !== 'string') throw new Error('sealing is synchronous on Node')
    fc.assert(
      fc.property(fuzzed(sealed), (candidate) => {
        fc.pre(candidate !== sealed)
        expect(sealer.open('session', candidate)).toBeNull()
      }),
    )
  })

  it('rejects every fuzzed cookie on the web platform', async () => {
    const sealer = createSealer([secret], web)
    const sealed = await sealer.seal('session', utf8('{"user":{"sub":"alice"}}'))
    await fc.assert(
      fc.asyncProperty(fuzzed(sealed), async (candidate) => {
        fc.pre(candidate !== sealed)
        expect(await sealer.open('session', candidate)).toBeNull()
      }),
    )
  })

  it('reads only the length of a hostile string of megabytes', () => {
    const sealer = createSealer([secret])
    for (const hostile of ['A'.repeat(5_000_000), '.'.repeat(5_000_000), `${'A'.repeat(65_536)}.`]) {
      expect(sealer.open('session', hostile)).toBeNull()
    }
  })

  it('never repeats an IV in 100 000 values', async () => {
    const sealer: Sealer = createSealer([secret])
    const seen = new Set<string>()
    for (let round = 0; round < 100_000; round++) {
      const sealed = await sealer.seal('state', utf8('x'))
      seen.add(parts(sealed)[2])
    }
    expect(seen.size).toBe(100_000)
  })
})
