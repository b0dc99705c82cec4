import { decodeJwt, importPKCS8, SignJWT } from 'jose'
import * as client from 'openid-client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { DevProvider } from '../src/index.ts'
import { startDevProvider } from '../src/index.ts'
import type { Demand, MfaParty } from './mfa-party.ts'
import { BANK, mfaParty, OOB, OTP, RECOVERY } from './mfa-party.ts'
import type { RelyingParty } from './relying-party.ts'
import { oauthError, relyingParty } from './relying-party.ts'

let provider: DevProvider
let app: RelyingParty
let mfa: MfaParty
beforeAll(async () => {
  provider = await startDevProvider()
  app = await relyingParty(provider)
  mfa = mfaParty(provider, app)
})
beforeEach(() => provider.mfa.reset('alice'))
afterAll(() => provider.stop())

const demand = async (): Promise<Demand> => mfa.demand(await app.logIn())

/** A user with the factor, and what an API demands of her. */
async function demandWith(enroll: (user: string) => unknown): Promise<Demand> {
  enroll('alice')
  return demand()
}

async function later(seconds: number, work: () => Promise<void>): Promise<void> {
  provider.clock.advance(seconds)
  try {
    await work()
  } finally {
    provider.clock.reset()
  }
}

describe('GET /mfa/authenticators', () => {
  test('lists factors, with masked addresses, and the recovery code', async () => {
    const { id } = provider.mfa.enrollOtp('alice')
    provider.mfa.enrollOob('alice', 'sms', '+15550123456')
    provider.mfa.enrollOob('alice', 'email', 'alice@example.test')
    provider.mfa.enrollOob('alice', 'push')
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)
    const shared = { active: true, created_at: time }
    expect(await mfa.authenticators(await demand())).toEqual([
      {
        id: expect.stringMatching(/^recovery-code\|dev_\w{16}$/),
        authenticator_type: 'recovery-code',
        type: 'recovery-code',
        active: true,
      },
      { ...shared, id, authenticator_type: 'otp', type: 'otp' },
      {
        ...shared,
        id: expect.stringMatching(/^sms\|dev_\w{16}$/),
        authenticator_type: 'oob',
        type: 'phone',
        oob_channel: 'sms',
        name: 'XXXXXXXX3456',
        phone_number: 'XXXXXXXX3456',
      },
      {
        ...shared,
        id: expect.stringMatching(/^email\|/),
        authenticator_type: 'oob',
        type: 'email',
        oob_channel: 'email',
        name: 'al***@e***',
      },
      {
        ...shared,
        id: expect.stringMatching(/^push\|/),
        authenticator_type: 'oob',
        type: 'push-notification',
        oob_channel: 'auth0',
      },
    ])
    expect(provider.requests('mfa-authenticators').at(-1)).toMatchObject({ method: 'GET', status: 200 })
  })

  test('contains when a factor was used last', async () => {
    const { secret } = provider.mfa.enrollOtp('alice')
    await mfa.verify(OTP, await demand(), { otp: provider.mfa.totp(secret) })
    const [, factor] = await mfa.authenticators(await mfa.demand(await app.logIn()))
    expect(factor?.['last_auth']).toEqual(expect.any(String))
  })

  test('rejects missing, unknown and expired tokens, and other methods', async () => {
    const url = `${provider.issuer}/mfa/authenticators`
    const { mfa_token: token } = await demand()
    const get = async (authorization?: string, method = 'GET'): Promise<[number, unknown]> => {
      const response = await fetch(url, { method, ...(authorization ? { headers: { authorization } } : {}) })
      expect(response.headers.get('content-type')).toContain('json')
      const { error } = await response.json().then(Object)
      return [response.status, error]
    }
    expect(await get()).toEqual([401, 'invalid_token'])
    expect(await get('Bearer forged')).toEqual([401, 'invalid_token'])
    expect(await get(`Bearer ${token}`, 'POST')).toEqual([405, 'invalid_request'])
    await later(601, async () => {
      expect(await get(`Bearer ${token}`)).toEqual([401, 'expired_token'])
    })
  })
})

