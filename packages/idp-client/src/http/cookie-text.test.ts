import { fileURLToPath } from 'node:url'
import { parse } from 'cookie-es'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { fc } from '../../test/support/fast-check.ts'
import { isIdpError } from '../errors/base.ts'
import type { CookieAttributes } from './cookie-jar.ts'
import { cookieHeader, headersSink, parseCookies, serializeCookie } from './cookie-text.ts'

const attributes: CookieAttributes = {
  path: '/',
  secure: true,
  sameSite: 'lax',
  httpOnly: true,
  maxAge: 3600,
}

describe('parseCookies', () => {
  it('reads names and values as they were sent', () => {
    const parsed = parseCookies('a=1; b=x%3Ay;c="q" ; d=; e=a=b')
    expect([...parsed]).toEqual([
      ['a', '1'],
      ['b', 'x%3Ay'],
      ['c', '"q"'],
      ['d', ''],
      ['e', 'a=b'],
    ])
    expect(parseCookies(null).size).toBe(0)
    expect(parseCookies('').size).toBe(0)
  })

  it('keeps all values of a repeated name in their order, including empty ones', () => {
    const parsed = parseCookies('s=own; a=1; s=tossed;s=; b=2')
    expect([...parsed]).toEqual([
      ['s', ['own', 'tossed', '']],
      ['a', '1'],
      ['b', '2'],
    ])
    expect(parseCookies('s=; s=own').get('s')).toEqual(['', 'own'])
    expect(parseCookies('__proto__=a; __proto__=b').get('__proto__')).toEqual(['a', 'b'])
    expect([...parseCookies('a=1;; ;b=2;')]).toEqual([...parseCookies('a=1; b=2')])
  })

  it('treats names of Object.prototype as names', () => {
    const parsed = parseCookies('__proto__=evil; constructor=c; toString=t')
    expect(parsed.get('__proto__')).toBe('evil')
    expect(parsed.get('constructor')).toBe('c')
    expect(parsed.get('hasOwnProperty')).toBeUndefined()
    expect(Object.hasOwn(Object.prototype, 'evil')).toBe(false)
  })

  it('reads a header in linear time', () => {
    // A pattern that tries each space again needs hours for a megabyte of these.
    for (const blank of [' ', '\t', ' \t']) {
      const inside = `x${blank.repeat(1_000_000 / blank.length)}x`
      expect(parseCookies(`a=${inside} ;b=2`)).toEqual(
        new Map([
          ['a', inside],
          ['b', '2'],
        ]),
      )
      expect(parseCookies(`${inside} =1`).get(inside)).toBe('1')
    }
  })

  it('returns what cookie-es does, and never throws', () => {
    const expected = (header: string): unknown =>
      new Map(Object.entries(parse(header, { decode: (value) => value, allowMultiple: true })))
    const pieces = fc.array(fc.constantFrom('a', 'b', '=', ';', ' ', '\t', '"', '%', '__proto__', '\u00a0'))
    const headers = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      pieces.map((each) => each.join('')),
    )
    fc.assert(
      fc.property(headers, (header) => {
        fc.pre(header.length > 1)
        expect(parseCookies(header)).toEqual(expected(header))
      }),
    )
  })
})

/** `serialize` of cookie-es 1 and 2, as far as this needs it. */
const EARLIER = `export const serialize = (name, value, { encode, maxAge }) =>
  name + '=' + encode(value) + '; Max-Age=' + maxAge`

