import { describe, expect, test } from 'vitest'
import { isReservedParameter, resolveAuthorization } from './authorization.ts'
import type { AppBaseUrl, Problem } from './config.ts'
import type { AuthorizationParameters } from './options.ts'

function resolveIt(given?: AuthorizationParameters, appBaseUrl: AppBaseUrl | null = { kind: 'inferred' }) {
  const problems: Problem[] = []
  const value = resolveAuthorization(
    {
      options: { authorizationParameters: given },
      env: {},
      addIssue: (kind, message) => problems.push({ kind, message }),
    },
    appBaseUrl,
  )
  return { value, problems, parameters: Object.fromEntries(value.parameters) }
}

const DEFAULT = 'openid profile email offline_access'

describe('scope', () => {
  test('[S096] has a default', () => {
    for (const { value } of [resolveIt(), resolveIt({})])
      expect(value).toMatchObject({ scope: { kind: 'default' }, defaultScope: DEFAULT })
  })

  test('[S097] null means the default, and a string is unchanged', () => {
    expect(resolveIt({ scope: null })).toMatchObject({ value: { scope: { kind: 'default' } }, problems: [] })
    expect(resolveIt({ scope: ' openid  read:x ' })).toMatchObject({
      value: { scope: { kind: 'text', scope: ' openid  read:x ' } },
      problems: [],
    })
  })

  test.each(['', 'profile email', 'openid2 profile', 'xopenid', 7, ['openid']])('rejects %j', (scope) => {
    expect(resolveIt({ scope: scope as string }).problems).toMatchObject([
      { kind: 'wrong-option', message: expect.stringMatching(/^authorizationParameters\.scope must/) },
    ])
  })

  test('a map per audience is unchanged', () => {
    const { value, problems } = resolveIt({ audience: 'a', scope: { a: 'openid read:a', b: 'read:b' } })
    expect(problems).toEqual([])
    expect(value.scope.kind === 'map' && Object.fromEntries(value.scope.byAudience)).toEqual({
      a: 'openid read:a',
      b: 'read:b',
    })
  })

  test('the default audience has the default scope if the map has no entry for it', () => {
    const { value, problems } = resolveIt({ audience: 'a', scope: { b: 'read:b' } })
    expect(problems).toEqual([])
    expect(value.scope).toEqual({ kind: 'map', byAudience: new Map([['b', 'read:b']]) })
    expect(value.defaultScope).toBe(DEFAULT)
  })

  test('a map requires an audience, strings, and openid for the default audience', () => {
    expect(resolveIt({ scope: { a: 'openid' } }).problems).toMatchObject([{ kind: 'wrong-option' }])
    expect(resolveIt({ audience: 'a', scope: { a: 'read' } }).problems).toMatchObject([
      { kind: 'wrong-option' },
    ])
    expect(resolveIt({ audience: 'a', scope: { b: 7 } as never }).problems).toMatchObject([
      { kind: 'wrong-option' },
    ])
  })
})

describe('audience, max_age, redirect_uri', () => {
  test('[S098] audience is a string or null', () => {
    expect(resolveIt({ audience: 'https://api.example.com' }).value.audience).toBe('https://api.example.com')
    expect(resolveIt({ audience: null }).value).not.toHaveProperty('audience')
    expect(resolveIt({ audience: 7 as never }).problems).toMatchObject([{ kind: 'wrong-option' }])
  })

  test('[S100] max_age is an integer number of seconds', () => {
    expect(resolveIt({ max_age: 0 }).value.maxAge).toBe(0)
    expect(resolveIt({ max_age: 300 }).value.maxAge).toBe(300)
    expect(resolveIt({ max_age: '300' as never }).value.maxAge).toBe(300)
    expect(resolveIt({ max_age: null }).value).not.toHaveProperty('maxAge')
  })

  test.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '1e3', '', true, {}])(
    'rejects max_age %j',
    (given) => {
      const { value, problems } = resolveIt({ max_age: given as number })
      expect(value).not.toHaveProperty('maxAge')
      expect(problems).toMatchObject([{ kind: 'wrong-option' }])
    },
  )

  test('[S099] redirect_uri is unchanged, byte for byte', () => {
    const uri = 'https://App.example.com:443/Callback/?b=2&a=%2f'
    expect(resolveIt({ redirect_uri: uri }).value.redirectUri).toBe(uri)
    expect(resolveIt({ redirect_uri: null }).value).not.toHaveProperty('redirectUri')
  })

  test.each([
    '/callback',
    'app.example.com',
    'https://',
    'https://a.example.com/#x',
    ' https://a.example.com',
    '',
    7,
  ])('rejects redirect_uri %j', (uri) => {
    expect(resolveIt({ redirect_uri: uri as string }).problems).toMatchObject([{ kind: 'wrong-option' }])
  })

  test('redirect_uri must have an origin of the application', () => {
    const fixed: AppBaseUrl = { kind: 'static', url: 'https://app.example.com/docs' }
    expect(resolveIt({ redirect_uri: 'https://APP.example.com/cb' }, fixed).problems).toEqual([])
    expect(resolveIt({ redirect_uri: 'http://app.example.com/cb' }, fixed).problems).toMatchObject([
      { kind: 'wrong-option' },
    ])
    const list: AppBaseUrl = {
      kind: 'allow-list',
      entries: ['https://a.example.com', 'https://b.example.com'].map((url) => ({ origin: url, url })),
    }
    expect(resolveIt({ redirect_uri: 'https://b.example.com/cb' }, list).problems).toEqual([])
    expect(resolveIt({ redirect_uri: 'https://c.example.com/cb' }, list).problems).toHaveLength(1)
    expect(resolveIt({ redirect_uri: 'https://c.example.com/cb' }, null).problems).toEqual([])
  })
})

