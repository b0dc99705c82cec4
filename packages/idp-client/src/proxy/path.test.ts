import { describe, expect, test } from 'vitest'
import { isBelow } from '../lib/url.ts'
import { isSafePath, toLenient, toPublic, toUpstream } from './path.ts'

describe('a path is safe to send on', () => {
  test.each([
    '/',
    '/a/b',
    '/a//b/',
    '/a%20b',
    '/caf%C3%A9',
    '/a;b=1,c',
    '/...',
    '/.well-known/x',
    '/..a',
    '/a..;b',
    "/~!$&'()*+,;=:@",
    '/a%3Fb%23c',
    '/%2541',
    '/%2520',
  ])('%s', (path) => {
    expect(isSafePath(path)).toBe(true)
  })

  test.each([
    ['no path', 'a'],
    ['a dot', '/a/./b'],
    ['two dots', '/a/../b'],
    ['two dots at the end', '/a/..'],
    ['dots with a parameter', '/a/..;x=1/b'],
    ['a dot with a parameter', '/.;/b'],
    ['an encoded dot', '/a/%2e'],
    ['encoded dots', '/a/%2E%2e/b'],
    ['half encoded dots', '/a/.%2e/b'],
    ['encoded dots with a parameter', '/a/%2e%2e;x'],
    ['dots with an encoded parameter', '/a/..%3bx'],
    ['dots that are encoded twice', '/a/%252e%252e/b'],
    ['an encoded slash', '/a%2fb'],
    ['a slash that is encoded twice', '/a%252fb'],
    ['a backslash', '/a\\b'],
    ['an encoded backslash', '/a%5Cb'],
    ['a backslash that is encoded twice', '/a%255cb'],
    ['an encoded percent sign', '/100%25'],
    ['an encoding that never ends', '/a%25252e'],
    ['a NUL', '/a%00b'],
    ['a line break', '/a%0d%0ab'],
    ['a control character', '/a%1fb'],
    ['DEL', '/a%7f'],
    ['a control character of C1', '/a%C2%85'],
    ['bytes that are no UTF-8', '/a%ff'],
    ['an overlong slash', '/a%c0%af'],
    ['half an encoding', '/a%2'],
    ['no encoding', '/a%zz'],
  ])('%s is not', (_name, path) => {
    expect(isSafePath(path)).toBe(false)
  })
})

describe('a path is below the prefix', () => {
  test.each(['/api/orders', '/api/orders/', '/api/orders/1'])('%s', (path) => {
    expect(isBelow('/api/orders', path)).toBe(true)
  })

  test.each(['/api/orders2', '/api/Orders', '/api/orders;x', '/api', '/x/api/orders'])(
    '%s is not',
    (path) => {
      expect(isBelow('/api/orders', path)).toBe(false)
    },
  )
})

const target = new URL('https://orders.example/v1')

describe('the URL of the API', () => {
  test.each([
    ['', '', 'https://orders.example/v1'],
    ['/', '', 'https://orders.example/v1/'],
    ['/7', '?a=%27&b', 'https://orders.example/v1/7?a=%27&b'],
    ['//evil.example', '', 'https://orders.example/v1//evil.example'],
  ])('of %s%s', (rest, query, expected) => {
    expect(toUpstream(target, rest, query)?.href).toBe(expected)
  })

  test('without a path', () => {
    const root = new URL('https://orders.example')
    expect(toUpstream(root, '', '')?.href).toBe('https://orders.example/')
    expect(toUpstream(root, '/a', '')?.href).toBe('https://orders.example/a')
  })

  test.each(['/../x', '/%2e%2e/x', '/a#b', '@evil.example', '.evil.example', '2', ':8080'])(
    '%s leaves it',
    (rest) => {
      expect(toUpstream(target, rest, '')).toBeNull()
    },
  )
})

describe('an address of the API', () => {
  const from = new URL('https://orders.example/v1/7?a')

  test.each([
    ['/v1', '/api/orders'],
    ['/v1/8', '/api/orders/8'],
    ['8', '/api/orders/8'],
    ['?page=2#x', '/api/orders/7?page=2#x'],
    ['https://orders.example/v1/8?a=b', '/api/orders/8?a=b'],
    ['https://orders.example:443/v1/8', '/api/orders/8'],
  ])('%s is %s for the browser', (address, expected) => {
    expect(toPublic(address, from, target, '/api/orders')).toBe(expected)
  })

  test('of a target without a path', () => {
    const root = new URL('https://orders.example')
    expect(toPublic('/', from, root, '/api/orders')).toBe('/api/orders')
    expect(toPublic('/a', from, root, '/api/orders')).toBe('/api/orders/a')
  })

  test.each([
    'https://evil.example/v1/8',
    '//evil.example/v1/8',
    'http://orders.example/v1/8',
    'https://orders.example:8443/v1/8',
    'https://user@orders.example/v1/8',
    'https://:password@orders.example/v1/8',
    '/v2',
    '/v11',
    '/',
    '../v2',
    '/v1/../v2',
    '/v1/%2e%2e/v2',
    '/v1/..%2fv2',
    'javascript:alert(1)',
    'https://',
  ])('%s is refused', (address) => {
    expect(toPublic(address, from, target, '/api/orders')).toBeNull()
  })
})

test.each([
  ['/api//Admin', '/api/admin'],
  ['/api/admin;x=1', '/api/admin'],
  ['/api/admin. .%20', '/api/admin'],
  ['/api/%2561dmin', '/api/admin'],
  ['/api/ad.min', '/api/ad.min'],
])('a lenient server reads %s as %s', (path, expected) => {
  expect(toLenient(path)).toBe(expected)
})

test('a path is read leniently in linear time', () => {
  // A pattern that tries each dot again needs hours for a megabyte of these.
  const segment = `x${'. '.repeat(500_000)}x`
  expect(toLenient(`/api/${segment}`)).toBe(`/api/${segment}`)
})
