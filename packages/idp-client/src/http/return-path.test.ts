import { describe, expect, it } from 'vitest'
import { fc } from '../../test/support/fast-check.ts'
import type { SafeReturnPath } from './return-path.ts'
import { resolveReturnPath, safeReturnPath } from './return-path.ts'

const origin = 'https://app.example'
const bases = [
  origin,
  'https://app.example/',
  'https://app.example/base',
  'http://localhost:3000',
  'http://127.0.0.1:3000/app',
] as const

const hosts = [
  'evil.example',
  'evil.example/app.example',
  'app.example.evil.example',
  'app.example@evil.example',
  '[::1]',
  '1.1.1.1',
  '2130706433',
]
const prefixes = [
  '//',
  '///',
  '////',
  '/\\',
  '\\\\',
  '\\/',
  '/\\/',
  '\\/\\/',
  '//\\',
  '/\\\\',
  '/\t/',
  '/\n/',
  '/\r/',
  '/\t\\',
  '\t//',
  '\n//',
  ' //',
  '\u0000//',
  '\u00a0//',
  '/%09/',
  '/%0a/',
  '/%0d/',
  '/./',
  '/.//',
  '/..//',
  '/../',
  './/',
  '..//',
  '/%2e//',
  '/%2e%2e//',
  '/.%2e//',
  '/a/..//',
  '/a/../..//',
  '/;//',
  '/.\\\\',
  '/%2f',
  '/%2f/',
  '/%2F%2F',
  '//%2f',
  '%2f%2f',
  '/%5c',
  '/%5c/',
  '//%5c',
  '%5c%5c',
  '/%5C%5C',
  '/%255c',
  '/%252f',
  'http:',
  'https:',
  'http:/',
  'https:/',
  'http://',
  'https://',
  'http:///',
  'https:\\\\',
  'https:/\\',
  'hTTps://',
  'ht\ntps://',
  ' https://',
  'https://app.example@',
  'https://app.example:443@',
  'https://app.example%40',
  'https://app.example%2f@',
  'https://app.example\\@',
  'https://app.example.',
  'https://app.example:8443/',
  'http://app.example/',
  '//app.example@',
  '//app.example:',
  '//user:password@',
  '/\u2044\u2044',
  '/\u2215',
  '\uff0f\uff0f',
  '/\uff0f',
  '/\u29f8',
  '\u3002',
  '//\u3002',
  '/\uff3c',
  '@',
  '/@',
  ':@',
  '?//',
  '#//',
  '?next=//',
  'x://',
  '://',
  ':',
] as const
const schemes = [
  'javascript:alert(1)',
  'JavaScript:alert(1)',
  'java\nscript:alert(1)',
  '\u0001javascript:alert(1)',
  'javascript://app.example/%0aalert(1)',
  'javascript://https://app.example/%0aalert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:msgbox(1)',
  'file:///etc/passwd',
  'blob:https://app.example/1',
  'about:blank',
  'ftp://app.example/',
  'ws://app.example/',
  'wss://app.example/',
  'view-source:https://app.example/',
  'mailto:a@b.example',
  'tel:1',
  'intent://evil.example#Intent;end',
  'feed:https://app.example/',
  'filesystem:https://app.example/',
  'https://',
  'https://[',
  'https://app.example:99999/',
  'https://%',
  'http://a b/',
] as const
const corpus = [...prefixes.flatMap((prefix) => hosts.map((host) => prefix + host)), ...schemes]

/** Where a browser on the application's page would go. */
function destination(path: SafeReturnPath, base: string): string {
  return new URL(path, base).origin
}