describe('all other parameters', () => {
  test('[S102,S103] are unchanged; null and undefined remove them, empty strings and 0 do not', () => {
    const { parameters, problems } = resolveIt({
      organization: 'org_1',
      prompt: 'login',
      empty: '',
      zero: 0,
      yes: true,
      none: null,
      undef: undefined,
    })
    expect(problems).toEqual([])
    expect(parameters).toEqual({ organization: 'org_1', prompt: 'login', empty: '', zero: '0', yes: 'true' })
  })

  test('objects are serialized as JSON', () => {
    const claims = { id_token: { acr: { essential: true } } }
    const details = [{ type: 'payment', amount: 1 }]
    expect(resolveIt({ claims, authorization_details: details }).parameters).toEqual({
      claims: JSON.stringify(claims),
      authorization_details: JSON.stringify(details),
    })
  })

  test('a value that cannot be sent is rejected', () => {
    const loop: Record<string, unknown> = {}
    loop['self'] = loop
    for (const value of [loop, ['a', 'b'], () => 'x', Symbol('x')]) {
      expect(resolveIt({ resource: value }).problems).toMatchObject([{ kind: 'wrong-option' }])
    }
  })

  test('parameters that the library sets itself are ignored without a notice', () => {
    const { parameters, problems } = resolveIt({
      client_id: 'x',
      client_secret: 'x',
      client_assertion: 'x',
      response_type: 'token',
      code_challenge: 'x',
      code_challenge_method: 'plain',
      state: 'x',
      nonce: 'x',
      login_hint: 'alice',
    })
    expect(problems).toEqual([])
    expect(parameters).toEqual({ login_hint: 'alice' })
    expect(['state', 'client_anything', 'prompt'].map(isReservedParameter)).toEqual([true, true, false])
  })

  test('configured request parameters that a query cannot set are sent', () => {
    expect(resolveIt({ resource: 'urn:x', dpop_jkt: 'y' }).parameters).toEqual({
      resource: 'urn:x',
      dpop_jkt: 'y',
    })
  })

  test('response_mode must be a mode that reaches a server', () => {
    expect(resolveIt({ response_mode: 'form_post' }).problems).toEqual([])
    expect(resolveIt({ response_mode: 'query' }).problems).toEqual([])
    expect(resolveIt({ response_mode: 'fragment' }).problems).toMatchObject([{ kind: 'wrong-option' }])
    expect(resolveIt({ response_mode: 'query.jwt' }).problems).toMatchObject([{ kind: 'wrong-option' }])
  })

  test('names of Object.prototype are ordinary parameter names', () => {
    const given = JSON.parse('{"__proto__":"x","constructor":"y"}') as AuthorizationParameters
    expect([...resolveIt(given).value.parameters]).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ])
  })

  test('the group must be an object', () => {
    expect(resolveIt('scope' as never).problems).toMatchObject([{ kind: 'wrong-option' }])
  })

  test('the resolved values are frozen', () => {
    const parameters = resolveIt({ prompt: 'login' }).value.parameters as Map<string, string>
    expect(() => parameters.set('client_id', 'x')).toThrow(TypeError)
  })
})
