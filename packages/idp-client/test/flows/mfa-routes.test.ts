import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { IdpClientOptions } from '../../src/index.ts'
import { customFetch } from '../../src/index.ts'
import type { Browser } from '../support/app.ts'
import type { MfaWorld } from '../support/mfa.ts'
import { BANK, demandOf, startMfaWorld } from '../support/mfa.ts'

const VAULT = 'https://vault.example.test/'

let world: MfaWorld
beforeAll(async () => {
  world = await startMfaWorld({}, { mfaInterval: 0 })
  world.provider.addApi({ audience: VAULT, scopes: ['open'], requiresMfa: ['otp', 'push'] })
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  world.provider.faults.clear()
  world.provider.clearRequests()
  world.events.length = 0
  world.provider.mfa.reset('bob')
})

const authenticators = '/auth/mfa/authenticators'
const challenge = '/auth/mfa/challenge'
const associate = '/auth/mfa/associate'
const verify = '/auth/mfa/verify'

const bearer = (token: string): HeadersInit => ({ authorization: `Bearer ${token}` })

function post(body: unknown, token?: string, headers: Record<string, string> = {}): RequestInit {
  return {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...(token ? bearer(token) : {}), ...headers },
  }
}

async function read(response: Response): Promise<Record<string, unknown>> {
  expect(response.headers.get('cache-control')).toContain('no-store')
  return (await response.json()) as Record<string, unknown>
}

/** The response of the access-token route for an API that requires another factor. */
async function demanded(user = 'alice', audience = BANK) {
  const browser = await world.signedIn(user)
  const response = await browser.send(`/auth/access-token?audience=${encodeURIComponent(audience)}`)
  expect(response.status).toBe(403)
  const { mfa_token: token } = await read(response)
  world.provider.clearRequests()
  return { browser, token: String(token) }
}

const bankToken = async (browser: Browser) =>
  read(await browser.send(`/auth/access-token?audience=${encodeURIComponent(BANK)}`))

/** One request of every route that is right, but for what a test changes. */
const asking = {
  authenticators: (token: string, headers = {}): [string, RequestInit] => [
    authenticators,
    { headers: { ...bearer(token), ...headers } },
  ],
  challenge: (token: string, headers = {}): [string, RequestInit] => [
    challenge,
    post({ mfa_token: token, challenge_type: 'otp' }, undefined, headers),
  ],
  associate: (token: string, headers = {}): [string, RequestInit] => [
    associate,
    post({ authenticator_types: ['otp'] }, token, headers),
  ],
  verify: (token: string, headers = {}): [string, RequestInit] => [
    verify,
    post({ otp: world.otp() }, token, headers),
  ],
}
const routes = Object.entries(asking)

