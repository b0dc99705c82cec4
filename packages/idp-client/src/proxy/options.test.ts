import { describe, expect, test } from 'vitest'
import { isIdpError } from '../errors/base.ts'
import { readProxy } from './options.ts'

const valid = { prefix: '/api/orders', target: 'https://orders.example/v1/' }

function refusal(options: unknown): string {
  try {
    readProxy(options)
  } catch (error) {
    if (isIdpError(error, 'INVALID_CONFIGURATION')) return error.message
    throw error
  }
  return 'nothing is refused'
}

describe('the options of a proxy', () => {
  test('have defaults', () => {
    const { target, ...config } = readProxy(valid)
    expect(target.href).toBe('https://orders.example/v1')
    expect(config).toEqual({
      prefix: '/api/orders',
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      requestHeaders: [],
      responseHeaders: [],
      cache: 'none',
      isInsecure: false,
      eventStreams: true,
      idleTimeout: 60,
      maxDuration: 3600,
    })
  })

  test.each([
    ['http on this machine', { target: 'http://127.0.0.1:8080' }, { isInsecure: false }],
    ['http in a network', { target: 'http://orders.internal', insecureTarget: true }, { isInsecure: true }],
    [
      'names of headers',
      { requestHeaders: ['X-Tenant'], responseHeaders: ['X-Total'] },
      { requestHeaders: ['x-tenant'] },
    ],
    ['the name of one header', { requestHeaders: 'X-Tenant' }, { requestHeaders: ['x-tenant'] }],
    ['fewer methods', { methods: ['GET'] }, { methods: ['GET'] }],
    ['the longest times', { idleTimeout: 2_147_483, maxDuration: 2_147_483 }, { maxDuration: 2_147_483 }],
    ['times', { idleTimeout: 0.5, maxDuration: 86_400 }, { idleTimeout: 0.5, maxDuration: 86_400 }],
  ])('can be %s', (_name, options, expected) => {
    expect(readProxy({ ...valid, ...options })).toMatchObject(expected)
  })

  test.each<[string, unknown, string]>([
    ['no object', undefined, 'its options must be an object'],
    ['an unknown name', { ...valid, prefx: '/x' }, 'Did you mean prefix?'],
    ['no prefix', { target: valid.target }, 'prefix must be a path'],
    ['the root as prefix', { ...valid, prefix: '/' }, 'prefix must be a path'],
    ['a prefix with a slash at its end', { ...valid, prefix: '/api/' }, 'prefix must be a path'],
    ['a relative prefix', { ...valid, prefix: 'api' }, 'prefix must be a path'],
    ['a prefix with dots', { ...valid, prefix: '/api/..' }, 'prefix must be a path'],
    ['an encoded prefix', { ...valid, prefix: '/a%20b' }, 'prefix must be a path'],
    ['one method', { ...valid, methods: 'GET' }, 'methods must be a list'],
    [
      'a header that is not a string',
      { ...valid, requestHeaders: [7] },
      'must be a list of names of headers',
    ],
    ['no target', { prefix: '/x' }, 'target must be an absolute URL'],
    [
      'a target with a query',
      { ...valid, target: 'https://a.example/?x=1' },
      'target must be an absolute URL',
    ],
    [
      'a target with credentials',
      { ...valid, target: 'https://u:p@a.example' },
      'target must be an absolute URL',
    ],
    [
      'a target with dots',
      { ...valid, target: 'https://a.example/x/../y' },
      'target must be an absolute URL',
    ],
    ['an http target', { ...valid, target: 'http://orders.internal' }, 'target must be https'],
    ['insecureTarget as text', { ...valid, insecureTarget: 'yes' }, 'insecureTarget must be true or false'],
    ['eventStreams as text', { ...valid, eventStreams: 'no' }, 'eventStreams must be true or false'],
    ['an empty audience', { ...valid, audience: '' }, 'audience must be'],
    ['a scope that is a list', { ...valid, scope: ['a'] }, 'scope must be'],
    ['OPTIONS', { ...valid, methods: ['OPTIONS'] }, 'methods must be a list'],
    ['no methods', { ...valid, methods: [] }, 'methods must be a list'],
    ['a wrong cache', { ...valid, cache: 'private' }, 'cache must be'],
    ['no time', { ...valid, idleTimeout: 0 }, 'idleTimeout must be'],
    ['an endless duration', { ...valid, maxDuration: Number.POSITIVE_INFINITY }, 'maxDuration must be'],
    ['a duration that no timer has', { ...valid, maxDuration: 2_147_484 }, 'maxDuration must be'],
    ['a wrong fetch', { ...valid, fetch: {} }, 'fetch must be a function'],
    ['a header with a space', { ...valid, requestHeaders: ['a b'] }, 'requestHeaders must be a list'],
    [
      'Content-Encoding of the response',
      { ...valid, responseHeaders: ['Content-Encoding'] },
      'responseHeaders has a name',
    ],
    ...[
      'Cookie',
      'Cookie2',
      'Set-Cookie',
      'Set-Cookie2',
      'Authorization',
      'DPoP',
      'DPoP-Nonce',
      'WWW-Authenticate',
      'IdP-Client',
      'IdP-Client-Error',
      'Sec-Fetch-Site',
      'Host',
      'Forwarded',
      'X-Forwarded-For',
      'X-Real-IP',
      'Proxy-Authorization',
      'X-HTTP-Method-Override',
      'X-Method-Override',
      'X-Original-URL',
      'X-Lighttpd-Send-File',
      'X-LiteSpeed-Location',
      'X-Reproxy-URL',
      'Alt-Svc',
      'NEL',
      'Report-To',
      'Reporting-Endpoints',
      'Accept-CH',
      'Set-Login',
      'X-Rewrite-URL',
      'X-Accel-Redirect',
      'X-Sendfile',
      'Service-Worker-Allowed',
      'Clear-Site-Data',
      'Access-Control-Allow-Origin',
      'X-Middleware-Rewrite',
      'Connection',
      'Transfer-Encoding',
      'Upgrade',
      'Content-Length',
      'Content-Security-Policy',
      'Cross-Origin-Resource-Policy',
      'X-Content-Type-Options',
      'Keep-Alive',
      'TE',
      'Trailer',
      'Expect',
      'HTTP2-Settings',
      'Location',
      'Content-Location',
      'Refresh',
    ].flatMap((name): [string, unknown, string][] => [
      [`${name} of the request`, { ...valid, requestHeaders: [name] }, 'requestHeaders has a name'],
      [`${name} of the response`, { ...valid, responseHeaders: [name] }, 'responseHeaders has a name'],
    ]),
  ])('cannot be %s', (_name, options, expected) => {
    expect(refusal(options)).toContain(expected)
  })
})