describe('POST /mfa/challenge', () => {
  const credentials = (): object => ({ client_id: provider.clientId, client_secret: provider.clientSecret })

  test('responds for an app, and for a message with or without a code', async () => {
    const one = await demandWith((user) => provider.mfa.enrollOtp(user))
    expect(await mfa.challenge(one)).toEqual({ challenge_type: 'otp' })
    const two = await demandWith((user) => provider.mfa.enrollOob(user, 'voice'))
    expect(await mfa.challenge(two, { challenge_type: 'oob' })).toEqual({
      challenge_type: 'oob',
      oob_code: expect.any(String),
      binding_method: 'prompt',
    })
    const three = await demandWith((user) => provider.mfa.enrollOob(user, 'push'))
    expect(await mfa.challenge(three)).toEqual({ challenge_type: 'oob', oob_code: expect.any(String) })
    expect(await mfa.challenge(three, { challenge_type: 'otp oob' })).toHaveProperty('oob_code')
    expect(provider.requests('mfa-challenge').at(-1)?.json).toMatchObject({ challenge_type: 'otp oob' })
  })

  test('uses the given factor', async () => {
    const { id } = provider.mfa.enrollOob('alice', 'sms')
    const token = await demandWith((user) => provider.mfa.enrollOob(user, 'push'))
    await mfa.challenge(token, { challenge_type: 'oob', authenticator_id: id })
    expect(provider.mfa.inbox('alice')).toMatchObject([{ channel: 'sms', bindingCode: expect.any(String) }])
  })

  test('authenticates the client like the token endpoint', async () => {
    const token = await demandWith((user) => provider.mfa.enrollOtp(user))
    const id = { client_id: provider.clientId }
    for (const fields of [id, { ...id, client_secret: 'wrong' }]) {
      expect(await mfa.call('challenge', token, fields)).toMatchObject({
        status: 401,
        body: { error: 'invalid_client' },
      })
    }
    expect(await mfa.call('challenge', token, {})).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    })
    const basic = Buffer.from(`${provider.clientId}:${provider.clientSecret}`).toString('base64')
    const response = await fetch(`${provider.issuer}/mfa/challenge`, {
      method: 'POST',
      headers: { authorization: `Basic ${basic}` },
      body: new URLSearchParams({ mfa_token: token.mfa_token }),
    })
    expect(await response.json()).toEqual({ challenge_type: 'otp' })
  })

  test('accepts an assertion of a client with a key, once', async () => {
    provider.mfa.enrollOtp('alice')
    const { clientId, privateKey, privateKeyAlg = '' } = provider.keyClient
    const key = await importPKCS8(privateKey, privateKeyAlg)
    const byKey = await relyingParty(provider, { clientId, auth: client.PrivateKeyJwt(key) })
    const token = await mfaParty(provider, byKey).demand(await byKey.logIn())
    const assertion = await new SignJWT({ jti: 'once' })
      .setProtectedHeader({ alg: privateKeyAlg })
      .setIssuer(clientId)
      .setSubject(clientId)
      .setAudience(provider.issuer)
      .setIssuedAt()
      .setExpirationTime('1 minute')
      .sign(key)
    const fields = {
      client_id: clientId,
      client_assertion: assertion,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    }
    expect(await mfa.call('challenge', token, fields)).toMatchObject({ status: 200 })
    expect(await mfa.call('challenge', token, fields)).toMatchObject({ status: 401 })
  })

  test('rejects foreign tokens, unknown types and authenticators, and users without a factor', async () => {
    const bare = await demand()
    const send = (token: Demand, fields: object): Promise<unknown> =>
      mfa.call('challenge', token, { ...credentials(), ...fields })
    const refused = (status: number, error: string): object => ({ status, body: { error } })
    expect(await send(bare, {})).toMatchObject(refused(403, 'association_required'))
    const token = await demandWith((user) => provider.mfa.enrollOtp(user))
    const unsupported = refused(400, 'unsupported_challenge_type')
    expect(await send(token, { challenge_type: 'oob' })).toMatchObject(unsupported)
    expect(await send(token, { challenge_type: 'carrier-pigeon' })).toMatchObject(unsupported)
    expect(await send(token, { authenticator_id: 'sms|dev_x' })).toMatchObject(
      refused(400, 'invalid_request'),
    )
    expect(await send(token, { mfa_token: 'forged' })).toMatchObject(refused(401, 'invalid_token'))
    const other = await provider.addClient({ tokenEndpointAuthMethod: 'none' })
    const foreign = await mfa.call('challenge', token, { client_id: other.clientId })
    expect(foreign).toMatchObject(refused(400, 'invalid_request'))
  })

  test('rejects a body that is not a JSON object', async () => {
    for (const body of ['', '{', '[]', 'null']) {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(`${provider.issuer}/mfa/challenge`, { method: 'POST', headers, body })
      expect(response.status).toBe(400)
    }
  })
})

