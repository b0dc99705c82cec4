import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { version } from '../../src/lib/version.ts'
import { reportFailure } from '../../src/log/failure.ts'
import {
  configOf,
  exchange,
  printed,
  providerOf,
  REDIRECT_URI,
  recordingLog,
  refused,
  rejection,
  SECRET,
} from './client.ts'
import { ACCESS_TOKEN, CLIENT_ID, json, LocalProvider, signingKey } from './local-provider.ts'
import { faults } from './wire-faults.ts'

let op: LocalProvider

beforeAll(async () => {
  op = await new LocalProvider(await signingKey('k1', 'ES256')).start()
})
afterAll(() => op.stop())
afterEach(() => {
  op.requests.length = 0
  op.responders.clear()
  op.metadata = {}
  op.tokens = {}
  op.idToken = () => op.sign()
})

const lastTokenRequest = () => {
  const request = op.requests.findLast(({ endpoint }) => endpoint === 'token')
  if (!request) throw new Error('no token request was made')
  return request
}

describe('the request', () => {
  test('is one POST with a form body and without a query; with cached metadata it is the only request', async () => {
    const provider = providerOf(op.issuer)
    await exchange(provider)
    expect(op.requests.map(({ endpoint }) => endpoint)).toEqual(['discovery', 'token', 'jwks'])
    op.requests.length = 0
    await exchange(provider)
    expect(op.requests.map(({ endpoint }) => endpoint)).toEqual(['token'])
    const { form, headers, method, url } = lastTokenRequest()
    expect([method, url]).toEqual(['POST', '/token'])
    expect(headers['content-type']).toMatch(/^application\/x-www-form-urlencoded/)
    expect([...form].sort()).toEqual([
      ['code', 'code-1'],
      ['code_verifier', 'verifier-verifier-verifier-verifier-verifier-1'],
      ['grant_type', 'authorization_code'],
      ['redirect_uri', REDIRECT_URI],
    ])
  })

  test('form-urlencodes Basic credentials, if advertised or if nothing is', async () => {
    const encoded = `${CLIENT_ID}:s+e%3Acret%2F%C3%A4`
    for (const methods of [undefined, [], ['client_secret_post', 'client_secret_basic']]) {
      op.metadata = { token_endpoint_auth_methods_supported: methods }
      await exchange(providerOf(op.issuer))
      const { form, headers } = lastTokenRequest()
      expect(Buffer.from(headers.authorization?.slice(6) ?? '', 'base64').toString()).toBe(encoded)
      expect(form.has('client_secret')).toBe(false)
    }
  })

  test('has the secret in the body if only that is advertised', async () => {
    op.metadata = { token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt'] }
    await exchange(providerOf(op.issuer))
    const { form, headers } = lastTokenRequest()
    expect(headers.authorization).toBeUndefined()
    expect([form.get('client_id'), form.get('client_secret')]).toEqual([CLIENT_ID, SECRET])
  })

  test.each([
    'https://app.example/auth/callback?tenant=a%20b&x=1',
    'https://APP.example:443/auth/callback/../cb?x=a+b',
    'https://app.example',
    'https://app.example/caf%C3%A9?q=%7e',
  ])('[S099] the redirect URI %s is sent unchanged', async (redirectUri) => {
    await exchange(providerOf(op.issuer), { redirectUri })
    expect(lastTokenRequest().form.getAll('redirect_uri')).toEqual([redirectUri])
  })

  test('[S062] every request has name and version in Idp-Client', async () => {
    await exchange(providerOf(op.issuer))
    expect(op.requests).toHaveLength(3)
    for (const { headers } of op.requests) {
      const sent = JSON.parse(Buffer.from(String(headers['idp-client']), 'base64url').toString())
      expect(sent).toEqual({ name: 'idp-client', version })
    }
  })

  test('[S063] without telemetry there is no Idp-Client header, and no version in User-Agent', async () => {
    await exchange(providerOf(op.issuer, { telemetry: false }))
    expect(op.requests).toHaveLength(3)
    for (const { headers } of op.requests) {
      expect(headers['idp-client']).toBeUndefined()
      expect(headers['user-agent']).not.toMatch(/\d/)
    }
  })

  test('[S058] plain http is rejected unless insecure requests are allowed', async () => {
    const error = await rejection(exchange(providerOf(op.issuer, { allowInsecureRequests: false })))
    expect(error).toMatchObject({ code: 'DISCOVERY_ERROR', message: expect.stringMatching(/https/) })
    expect(op.requests).toHaveLength(0)
  })

  test('the secret is not sent to an http token endpoint of an https issuer', async () => {
    const issuer = 'https://op.example'
    const document = { ...op.document(), issuer }
    const provider = providerOf(issuer, {
      allowInsecureRequests: false,
      fetch: async () => new Response(JSON.stringify(document)),
    })
    const error = await rejection(exchange(provider))
    expect(error).toMatchObject({
      code: 'DISCOVERY_ERROR',
      message: expect.stringMatching(/token_endpoint is not https/),
    })
    expect(op.count('token')).toBe(0)
  })
})

describe('the callback', () => {
  const callback = (parameters: Record<string, string>) => ({ callback: new Map(Object.entries(parameters)) })

  test('iss must be the issuer, also in an error response', async () => {
    const provider = providerOf(op.issuer)
    const wrong = ['https://evil.example', `${op.issuer}/`, '', op.issuer.toUpperCase()]
    for (const iss of wrong) {
      for (const outcome of [{ code: 'c' }, { error: 'access_denied' }]) {
        const error = await rejection(exchange(provider, callback({ iss, ...outcome })))
        expect(error).toMatchObject({ name: 'CallbackError', code: 'ISSUER_MISMATCH' })
      }
    }
    expect(op.count('token')).toBe(0)
    const grant = await exchange(provider, callback({ iss: op.issuer, code: 'c' }))
    expect(grant.claims?.sub).toBe('alice')
  })

  test('a promised iss is required', async () => {
    op.metadata = { authorization_response_iss_parameter_supported: true }
    const provider = providerOf(op.issuer)
    for (const outcome of [{ code: 'c' }, { error: 'access_denied' }]) {
      const error = await rejection(exchange(provider, callback({ ...outcome })))
      expect(error).toMatchObject({ code: 'ISSUER_MISMATCH' })
    }
    expect((await exchange(provider, callback({ iss: op.issuer, code: 'c' }))).idToken).toBeTypeOf('string')
  })

  test.each([{}, { code: '' }])('the code of %o is rejected without a token request', async (part) => {
    const error = await rejection(exchange(providerOf(op.issuer), callback(part)))
    expect(error).toMatchObject({ code: 'INVALID_CALLBACK' })
    expect(op.count('token')).toBe(0)
  })

  test('an error of the provider is typed; its text is in its own property', async () => {
    const text = '<script>alert(1)</script>\r\nSet-Cookie: a=b'
    const parameters = { error: 'access_denied', error_description: text, code: 'c' }
    const { error, cause } = await refused(exchange(providerOf(op.issuer), callback(parameters)))
    expect(error.code).toBe('AUTHORIZATION_ERROR')
    expect(cause).toMatchObject({
      code: 'OAUTH_ERROR',
      error: 'access_denied',
      transient: false,
      providerStatus: undefined,
    })
    expect(cause.description).toContain('<script>')
    expect(cause.description).not.toMatch(/[\r\n]/)
    expect(error.message + cause.message).not.toMatch(/<script|Set-Cookie/)
    expect(op.count('token')).toBe(0)
  })

  test('an error is limited to the characters and length that RFC 6749 allows', async () => {
    const hostile = `a"b\\c\r\n\u202e${'x'.repeat(5000)}`
    const { cause } = await refused(exchange(providerOf(op.issuer), callback({ error: hostile })))
    expect(cause.error).toMatch(/^abcx{97}$/)
    const odd = await refused(exchange(providerOf(op.issuer), callback({ error: '\u0000' })))
    expect(odd.cause.error).toBe('unknown_error')
  })

  test('tokens and signed responses in the callback are ignored', async () => {
    const extra = {
      access_token: 'evil',
      id_token: 'evil',
      token: 'evil',
      response: 'e.v.il',
      expires_in: '1',
    }
    const grant = await exchange(providerOf(op.issuer), callback({ code: 'c', ...extra }))
    expect(grant.accessToken).toBe(ACCESS_TOKEN)
    expect(lastTokenRequest().body).not.toContain('evil')
  })

  test('a code with reserved characters is sent unchanged, once', async () => {
    const code = 'a+b&c=d%20&redirect_uri=https://evil.example é'
    await exchange(providerOf(op.issuer), callback({ code }))
    expect(lastTokenRequest().form.getAll('code')).toEqual([code])
    expect(lastTokenRequest().form.getAll('redirect_uri')).toEqual([REDIRECT_URI])
  })
})

describe('the response', () => {
  test('is read completely', async () => {
    const grant = await exchange(providerOf(op.issuer))
    expect(grant).toMatchObject({
      accessToken: ACCESS_TOKEN,
      tokenType: 'Bearer',
      refreshToken: 'refresh-token-1',
      scope: 'openid profile',
      claims: { sub: 'alice', aud: CLIENT_ID },
    })
  })

  test.each([
    ['bearer', 'Bearer'],
    ['BEARER', 'Bearer'],
    ['dpop', 'DPoP'],
    ['DPoP', 'DPoP'],
  ])('token_type %s is read as %s', async (sent, read) => {
    op.tokens = { token_type: sent }
    expect((await exchange(providerOf(op.issuer))).tokenType).toBe(read)
  })

  test.each([
    { token_type: 'mac' },
    { token_type: 'constructor' },
    { token_type: '' },
    { token_type: ['bearer'] },
    { token_type: undefined },
    { access_token: undefined },
    { access_token: '' },
    { access_token: 7 },
    { access_token: null },
  ])('%o is rejected', async (part) => {
    op.tokens = part
    const { error, cause } = await refused(exchange(providerOf(op.issuer)))
    expect([error.code, cause.code]).toEqual(['AUTHORIZATION_CODE_GRANT_ERROR', 'RESPONSE_INVALID'])
    expect(cause.transient).toBe(false)
  })

  const jwt = (claims: object): string =>
    `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`

  const now = 1_900_000_000
  test.each([
    [{ expires_in: 600 }, now + 600],
    [{ expires_in: '600' }, now + 600],
    [{ expires_in: 600.9 }, now + 600],
    [{ expires_in: 0 }, now],
    [{ expires_in: -1 }, now],
    [{ expires_in: undefined }, now + 300],
    [{ expires_in: null }, now + 300],
    [{ expires_in: 'abc' }, now + 300],
    [{ expires_in: '' }, now + 300],
    [{ expires_in: [600] }, now + 300],
    [{ expires_in: 1e21 }, now + 315_360_000],
    [{ expires_in: undefined, access_token: jwt({ exp: now + 77 }) }, now + 77],
    [{ expires_in: 'abc', access_token: jwt({ exp: 'soon' }) }, now + 300],
    [{ expires_in: undefined, access_token: jwt({ exp: 1e300 }) }, now + 315_360_000],
    [{ expires_in: 5, access_token: jwt({ exp: now + 77 }) }, now + 5],
  ])('%o gives expiresAt %i', async (part, expected) => {
    op.tokens = part
    op.idToken = () => op.sign({ iat: now, exp: now + 60 })
    expect((await exchange(providerOf(op.issuer, { clock: () => now }))).expiresAt).toBe(expected)
  })

  test('exp of the access token is a time of the provider, whose clock may be ahead', async () => {
    const { dpop } = configOf(op.issuer)
    const provider = providerOf(op.issuer, { clock: () => now, dpop: { ...dpop, clockSkew: 600 } })
    op.tokens = { expires_in: undefined, access_token: jwt({ exp: now + 677 }) }
    op.idToken = () => op.sign({ iat: now + 600, exp: now + 660 })
    expect((await exchange(provider)).expiresAt).toBe(now + 77)
  })

  test.each([
    { scope: null, refresh_token: null },
    { scope: undefined, refresh_token: undefined },
    { scope: 7, refresh_token: 7 },
  ])('invalid optional properties %o count as absent', async (part) => {
    op.tokens = part
    const grant = await exchange(providerOf(op.issuer))
    expect(Object.keys(grant).sort()).toEqual(['accessToken', 'claims', 'expiresAt', 'idToken', 'tokenType'])
  })

  test.each([
    [['openid', 'read'], 'openid read'],
    [[], ''],
    ['', ''],
  ])('the scope %j, in a list or empty, is that of the token', async (scope, expected) => {
    op.tokens = { scope }
    expect((await exchange(providerOf(op.issuer))).scope).toBe(expected)
  })

  test.each([
    [400, 'invalid_grant'],
    [401, 'invalid_client'],
    [403, 'access_denied'],
    [418, 'unknown_custom_error'],
    [200, 'invalid_grant'],
  ])('%i %s is thrown to the caller, without the body', async (status, error) => {
    const challenge = status === 401 ? { 'www-authenticate': 'Basic realm="op"' } : {}
    const body = { error, error_description: 'No.', refresh_token: 'leaked-token' }
    op.responders.set('token', (response) => json(response, body, status, challenge))
    const log = recordingLog()
    const { error: outer, cause } = await refused(exchange(providerOf(op.issuer, { log })))
    expect(outer.code).toBe('AUTHORIZATION_CODE_GRANT_ERROR')
    expect(cause).toMatchObject({
      code: 'OAUTH_ERROR',
      error,
      providerStatus: status,
      description: 'No.',
      transient: false,
    })
    expect(printed(outer)).not.toContain('leaked-token')
    reportFailure(log, outer)
    expect(log.events).toEqual([
      expect.objectContaining({
        level: 'warn',
        code: 'PROVIDER_FAILURE',
        endpoint: 'token',
        error: 'OAUTH_ERROR',
        providerError: error === 'unknown_custom_error' ? 'other' : error,
        status,
      }),
    ])
    expect(JSON.stringify(log.events)).not.toMatch(/leaked-token|unknown_custom_error|No\./)
  })

  test('no error contains a token, code, verifier, secret or claim', async () => {
    const provoke: (() => void)[] = [
      () => (op.tokens = { token_type: 'mac' }),
      () => (op.idToken = () => op.sign({ nonce: 'other', email: 'alice@example.org' })),
      () => (op.idToken = async () => 'not.a.token'),
      () => op.responders.set('token', (response) => json(response, `{"access_token":"${ACCESS_TOKEN}`)),
      () => op.responders.set('token', (response) => json(response, { access_token: ACCESS_TOKEN }, 500)),
    ]
    for (const cause of provoke) {
      op.tokens = {}
      op.idToken = () => op.sign()
      op.responders.clear()
      cause()
      const { error } = await refused(exchange(providerOf(op.issuer)))
      expect(printed(error)).not.toMatch(
        /access-token-1|refresh-token-1|code-1|verifier-|s e:cret|s\+e|alice|eyJ/,
      )
    }
  })
})

describe('wire faults at the token endpoint', () => {
  test.each(faults)('$title: one request, a typed error', async (fault) => {
    const provider = providerOf(op.issuer)
    await provider.keys()
    const hurried = providerOf(op.issuer, {
      fetch: provider.config.fetch,
      httpTimeout: fault.timeout ? 200 : 20_000,
    })
    op.requests.length = 0
    op.responders.set('token', (response, request) =>
      fault.respond(response, request, async (target) => json(target, await op.tokenResponse())),
    )
    const outcome = exchange(hurried)
    if (fault.tolerated) expect((await outcome).accessToken).toBe(ACCESS_TOKEN)
    else {
      const { error, cause } = await refused(outcome)
      const code = fault.transient
        ? 'AUTHORIZATION_CODE_GRANT_REQUEST_ERROR'
        : 'AUTHORIZATION_CODE_GRANT_ERROR'
      expect(error.code).toBe(code)
      expect(cause.transient).toBe(fault.transient ?? false)
      if (fault.status) expect(cause.providerStatus).toBe(fault.status)
      if (fault.timeout) expect(cause.code).toBe('REQUEST_TIMEOUT')
      if (fault.title.includes('Retry-After')) expect(cause.retryAfter).toBe(7)
      expect(printed(error)).not.toMatch(/<html|access-token-1|code-1/)
    }
    expect(op.count('token')).toBe(1)
    expect(op.requests.filter(({ endpoint }) => endpoint === 'other')).toHaveLength(0)
    op.responders.clear()
    expect((await exchange(provider)).claims?.sub).toBe('alice')
  })

  test('[S061] a late response is ignored, and the next login works', async () => {
    const provider = providerOf(op.issuer)
    await provider.keys()
    let late: (() => void) | undefined
    const responded = new Promise<void>((resolve) => {
      op.responders.set('token', async (response) => {
        await new Promise<void>((release) => (late = release))
        json(response, await op.tokenResponse())
        resolve()
      })
    })
    const hurried = providerOf(op.issuer, { fetch: provider.config.fetch, httpTimeout: 100 })
    const outcome = await refused(exchange(hurried))
    const codes = [outcome.error.code, outcome.cause.code]
    expect(codes).toEqual(['AUTHORIZATION_CODE_GRANT_REQUEST_ERROR', 'REQUEST_TIMEOUT'])
    late?.()
    await responded
    op.responders.clear()
    expect((await exchange(provider)).claims?.sub).toBe('alice')
  })

  test('[S061] a custom fetch that ignores its signal cannot delay a login', async () => {
    const provider = providerOf(op.issuer, { fetch: () => new Promise(() => {}), httpTimeout: 50 })
    expect(await rejection(exchange(provider))).toMatchObject({ code: 'DISCOVERY_TIMEOUT' })
  })

  test('a custom fetch that throws is a network failure, without its message', async () => {
    const fetch = () => {
      throw new RangeError('secret text')
    }
    const error = await rejection(exchange(providerOf(op.issuer, { fetch })))
    expect(error).toMatchObject({ code: 'DISCOVERY_ERROR', message: expect.stringContaining('RangeError') })
    expect(printed(error)).not.toContain('secret text')
  })

  test('a provider without a token endpoint is a typed error', async () => {
    op.metadata = { token_endpoint: undefined }
    expect(await rejection(exchange(providerOf(op.issuer)))).toMatchObject({
      code: 'DISCOVERY_ERROR',
      message: expect.stringMatching(/token_endpoint is missing/),
    })
  })
})
