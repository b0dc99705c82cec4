import { describe, expect, test } from 'vitest'
import { engineFor } from '../../test/support/engine.ts'
import type { AuthorizationParameters } from '../config/options.ts'
import { effectiveAuthorization, isStepUpOnly, queryChanges } from './authorization.ts'

function effective(configured: AuthorizationParameters, changes: Record<string, unknown> = {}) {
  return effectiveAuthorization(engineFor({ authorizationParameters: configured }).engine.config, changes)
}

describe('effective authorization parameters', () => {
  test('[S096] have the default scope', () => {
    expect(effective({}).parameters.get('scope')).toBe('openid profile email offline_access')
  })

  test('[S097] a given scope is sent; null means the default', () => {
    expect(effective({ scope: 'openid  read:things' }).scope).toBe('openid  read:things')
    expect(effective({ scope: null }).scope).toBe('openid profile email offline_access')
    expect(effective({ scope: 'openid a' }, { scope: 'openid b' }).scope).toBe('openid b')
  })

  test('a scope map gives the scope of the effective audience', () => {
    const scope = { 'https://a.example': 'openid a', 'https://b.example': 'openid b' }
    expect(effective({ scope, audience: 'https://a.example' }).scope).toBe('openid a')
    expect(effective({ scope, audience: 'https://a.example' }, { audience: 'https://b.example' }).scope).toBe(
      'openid b',
    )
  })

  test('a caller may give a scope map, which needs an audience', () => {
    const scope = { 'https://a.example': 'openid a' }
    expect(effective({}, { scope, audience: 'https://a.example' }).scope).toBe('openid a')
    expect(effective({ audience: 'https://a.example' }, { scope }).scope).toBe('openid a')
    const other = effective({}, { scope, audience: 'https://b.example' })
    expect(other.scope).toBe('openid profile email offline_access')
    expect(() => effective({}, { scope })).toThrow(expect.objectContaining({ code: 'INVALID_CONFIGURATION' }))
  })

  test('[S098,S100,S102,S103] audience, max_age, organization and any other key are sent', () => {
    const { parameters } = effective({
      audience: 'https://a.example',
      max_age: 0,
      organization: 'org_1',
      ui_locales: '',
    })
    expect(Object.fromEntries(parameters)).toEqual({
      scope: 'openid profile email offline_access',
      audience: 'https://a.example',
      max_age: '0',
      organization: 'org_1',
      ui_locales: '',
    })
  })

  test('each key of the caller overrides a configured one; null and undefined do not', () => {
    const { parameters } = effective(
      { prompt: 'login', acr_values: 'a' },
      { prompt: 'none', acr_values: undefined, x: null },
    )
    expect(Object.fromEntries(parameters)).toMatchObject({ prompt: 'none', acr_values: 'a' })
    expect(parameters.has('x')).toBe(false)
    const configured = { audience: 'https://a.example', max_age: 60, scope: 'openid a' }
    expect(effective(configured, { audience: null, max_age: null, scope: null })).toEqual(
      effective(configured),
    )
  })

  test('objects are serialized as JSON', () => {
    const claims = { id_token: { acr: { essential: true } } }
    expect(effective({ claims }).parameters.get('claims')).toBe(JSON.stringify(claims))
    expect(effective({}, { claims }).parameters.get('claims')).toBe(JSON.stringify(claims))
  })

  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle

  test.each<[string, unknown]>([
    ['a list of strings, which parameters send in different ways', ['de', 'en']],
    ['a list with an object and a string', [{ type: 'a' }, 'b']],
    ['an object with a cycle', cycle],
    ['an object with a bigint', { amount: 1n }],
    ['a function', () => 'de'],
    ['a symbol', Symbol('de')],
  ])('%s is rejected, by the name of the parameter', (_title, ui_locales) => {
    const refused = expect.objectContaining({
      code: 'INVALID_CONFIGURATION',
      detail: expect.stringContaining('authorizationParameters.ui_locales must be a string, or an object'),
    })
    expect(() => effective({}, { ui_locales })).toThrow(refused)
    expect(() => effective({}, { audience: ui_locales })).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIGURATION' }),
    )
  })

  test.each<[string, unknown]>([
    ['a list', ['openid', 'profile']],
    ['a list in a map', { 'https://a.example': ['openid', 'profile'] }],
    ['a function in a map', { 'https://a.example': () => 'openid' }],
  ])('a scope that is %s is rejected', (_title, scope) => {
    expect(() => effective({ audience: 'https://a.example' }, { scope })).toThrow(
      expect.objectContaining({
        code: 'INVALID_CONFIGURATION',
        detail: expect.stringContaining('authorizationParameters.scope must be a string'),
      }),
    )
  })

  test('the error of a call does not repeat a name that may be input', () => {
    expect(() => effective({}, { '<script>': ['a'] })).toThrow(
      expect.objectContaining({ detail: expect.not.stringContaining('script') }),
    )
  })

  test.each(['-1', '1.5', 'abc', '', '1e3', '99999999999'])('max_age %j is rejected', (max_age) => {
    expect(() => effective({}, { max_age })).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }))
  })

  test('form_post makes the transaction cookie cross-site', () => {
    expect(effective({}, { response_mode: 'form_post' }).crossSitePost).toBe(true)
    expect(effective({}).crossSitePost).toBe(false)
  })

  test.each(['fragment', 'web_message', 'query.jwt', ''])(
    'no server can read response_mode %j',
    (response_mode) => {
      expect(() => effective({}, { response_mode })).toThrow(
        expect.objectContaining({
          code: 'INVALID_CONFIGURATION',
          detail: expect.stringContaining('form_post'),
        }),
      )
    },
  )
})

describe('the login link of a popup', () => {
  const { config } = engineFor({ authorizationParameters: { acr_values: 'urn:silver' } }).engine

  test('is only for a session if it changes what is configured, unless a guard requires that', () => {
    const isOnly = (acr_values: string, guard?: Record<string, string>) =>
      isStepUpOnly(config.authorization, effectiveAuthorization(config, { acr_values }), guard)
    expect(isOnly('urn:silver')).toBe(false)
    expect(isOnly('urn:gold')).toBe(true)
    expect(isOnly('urn:gold', { max_age: '60' })).toBe(true)
    expect(isOnly('urn:gold', { acr_values: 'urn:gold' })).toBe(false)
  })

  test('with an empty organization names none, so that that of the session is requested', () => {
    const query = { organization: '', acr_values: '' }
    expect(queryChanges(config.authorization, query, true)).toEqual({ acr_values: '' })
  })
})