describe('from the 403 to the token', () => {
  test('[S209,S210,S211] an OTP', async () => {
    const { browser, token } = await demanded()
    const listed = await browser.send(...asking.authenticators(token))
    expect(listed.status).toBe(200)
    expect(await read(listed)).toEqual([
      { id: expect.any(String), authenticator_type: 'recovery-code', type: 'recovery-code', active: true },
      {
        id: expect.any(String),
        authenticator_type: 'otp',
        type: 'otp',
        active: true,
        created_at: expect.any(String),
      },
    ])
    const begun = await browser.send(...asking.challenge(token))
    expect(await read(begun)).toEqual({ challenge_type: 'otp' })
    expect(begun.headers.getSetCookie()).toEqual([])
    const done = await browser.send(...asking.verify(token))
    expect(done.status).toBe(200)
    expect(await read(done)).toEqual({ success: true })
    expect(done.headers.getSetCookie().join()).toContain('__session=')
    const { token: access } = await bankToken(browser)
    expect(decodeJwt(String(access))).toMatchObject({ aud: BANK, sub: 'dev|alice' })
    const again = await demanded()
    expect(await read(await again.browser.send(...asking.authenticators(again.token)))).toContainEqual(
      expect.objectContaining({ type: 'otp', last_authenticated_at: expect.stringMatching(/^\d{4}-/) }),
    )
  })

  test('[S210,S211] out of band, with a code and without', async () => {
    world.provider.mfa.enrollOob('bob', 'sms')
    const { browser, token } = await demanded('bob')
    const begun = await browser.send(challenge, post({ mfa_token: token, challenge_type: 'oob' }))
    const { oob_code, ...more } = await read(begun)
    expect(more).toEqual({ challenge_type: 'oob', binding_method: 'prompt' })
    const binding_code = world.provider.mfa.inbox('bob')[0]?.bindingCode
    const done = await browser.send(verify, post({ oob_code, binding_code }, token))
    expect(await read(done)).toEqual({ success: true })

    world.provider.mfa.reset('bob')
    world.provider.mfa.enrollOob('bob', 'push')
    const push = await demanded('bob')
    const pushed = await push.browser.send(challenge, post({ mfa_token: push.token, challenge_type: 'oob' }))
    const body = { oob_code: (await read(pushed))['oob_code'] }
    const waiting = await push.browser.send(verify, post(body, push.token))
    expect(waiting.status).toBe(400)
    expect(await read(waiting)).toMatchObject({ error: 'authorization_pending', code: 'MFA_VERIFY_ERROR' })
    world.provider.mfa.inbox('bob')[0]?.approve()
    expect(await read(await push.browser.send(verify, post(body, push.token)))).toEqual({ success: true })
  })

  test('[S211] the enrolment of an app and of a phone', async () => {
    const app = await demanded('bob')
    const begun = await app.browser.send(associate, post({ authenticator_types: ['otp', 'oob'] }, app.token))
    const body = await read(begun)
    expect(body).toEqual({
      authenticator_type: 'otp',
      id: expect.any(String),
      secret: expect.any(String),
      barcode_uri: expect.stringMatching(/^otpauth:/),
      recovery_codes: [expect.any(String)],
    })
    const otp = world.provider.mfa.totp(String(body['secret']))
    expect(await read(await app.browser.send(verify, post({ otp }, app.token)))).toEqual({ success: true })

    world.provider.mfa.reset('bob')
    const phone = await demanded('bob')
    const fields = { authenticator_types: ['oob'], oob_channels: ['sms'], phone_number: '+15550100111' }
    const enrolled = await read(await phone.browser.send(associate, post(fields, phone.token)))
    expect(enrolled).toMatchObject({
      authenticator_type: 'oob',
      oob_channel: 'sms',
      oob_code: expect.any(String),
      binding_method: 'prompt',
    })
    world.provider.mfa.reset('bob')
    const push = await demanded('bob')
    const device = { authenticator_types: ['oob'], oob_channels: ['push'] }
    expect(await read(await push.browser.send(associate, post(device, push.token)))).toMatchObject({
      oob_channel: 'push',
      barcode_uri: expect.any(String),
    })
  })

  test('a recovery code returns its successor', async () => {
    const { browser, token } = await demanded()
    const recovery_code = world.provider.mfa.recoveryCode('alice')
    const done = await browser.send(verify, post({ recovery_code }, token))
    expect(await read(done)).toEqual({
      success: true,
      recovery_code: world.provider.mfa.recoveryCode('alice'),
    })
  })

  test('one more factor: 403 with a new token', async () => {
    world.provider.mfa.enrollOob('bob', 'push')
    const { secret } = world.provider.mfa.enrollOtp('bob')
    const { browser, token } = await demanded('bob', VAULT)
    const next = await browser.send(verify, post({ otp: world.provider.mfa.totp(secret) }, token))
    expect(next.status).toBe(403)
    const body = await read(next)
    expect(body).toMatchObject({ error: 'mfa_required', code: 'MFA_REQUIRED', mfa_token: expect.any(String) })
    expect(body['mfa_token']).not.toBe(token)
  })
})