describe('safeReturnPath', () => {
  it(`rejects each of ${corpus.length} hostile targets or keeps it on the origin`, () => {
    expect(corpus.length).toBeGreaterThan(500)
    for (const target of corpus) {
      for (const base of bases) {
        const path = safeReturnPath(target, base)
        if (path === null) continue
        const label = JSON.stringify({ target, path, base })
        expect(path, label).toMatch(/^\/(?![/\\])[\x21-\x7e]*$/)
        expect(destination(path, base), label).toBe(new URL(base).origin)
        const resolved = new URL(resolveReturnPath(path, base, ''))
        expect(resolved.origin, label).toBe(new URL(base).origin)
        expect(resolved.username + resolved.password, label).toBe('')
      }
    }
  })

  it('rejects every scheme but http and https, and every other origin', () => {
    for (const target of schemes) expect(safeReturnPath(target, origin), target).toBeNull()
    for (const target of [
      '//evil.example',
      '\\\\evil.example',
      '/\\evil.example',
      '/\t/evil.example',
      'https://evil.example',
    ]) {
      expect(safeReturnPath(target, origin), target).toBeNull()
    }
    expect(safeReturnPath('http://app.example/a', origin)).toBeNull()
    expect(safeReturnPath('https://app.example:8443/a', origin)).toBeNull()
  })

  it.each([
    ['/dashboard', '/dashboard'],
    ['dashboard?tab=a&tab=b#x', '/dashboard?tab=a&tab=b#x'],
    ['https://app.example/a?b=c#d', '/a?b=c#d'],
    ['https://APP.example:443/a', '/a'],
    ['https://user:password@app.example/a', '/a'],
    ['//app.example/a', '/a'],
    ['https://app.example//evil.example/a', '/evil.example/a'],
    ['/.//evil.example', '/evil.example'],
    ['/a/../../b', '/b'],
    ['/a//b', '/a//b'],
    ['/%2f%2fevil.example', '/%2f%2fevil.example'],
    ['/search?q=https://evil.example//x', '/search?q=https://evil.example//x'],
    ['/größe?q=ü#ö', '/gr%C3%B6%C3%9Fe?q=%C3%BC#%C3%B6'],
    ['/a\r\nSet-Cookie: x=y', '/aSet-Cookie:%20x=y'],
    ['/a\u0000b', '/a%00b'],
    [' /a ', '/a'],
    ['?a=b', '/?a=b'],
    ['#a', '/#a'],
  ])('normalizes %j to %j', (target, expected) => {
    expect(safeReturnPath(target, origin)).toBe(expected)
  })

  it('accepts only non-empty strings', () => {
    for (const value of [
      '',
      undefined,
      null,
      1,
      {},
      ['/a'],
      { toString: () => '/a' },
      new URL('https://app.example/a'),
    ]) {
      expect(safeReturnPath(value, origin)).toBeNull()
    }
  })

  it('is null for every target if the base is not an HTTP URL', () => {
    for (const base of ['', 'app.example', 'file:///app', 'data:text/html,x']) {
      expect(safeReturnPath('/a', base), base).toBeNull()
    }
  })

  it('limits the bytes of the normalized path to 2048, and the characters before to 16,384', () => {
    expect(safeReturnPath(`/${'a'.repeat(2047)}`, origin)).toHaveLength(2048)
    expect(safeReturnPath(`/${'a'.repeat(2048)}`, origin)).toBeNull()
    expect(safeReturnPath(`/${'ü'.repeat(341)}`, origin)).toHaveLength(2047)
    expect(safeReturnPath(`/${'ü'.repeat(342)}`, origin)).toBeNull()
    const dots = './'.repeat(8191)
    expect(safeReturnPath(`/${dots}a`, origin)).toBe('/a')
    expect(safeReturnPath(`/${dots}ab`, origin)).toBeNull()
    expect(safeReturnPath('/a'.repeat(5_000_000), origin)).toBeNull()
  })

  const target = fc
    .tuple(fc.webPath(), fc.webQueryParameters(), fc.webFragments())
    .map(
      ([path, query, fragment]) =>
        new URL(`${origin}/${path.replace(/^\/+/, '')}${query && `?${query}`}${fragment && `#${fragment}`}`),
    )
    .map((url) => `/${url.pathname.replace(/^\/+/, '')}${url.search}${url.hash}`)

  it('keeps every normalized path, query and fragment of its own origin unchanged', () => {
    fc.assert(
      fc.property(target, (path) => {
        expect(safeReturnPath(path, origin)).toBe(path)
        expect(safeReturnPath(origin + path, origin)).toBe(path)
      }),
    )
  })

  it('is safe and idempotent for any string', () => {
    const piece = fc.constantFrom(
      '/',
      '\\',
      '.',
      '..',
      '%2e',
      '%2f',
      '%5c',
      '\t',
      '\n',
      '@',
      ':',
      '?',
      '#',
      'https:',
      'evil.example',
      'app.example',
      'a',
      '\u0000',
      '\uff0f',
      '\ud800',
    )
    const text = fc.oneof(
      fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
      fc.string({ unit: 'binary' }),
    )
    fc.assert(
      fc.property(text, fc.constantFrom(...bases), (value, base) => {
        const path = safeReturnPath(value, base)
        if (path === null) return
        expect(path).toMatch(/^\/(?![/\\])[\x21-\x7e]*$/)
        expect(safeReturnPath(path, base)).toBe(path)
        expect(destination(path, base)).toBe(new URL(base).origin)
      }),
    )
  })

  it('cannot add a parameter when it is encoded into a query', () => {
    const path = safeReturnPath('/a?x=1&scope=admin#&audience=z', origin)
    const query = new URLSearchParams({ returnTo: path ?? '' })
    expect([...new URLSearchParams(query.toString()).keys()]).toEqual(['returnTo'])
  })
})

describe('resolveReturnPath', () => {
  const resolve = (value: string, base: string, basePath: string): string => {
    const path = safeReturnPath(value, base)
    if (path === null) throw new Error('the test needs a safe path')
    return resolveReturnPath(path, base, basePath)
  }

  it.each([
    ['/a?b=c#d', origin, '', 'https://app.example/a?b=c#d'],
    ['/', origin, '', 'https://app.example/'],
    ['/a', origin, '/app', 'https://app.example/app/a'],
    ['/app/a?x', origin, '/app', 'https://app.example/app/a?x'],
    ['/app', origin, '/app', 'https://app.example/app'],
    ['/app?x=1', origin, '/app', 'https://app.example/app?x=1'],
    ['/apple', origin, '/app', 'https://app.example/app/apple'],
    ['/', origin, '/app', 'https://app.example/app'],
    ['/?x=1#y', origin, '/app', 'https://app.example/app?x=1#y'],
    ['/app/../b', origin, '/app', 'https://app.example/app/b'],
    ['/a', 'https://app.example/base', '/base', 'https://app.example/base/a'],
    ['/base/a', 'https://app.example/base', '/base', 'https://app.example/base/a'],
    ['/a', 'http://localhost:3000', '/x/y', 'http://localhost:3000/x/y/a'],
    ['/a', origin, '/app/', 'https://app.example/app/a'],
    ['/gr%C3%B6%C3%9Fe/a', origin, '/größe', 'https://app.example/gr%C3%B6%C3%9Fe/a'],
    ['/%2f%2fevil.example', origin, '', 'https://app.example/%2f%2fevil.example'],
    ['/a//b', origin, '/app', 'https://app.example/app/a//b'],
  ])('%j on %s with %j is %s', (value, base, basePath, expected) => {
    expect(resolve(value, base, basePath)).toBe(expected)
  })

  it('contains the base path exactly once after repeated resolution', () => {
    const path = fc
      .array(fc.constantFrom('app', 'a', 'b%20c', 'apple'), { maxLength: 4 })
      .map((parts) => `/${parts.join('/')}`)
    fc.assert(
      fc.property(path, (value) => {
        const once = resolve(value, origin, '/app')
        expect(once).toMatch(/^https:\/\/app\.example\/app(?:\/|$)/)
        expect(resolve(new URL(once).pathname, origin, '/app')).toBe(once)
      }),
    )
  })

  it('stays on the origin even for an unchecked path', () => {
    for (const forged of [
      '//evil.example/a',
      'https://evil.example/a',
      '/\\evil.example',
      'javascript:alert(1)',
      '',
    ]) {
      expect(new URL(resolveReturnPath(forged as SafeReturnPath, origin, '/app')).origin, forged).toBe(origin)
    }
  })
})