describe('POST /mfa/associate', () => {
  test('enrolls an app, which its first code activates', async () => {
    const token = await demand()
    const { status, body } = await mfa.call('associate', token, { authenticator_types: ['otp'] })
    expect(status).toBe(200)
    expect(body).toEqual({
      id: expect.stringMatching(/^totp\|dev_/),
      authenticator_type: 'otp',
      secret: expect.stringMatching(/^[A-Z2-7]{32}$/),
      barcode_uri: expect.stringMatching(/^otpauth:\/\/totp\/.*alice\?/),
      recovery_codes: [expect.stringMatching(/^[A-Z2-9]{24}$/)],
    })
    const secret = String(body['secret'])
    expect(new URL(String(body['barcode_uri'])).searchParams.get('secret')).toBe(secret)
    expect((await mfa.authenticators(token)).at(-1)).toMatchObject({ active: false })
    const tokens = await mfa.verify(OTP, token, { otp: provider.mfa.totp(secret) })
    expect(decodeJwt(tokens.access_token)['aud']).toBe(BANK)
    expect(provider.mfa.authenticators('alice')).toMatchObject([{ active: true, secret }])
    const next = await mfa.demand(await app.logIn())
    expect(next.mfa_requirements.challenge).toContainEqual({ type: 'otp' })
  })

  test.each([
    ['sms', { phone_number: '+15550123456' }, 'sms'],
    ['voice', { phone_number: '+15550123456' }, 'tel'],
    ['email', { email: 'other@example.test' }, 'otp'],
    ['email', {}, 'otp'],
  ])('enrolls %s with a code in the message', async (channel, fields, method) => {
    const token = await demand()
    const { body } = await mfa.call('associate', token, {
      authenticator_types: ['oob'],
      oob_channels: [channel],
      ...fields,
    })
    expect(body).toEqual({
      id: expect.any(String),
      authenticator_type: 'oob',
      oob_channel: channel,
      oob_code: expect.any(String),
      binding_method: 'prompt',
      recovery_codes: [expect.any(String)],
    })
    const [message] = provider.mfa.inbox('alice')
    expect(message).toMatchObject({ channel, id: body['oob_code'] })
    const tokens = await mfa.verifyOob(token, String(body['oob_code']), message?.bindingCode)
    expect(tokens.claims()?.['amr']).toEqual([...new Set(['pwd', method, 'mfa'])])
    expect(provider.mfa.inbox('alice')).toEqual([])
    expect(provider.mfa.authenticators('alice')).toMatchObject([{ active: true, kind: channel }])
  })

  test('enrolls push, which waits for an approval', async () => {
    const token = await demand()
    const { body } = await mfa.call('associate', token, {
      authenticator_types: ['oob'],
      oob_channels: ['auth0'],
    })
    expect(body).toEqual({
      id: expect.any(String),
      authenticator_type: 'oob',
      oob_channel: 'auth0',
      oob_code: expect.any(String),
      barcode_uri: expect.stringMatching(/^otpauth:/),
      recovery_codes: [expect.any(String)],
    })
    const code = String(body['oob_code'])
    expect(await oauthError(mfa.verifyOob(token, code))).toBe('authorization_pending')
    provider.mfa.inbox('alice')[0]?.approve()
    await mfa.verifyOob(token, code)
  })

  test('with the same token replaces unverified factors; recovery codes are returned once', async () => {
    const token = await demand()
    const send = (): Promise<{ body: Record<string, unknown> }> =>
      mfa.call('associate', token, { authenticator_types: ['otp'] })
    const [first, second] = [await send(), await send()]
    expect(second.body).not.toHaveProperty('recovery_codes')
    expect(provider.mfa.authenticators('alice').map(({ id }) => id)).toEqual([second.body['id']])
    const old = provider.mfa.totp(String(first.body['secret']))
    const current = provider.mfa.totp(String(second.body['secret']))
    if (old !== current) expect(await oauthError(mfa.verify(OTP, token, { otp: old }))).toBe('invalid_grant')
    await mfa.verify(OTP, token, { otp: current })
  })

  test('enrolls nothing that another token can use', async () => {
    const [mine, other] = [await demand(), await demand()]
    const { body } = await mfa.call('associate', mine, { authenticator_types: ['otp'] })
    const otp = provider.mfa.totp(String(body['secret']))
    expect(await oauthError(mfa.verify(OTP, other, { otp }))).toBe('invalid_grant')
  })

  test('rejects users with a factor, wrong tokens and credentials, and unknown types', async () => {
    const app1 = { authenticator_types: ['otp'] }
    const token = await demand()
    const refused = async (fields: object, status: number, error: string): Promise<void> => {
      expect(await mfa.call('associate', token, fields)).toMatchObject({ status, body: { error } })
    }
    await refused({ ...app1, client_id: provider.clientId, client_secret: 'wrong' }, 401, 'invalid_client')
    await refused({}, 400, 'invalid_request')
    await refused({ authenticator_types: 'otp' }, 400, 'invalid_request')
    await refused({ authenticator_types: ['palm'] }, 400, 'unsupported_challenge_type')
    const oob = { authenticator_types: ['oob'] }
    await refused(oob, 400, 'invalid_request')
    await refused({ ...oob, oob_channels: ['push'] }, 400, 'unsupported_challenge_type')
    await refused({ ...oob, oob_channels: ['sms'] }, 400, 'invalid_request')
    await refused({ ...oob, oob_channels: ['sms'], phone_number: '0123' }, 400, 'invalid_request')
    await refused({ ...oob, oob_channels: ['email'], email: 'nowhere' }, 400, 'invalid_request')
    const forged = await mfa.call('associate', { ...token, mfa_token: 'forged' }, app1)
    expect(forged).toMatchObject({ status: 401, body: { error: 'invalid_token' } })
    expect(forged.headers.get('www-authenticate')).toMatch(/^Bearer/)
    expect(provider.mfa.authenticators('alice')).toEqual([])
    const enrolled = await demandWith((user) => provider.mfa.enrollOtp(user))
    const second = await mfa.call('associate', enrolled, app1)
    expect(second).toMatchObject({ status: 403, body: { error: 'access_denied' } })
  })
})