describe.each(routes)('%s', (_name, ask) => {
  test('401 for a token that expired or was not issued here', async () => {
    const { browser, token } = await demanded()
    const altered = `${token.slice(0, -4)}${token.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`
    const refused = await browser.send(...ask(altered))
    expect(refused.status).toBe(401)
    expect(await read(refused)).toEqual({
      error: 'mfa_token_invalid',
      error_description: expect.any(String),
      code: 'MFA_TOKEN_INVALID',
    })
    world.pass(300)
    const expired = await browser.send(...ask(token))
    expect(expired.status).toBe(401)
    expect(await read(expired)).toMatchObject({ error: 'mfa_token_expired', code: 'MFA_TOKEN_EXPIRED' })
    expect(world.provider.requests()).toEqual([])
  })

  test('401 for the token of another user, and without a session, which is never created', async () => {
    const { token } = await demanded()
    const bob = await world.signedIn('bob')
    expect((await bob.send(...ask(token))).status).toBe(401)
    const nobody = world.newBrowser()
    const response = await nobody.send(...ask(token))
    expect(response.status).toBe(401)
    expect(await read(response)).toMatchObject({ error: 'missing_session', code: 'MISSING_SESSION' })
    expect(nobody.cookies.size).toBe(0)
  })

  test('a token without a session is for server code, not for a browser', async () => {
    const exchange = world.client.customTokenExchange({
      subjectToken: 'alice',
      subjectTokenType: 'urn:example:legacy-token',
      audience: BANK,
      scope: 'openid transfer:money',
    })
    const { mfa_token: token } = await demandOf(exchange)
    world.provider.clearRequests()
    const browser = await world.signedIn()
    const response = await browser.send(...ask(token))
    expect(response.status).toBe(401)
    expect(await read(response)).toMatchObject({ code: 'MFA_TOKEN_INVALID' })
    expect(world.provider.requests()).toEqual([])
  })

  test('400 without a token', async () => {
    const { browser } = await demanded()
    const response = await browser.send(...ask(''))
    expect(response.status).toBe(400)
    expect(await read(response)).toMatchObject({ error: 'invalid_request', code: 'INVALID_REQUEST' })
  })

  test('403 for a cross-site request, before anything else', async () => {
    const { browser, token } = await demanded()
    const response = await browser.send(...ask(token, { 'sec-fetch-site': 'cross-site' }))
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({ error: { code: 'CROSS_SITE_REQUEST' } })
    expect(world.provider.requests()).toEqual([])
    const own = await browser.send(...ask(token, { 'sec-fetch-site': 'same-origin' }))
    expect(own.status).not.toBe(403)
  })

  test.each([
    [{ kind: 'respond', status: 503 }, 503],
    [{ kind: 'respond', status: 500 }, 502],
    [{ kind: 'reset' }, 502],
    [{ kind: 'empty' }, 502],
  ] as const)('a provider that responds with %j: %s, and the session stays', async (fault, status) => {
    const { browser, token } = await demanded()
    for (const endpoint of ['token', 'mfa-authenticators', 'mfa-challenge', 'mfa-associate'] as const) {
      world.provider.faults.set(endpoint, fault)
    }
    const response = await browser.send(...ask(token))
    expect(response.status).toBe(status)
    expect(await read(response)).toMatchObject({ code: expect.stringMatching(/^MFA_\w+_ERROR$/) })
    expect((await browser.send('/auth/profile')).status).toBe(200)
  })
})