describe('serializeCookie', () => {
  it('writes the cookie with cookie-es 1 and 2, too, which a bundle of the application may contain', async () => {
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL('cookie-text.ts', import.meta.url))],
      alias: { 'cookie-es': `data:text/javascript,${encodeURIComponent(EARLIER)}` },
      bundle: true,
      format: 'esm',
      write: false,
    })
    const module = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? '')}`)
    expect(module.serializeCookie({ name: 'n', value: 'a:b', attributes })).toBe('n=a:b; Max-Age=3600')
  })

  it('[S089] writes every attribute', () => {
    const text = serializeCookie({
      name: '__session',
      value: 'v',
      attributes: { ...attributes, domain: 'app.example' },
    })
    expect(text).toBe('__session=v; Max-Age=3600; Domain=app.example; Path=/; HttpOnly; Secure; SameSite=Lax')
  })

  it('[S081] [S092] writes SameSite in the spelling of the specification', () => {
    for (const [sameSite, spelled] of [
      ['lax', 'Lax'],
      ['strict', 'Strict'],
      ['none', 'None'],
    ] as const) {
      expect(serializeCookie({ name: 'n', value: 'v', attributes: { ...attributes, sameSite } })).toMatch(
        new RegExp(`; SameSite=${spelled}$`),
      )
    }
  })

  it('writes values unchanged', () => {
    expect(serializeCookie({ name: '__txn_x', value: '1700000000:ab-_.c', attributes })).toMatch(
      /^__txn_x=1700000000:ab-_\.c;/,
    )
  })

  it('omits Secure, Domain and Max-Age if they are not set', () => {
    const { maxAge: _, ...session } = attributes
    expect(serializeCookie({ name: 'n', value: '', attributes: { ...session, secure: false } })).toBe(
      'n=; Path=/; HttpOnly; SameSite=Lax',
    )
  })

  it('an error about an invalid value does not contain the value', () => {
    const cases = [
      { name: 'bad name', value: 'topsecret', attributes },
      { name: 'n', value: 'topsecret; Domain=evil.example', attributes },
      { name: 'n', value: 'topsecret\r\nSet-Cookie: x=y', attributes },
      { name: 'n', value: 'topsecret', attributes: { ...attributes, path: '/;topsecret' } },
      { name: 'n', value: 'topsecret', attributes: { ...attributes, domain: 'topsecret example' } },
    ]
    for (const staged of cases) {
      const error = thrownBy(() => serializeCookie(staged))
      expect(isIdpError(error, 'INTERNAL_ERROR')).toBe(true)
      expect(`${error} ${JSON.stringify(error)} ${String((error as Error).cause)}`).not.toContain('topsecret')
    }
  })
})

function thrownBy(action: () => unknown): unknown {
  try {
    action()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

describe('headersSink', () => {
  it('appends one header per cookie', () => {
    const headers = new Headers({ 'Set-Cookie': 'theirs=1' })
    const sink = headersSink(headers)
    sink.set('a', '1', attributes)
    sink.set('b', '2', attributes)
    expect(headers.getSetCookie().map((line) => line.split(';')[0])).toEqual(['theirs=1', 'a=1', 'b=2'])
  })
})

describe('cookieHeader', () => {
  it('keeps values that a header can contain, and encodes others', () => {
    const entries = [
      ['a', 'x%3By'],
      ['json', '{"a": "b,c"}'],
      ['semi', 'a;b'],
      ['line', 'a\r\nb'],
      ['wide', '\u20ac'],
    ] as const
    expect(cookieHeader(entries)).toBe(
      'a=x%3By; json={"a": "b,c"}; semi=a%3Bb; line=a%0D%0Ab; wide=%E2%82%AC',
    )
  })

  it('writes every value of a repeated name', () => {
    expect(cookieHeader(parseCookies('s=own; a=1; s=tossed'))).toBe('s=own; s=tossed; a=1')
  })

  it('omits names that no cookie can have', () => {
    expect(
      cookieHeader([
        ['a b', '1'],
        ['', '2'],
        ['c;d', '3'],
        ['e', '4'],
      ]),
    ).toBe('e=4')
  })

  it('returns parsed cookies unchanged, and never throws', () => {
    const value = fc.string({ unit: fc.constantFrom(...'abc019%-_.:"{},=') })
    const name = fc.string({ unit: fc.constantFrom(...'abc_-'), minLength: 1 })
    fc.assert(
      fc.property(fc.dictionary(name, value), (cookies) => {
        const entries = Object.entries(cookies)
        expect(new Map(parseCookies(cookieHeader(entries)))).toEqual(new Map(entries))
      }),
    )
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (any) => {
        const headers = new Headers({
          cookie: cookieHeader([
            ['n', any],
            ['after', '1'],
          ]),
        })
        expect(parseCookies(headers.get('cookie')).get('after')).toBe('1')
      }),
    )
    expect(cookieHeader([['lone', '\ud800']])).toBe('lone=%EF%BF%BD')
  })
})