describe('the mfa-oob grant', () => {
  test('requires the code of the message, and changes nothing after a wrong one', async () => {
    const token = await demandWith((user) => provider.mfa.enrollOob(user, 'sms'))
    const { oob_code: code = '' } = await mfa.challenge(token)
    const right = provider.mfa.inbox('alice')[0]?.bindingCode ?? ''
    expect(right).toMatch(/^\d{6}$/)
    expect(await oauthError(mfa.verifyOob(token, code))).toBe('invalid_request')
    const wrong = right === '000000' ? '000001' : '000000'
    expect(await oauthError(mfa.verifyOob(token, code, wrong))).toBe('invalid_grant')
    await mfa.verifyOob(token, code, right)
  })

  test('responds authorization_pending and slow_down', async () => {
    const token = await demandWith((user) => provider.mfa.enrollOob(user, 'push'))
    const { oob_code: code = '' } = await mfa.challenge(token)
    provider.settings.mfaInterval = 5
    try {
      expect(await oauthError(mfa.verifyOob(token, code))).toBe('authorization_pending')
      expect(await oauthError(mfa.verifyOob(token, code))).toBe('slow_down')
      await later(6, async () => {
        expect(await oauthError(mfa.verifyOob(token, code))).toBe('authorization_pending')
      })
    } finally {
      provider.settings.mfaInterval = 1
    }
    provider.mfa.inbox('alice')[0]?.approve()
    await mfa.verifyOob(token, code)
  })

  test('ends if the user denies, if nothing is decided in time, and with codes of another token', async () => {
    const token = await demandWith((user) => provider.mfa.enrollOob(user, 'push'))
    const { oob_code: refused = '' } = await mfa.challenge(token)
    provider.mfa.inbox('alice')[0]?.deny()
    expect(await oauthError(mfa.verifyOob(token, refused))).toBe('invalid_grant')
    const { oob_code: ignored = '' } = await mfa.challenge(token)
    await later(301, async () => {
      expect(provider.mfa.inbox('alice')).toEqual([])
      expect(await oauthError(mfa.verifyOob(token, ignored))).toBe('expired_token')
    })
    expect(await oauthError(mfa.verifyOob(await demand(), ignored))).toBe('invalid_request')
    expect(await oauthError(mfa.verifyOob(token, 'unknown'))).toBe('invalid_grant')
    expect(await oauthError(mfa.verify(OOB, token, {}))).toBe('invalid_request')
  })

  test('a message with a code cannot be approved instead', async () => {
    await mfa.challenge(await demandWith((user) => provider.mfa.enrollOob(user, 'email')))
    const [message] = provider.mfa.inbox('alice')
    expect(() => message?.approve()).toThrow(/bindingCode/)
  })
})

