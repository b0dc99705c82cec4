import { describe, expect, test } from 'vitest'
import { fc } from '../../test/support/fast-check.ts'
import type { Problem } from './config.ts'
import type { Env } from './env.ts'
import type { IdpClientOptions } from './options.ts'
import { resolveInsecure, resolveProvider } from './provider.ts'

function resolveIt(options: IdpClientOptions, env: Env = {}, insecure = false) {
  const problems: Problem[] = []
  const provider = resolveProvider(
    { options, env, addIssue: (kind, message) => problems.push({ kind, message }) },
    insecure,
  )
  return { provider, problems }
}

describe('domain', () => {
  test('[S022] sets the provider; both spellings of its issuer are accepted', () => {
    expect(resolveIt({ domain: 'tenant.example.com' })).toEqual({
      provider: {
        url: 'https://tenant.example.com',
        issuers: ['https://tenant.example.com/', 'https://tenant.example.com'],
      },
      problems: [],
    })
  })

  test('[S023] IDP_DOMAIN sets domain, the option overrides it', () => {
    const env = { IDP_DOMAIN: 'variable.example.com' }
    expect(resolveIt({}, env).provider?.url).toBe('https://variable.example.com')
    expect(resolveIt({ domain: 'option.example.com' }, env).provider?.url).toBe('https://option.example.com')
  })

  test.each([
    ['tenant.example.com', 'https://tenant.example.com'],
    ['tenant.example.com/', 'https://tenant.example.com/'],
    ['Tenant.Example.com', 'HTTPS://Tenant.Example.com'],
    ['localhost:8443', 'https://localhost:8443'],
    ['idp.internal/realms/a', 'https://idp.internal/realms/a'],
    ['10.0.0.7', 'https://10.0.0.7'],
    ['[2001:db8::1]:8443', 'https://[2001:db8::1]:8443'],
  ])('[S024] %s means the same as %s', (bare, absolute) => {
    expect(resolveIt({ domain: bare }).provider).toEqual(resolveIt({ domain: absolute }).provider)
    expect(resolveIt({ domain: bare }).problems).toEqual([])
  })

  test('a port is kept', () => {
    expect(resolveIt({ domain: 'idp.example.com:8443' }).provider).toEqual({
      url: 'https://idp.example.com:8443',
      issuers: ['https://idp.example.com:8443/', 'https://idp.example.com:8443'],
    })
  })

  test('with a path the issuer is exactly the given URL', () => {
    expect(resolveIt({ domain: 'https://idp.example.com/realms/a' }).provider).toEqual({
      url: 'https://idp.example.com/realms/a',
      issuers: ['https://idp.example.com/realms/a'],
    })
    expect(resolveIt({ domain: 'https://idp.example.com/realms/a/' }).provider).toEqual({
      url: 'https://idp.example.com/realms/a',
      issuers: ['https://idp.example.com/realms/a/'],
    })
  })

  test('an issuer that names the default port, or a host in upper case, is accepted as it is written', () => {
    const given = 'https://Idp.example.com:443/realms/a'
    expect(resolveIt({ domain: given }).provider).toEqual({
      url: 'https://idp.example.com/realms/a',
      issuers: ['https://idp.example.com/realms/a', given],
    })
    expect(resolveIt({ domain: 'idp.example.com:443/' }).provider).toEqual({
      url: 'https://idp.example.com',
      issuers: [
        'https://idp.example.com/',
        'https://idp.example.com',
        'https://idp.example.com:443/',
        'https://idp.example.com:443',
      ],
    })
  })

  test.each([
    'ftp://idp.example.com',
    'https://',
    'https:///idp.example.com',
    'user@idp.example.com',
    'https://user:pw@idp.example.com',
    'idp.example.com?x=1',
    'idp.example.com#x',
    'idp example.com',
    'idp.example.com\\path',
    'idp.example.com:99999',
    'https://idp.example.com/.well-known/openid-configuration',
    7,
    {},
  ])('rejects %j without repeating it', (domain) => {
    const { provider, problems } = resolveIt({ domain: domain as string })
    expect(provider).toBeUndefined()
    expect(problems).toMatchObject([{ kind: 'wrong-option', message: expect.stringMatching(/^domain must/) }])
    expect(problems[0]?.message).not.toContain('idp')
  })

  test('an invalid IDP_DOMAIN is reported as a variable', () => {
    expect(resolveIt({}, { IDP_DOMAIN: 'a b' }).problems).toMatchObject([
      { kind: 'wrong-variable', message: expect.stringMatching(/^IDP_DOMAIN must/) },
    ])
  })

  test('[S249,S253] if it is missing, the message names both ways to set it', () => {
    for (const domain of [undefined, '', null]) {
      expect(resolveIt({ domain: domain as undefined }).problems).toEqual([
        { kind: 'missing', message: expect.stringMatching(/option domain or the variable IDP_DOMAIN/) },
      ])
    }
  })

  test('[S058] plain http is rejected', () => {
    expect(resolveIt({ domain: 'http://localhost:4000' })).toMatchObject({
      provider: undefined,
      problems: [{ kind: 'wrong-option', message: expect.stringMatching(/allowInsecureRequests/) }],
    })
    expect(resolveIt({}, { IDP_DOMAIN: 'http://localhost:4000' }).problems).toMatchObject([
      { kind: 'wrong-variable' },
    ])
  })

  test('[S059] plain http is accepted with allowInsecureRequests; a bare host stays https', () => {
    expect(resolveIt({ domain: 'http://localhost:4000' }, {}, true)).toEqual({
      provider: {
        url: 'http://localhost:4000',
        issuers: ['http://localhost:4000/', 'http://localhost:4000'],
      },
      problems: [],
    })
    expect(resolveIt({ domain: 'localhost:4000' }, {}, true).provider?.url).toBe('https://localhost:4000')
  })

  test('a space between host and path is a problem', () => {
    expect(resolveIt({ domain: 'A /' })).toMatchObject({ problems: [expect.anything()] })
  })

  test('any string gives an https origin or exactly one problem', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webUrl(), fc.webAuthority({ withPort: true })), (domain) => {
        const { provider, problems } = resolveIt({ domain })
        expect(problems).toHaveLength(provider ? 0 : 1)
        if (!provider) return
        expect(new URL(provider.url).protocol).toBe('https:')
        expect(provider.url.endsWith('/')).toBe(false)
      }),
    )
  })
})

describe('allowInsecureRequests', () => {
  const run = (value: unknown, production: boolean) => {
    const problems: Problem[] = []
    const insecure = resolveInsecure(
      {
        options: { allowInsecureRequests: value as boolean },
        env: {},
        addIssue: (kind, message) => problems.push({ kind, message }),
      },
      production,
    )
    return { insecure, problems }
  }

  test('[S058] is false by default', () => {
    expect(run(undefined, false)).toEqual({ insecure: false, problems: [] })
  })

  test('[S059] is true outside production', () => {
    expect(run(true, false)).toEqual({ insecure: true, problems: [] })
  })

  test('[S060] has no effect in production, and is reported', () => {
    expect(run(true, true)).toMatchObject({
      insecure: false,
      problems: [{ kind: 'notice', message: expect.stringMatching(/no effect in production/) }],
    })
    expect(run(false, true).problems).toEqual([])
  })

  test('must be a boolean', () => {
    expect(run('true', false)).toMatchObject({ insecure: false, problems: [{ kind: 'wrong-option' }] })
  })
})