describe('invalid requests of a browser', () => {
  const wrong: readonly (readonly [string, string, unknown])[] = [
    ['no type', challenge, {}],
    ['another type', challenge, { challenge_type: 'sms' }],
    ['a type that is no text', challenge, { challenge_type: ['otp'] }],
    ['an id that is blank', challenge, { challenge_type: 'otp', authenticator_id: ' ' }],
    ['nothing to enrol', associate, {}],
    ['no list', associate, { authenticator_types: 'otp' }],
    ['no channel', associate, { authenticator_types: ['oob'] }],
    ['an unknown channel', associate, { authenticator_types: ['oob'], oob_channels: ['fax'] }],
    ['no number', associate, { authenticator_types: ['oob'], oob_channels: ['sms'] }],
    ['no proof', verify, {}],
    ['two proofs', verify, { otp: '1', recovery_code: '2' }],
    ['a binding code alone', verify, { binding_code: '1' }],
    ['a proof that is a number', verify, { otp: 123456 }],
  ]

  test.each(wrong)('%s at %s: 400, without a request to the provider', async (_title, path, fields) => {
    const { browser, token } = await demanded()
    const body = { mfa_token: token, ...(fields as object) }
    const response = await browser.send(path, post(body, token))
    expect(response.status).toBe(400)
    expect(await read(response)).toEqual({
      error: 'invalid_request',
      error_description: expect.stringContaining('Option: '),
      code: 'INVALID_REQUEST',
    })
    expect(world.provider.requests()).toEqual([])
  })

  test.each([challenge, associate, verify])('%s accepts JSON objects only', async (path) => {
    const { browser, token } = await demanded()
    const bodies: [string, string | undefined][] = [
      ['otp=1', 'application/x-www-form-urlencoded'],
      ['{"otp":"1"}', 'text/plain'],
      ['{"otp":"1"}', undefined],
      ['{"otp":', 'application/json'],
      ['', 'application/json'],
      ['[]', 'application/json'],
      ['null', 'application/json; charset=utf-8'],
      [`{"otp":"${'1'.repeat(300_000)}"}`, 'application/json'],
    ]
    for (const [body, type] of bodies) {
      const headers = { ...bearer(token), ...(type === undefined ? {} : { 'content-type': type }) }
      const response = await browser.send(path, {
        method: 'POST',
        body: new TextEncoder().encode(body),
        headers,
      })
      expect([response.status, (await read(response))['code']]).toEqual([400, 'INVALID_REQUEST'])
    }
    expect(world.provider.requests()).toEqual([])
  })

  test('a wrong code: the error of the provider, and the token can be used again', async () => {
    const { browser, token } = await demanded()
    const response = await browser.send(verify, post({ otp: '000' }, token))
    expect(response.status).toBe(400)
    expect(await read(response)).toEqual({
      error: 'invalid_grant',
      error_description: 'The factor could not be verified.',
      code: 'MFA_VERIFY_ERROR',
    })
    expect((await browser.send(...asking.verify(token))).status).toBe(200)
  })

  test.each([
    [503, 'invalid_grant', 'mfa_verify_error'],
    [503, 'temporarily_unavailable', 'temporarily_unavailable'],
    [429, 'slow_down', 'slow_down'],
  ])('a failure of the provider is not a wrong code: %i, %s', async (status, error, passed) => {
    const { browser, token } = await demanded()
    const headers = { 'content-type': 'application/json' }
    world.provider.faults.set('token', { kind: 'respond', status, body: JSON.stringify({ error }), headers })
    const response = await browser.send(verify, post({ otp: '123' }, token))
    expect([response.status, (await read(response))['error']]).toEqual([503, passed])
  })

  test('a type of factor that is not accepted: 400', async () => {
    const { browser, token } = await demanded()
    const response = await browser.send(challenge, post({ mfa_token: token, challenge_type: 'oob' }))
    expect(response.status).toBe(400)
    expect(await read(response)).toMatchObject({ code: 'MFA_NO_AVAILABLE_FACTORS' })
    expect(world.provider.requests()).toEqual([])
  })

  test('metadata that cannot be loaded: 502, and an invalid configuration: 500', async () => {
    const { browser, token } = await demanded()
    const ask = async (options: IdpClientOptions) => {
      const { browser: other } = world.another(options)
      for (const [name, cookie] of browser.cookies) other.cookies.set(name, cookie)
      const response = await other.send(...asking.challenge(token))
      return [response.status, await read(response)]
    }
    world.provider.faults.set('discovery', { kind: 'respond', status: 500 })
    expect(await ask({ [customFetch]: (input, init) => fetch(input, init) })).toEqual([
      502,
      expect.objectContaining({ error: 'mfa_challenge_error', code: 'MFA_CHALLENGE_ERROR' }),
    ])
    expect(await ask({ clientSecret: undefined })).toEqual([
      500,
      {
        error: 'server_error',
        error_description: expect.not.stringContaining('clientSecret'),
        code: 'INVALID_CONFIGURATION',
      },
    ])
  })
})

describe('the log', () => {
  const failures = () => world.events.filter(({ code }) => code === 'REQUEST_FAILED')

  test('a required factor and a missing session are not logged as failures', async () => {
    await demanded()
    expect(world.events).toContainEqual(expect.objectContaining({ code: 'PROVIDER_FAILURE', level: 'info' }))
    expect(await world.newBrowser().send('/auth/access-token')).toHaveProperty('status', 401)
    expect(failures()).toMatchObject([
      { level: 'info', error: 'MFA_REQUIRED' },
      { level: 'info', error: 'MISSING_SESSION' },
    ])
  })

  test('an invalid request is a warning, a provider that fails an error', async () => {
    const { browser, token } = await demanded()
    world.events.length = 0
    await browser.send(verify, post({ mfa_token: token }))
    world.provider.faults.set('mfa-authenticators', { kind: 'respond', status: 500 })
    await browser.send(authenticators, { headers: bearer(token) })
    expect(failures()).toMatchObject([
      { level: 'warn', error: 'INVALID_REQUEST' },
      { level: 'error', error: 'MFA_GET_AUTHENTICATORS_ERROR' },
    ])
  })
})