describe('the mfa-recovery-code grant', () => {
  test('accepts a code once, and returns the next code', async () => {
    const token = await demandWith((user) => provider.mfa.enrollOtp(user))
    const code = provider.mfa.recoveryCode('alice')
    expect(await oauthError(mfa.verify(RECOVERY, token, { recovery_code: 'WRONG' }))).toBe('invalid_grant')
    expect(await oauthError(mfa.verify(RECOVERY, token, {}))).toBe('invalid_request')
    const tokens = await mfa.verify(RECOVERY, token, { recovery_code: code.replace(/.{4}/g, '$&-') })
    expect(tokens['recovery_code']).toBe(provider.mfa.recoveryCode('alice'))
    expect(tokens['recovery_code']).not.toBe(code)
    expect(tokens.claims()?.sub).toBe('dev|alice')
    const again = mfa.verify(RECOVERY, await demand(), { recovery_code: code })
    expect(await oauthError(again)).toBe('invalid_grant')
  })

  test('requires another factor', async () => {
    const token = await demand()
    const { body } = await mfa.call('associate', token, { authenticator_types: ['otp'] })
    const [code] = Array.isArray(body['recovery_codes']) ? body['recovery_codes'].map(String) : []
    const early = mfa.verify(RECOVERY, token, { recovery_code: code ?? '' })
    expect(await oauthError(early)).toBe('invalid_grant')
  })
})

test('faults and rewrites apply to the MFA API', async () => {
  const token = await demandWith((user) => provider.mfa.enrollOtp(user))
  provider.faults.set('mfa-challenge', { kind: 'respond', status: 503 }, { times: 1 })
  const headers = { 'content-type': 'application/json' }
  const { status } = await fetch(`${provider.issuer}/mfa/challenge`, { method: 'POST', headers, body: '{}' })
  expect(status).toBe(503)
  provider.rewrite('mfa-associate', (json) => ({ ...json, error: 'server_error' }), { times: 1 })
  const { body } = await mfa.call('associate', token, { authenticator_types: ['otp'] })
  expect(body['error']).toBe('server_error')
})

test('factors belong to a user, and with an issuer path the API is also at the origin', async () => {
  const own = await startDevProvider({
    path: '/tenant-a',
    users: [{ name: 'carla', mfa: { otp: 'GEZDGNBVGY3TQOJQ', sms: '+15550123456', push: true } }],
  })
  try {
    await own.addUser({ name: 'dora', mfa: { voice: '+15550123456', email: 'dora@example.test' } })
    const kinds = (user: string): unknown => own.mfa.authenticators(user).map(({ kind }) => kind)
    expect(kinds('carla')).toEqual(['otp', 'sms', 'push'])
    expect(kinds('dora')).toEqual(['voice', 'email'])
    await expect(own.addUser({ name: 'eve', mfa: { otp: 'not base32' } })).rejects.toThrow(/base32/)
    expect(() => own.mfa.enrollOtp('nobody')).toThrow(/no user/)
    for (const base of [own.origin, own.issuer]) {
      expect((await fetch(`${base}/mfa/authenticators`)).status).toBe(401)
    }
    expect(own.count('mfa-authenticators')).toBe(2)
  } finally {
    await own.stop()
  }
})
