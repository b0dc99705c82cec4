import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { MfaEnrollOptions, MfaVerifyOptions } from '../../src/index.ts'
import type { Browser } from '../support/app.ts'
import type { MfaWorld } from '../support/mfa.ts'
import { BANK, demandOf, keeping, startMfaWorld, TTL } from '../support/mfa.ts'
import { rejectionOf } from '../support/provider-engine.ts'

/** Demands an app's code, then an approval on the phone. */
const VAULT = 'https://vault.example.test/'

let world: MfaWorld
beforeAll(async () => {
  world = await startMfaWorld({}, { cibaAutoApprove: true, mfaInterval: 0 })
  world.provider.addApi({ audience: VAULT, scopes: ['open'], requiresMfa: ['otp', 'push'] })
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  world.provider.faults.clear()
  world.provider.clearRequests()
  world.events.length = 0
  world.provider.mfa.reset('bob')
})

type Factor = MfaVerifyOptions extends infer Options
  ? Options extends { mfaToken: string }
    ? Omit<Options, 'mfaToken'>
    : never
  : never

/** Verifies in a request of the browser, which keeps what that brings. */
const verify = (browser: Browser, mfaToken: string, factor: Factor) =>
  keeping(browser, (request, headers) =>
    world.client.mfa.verify(request, headers, { mfaToken, ...factor } as MfaVerifyOptions),
  )

const bankToken = (browser: Browser) =>
  world.client.getAccessToken(browser.request('/'), new Headers(), { audience: BANK })

async function demanded(user = 'alice') {
  const browser = await world.signedIn(user)
  const { mfa_token: mfaToken } = await world.demand(browser)
  world.provider.clearRequests()
  return { browser, mfaToken }
}

describe('getAuthenticators', () => {
  test('[S208,S209] returns the factors, in camel case, of the accepted types', async () => {
    world.provider.mfa.enrollOtp('bob')
    world.provider.mfa.enrollOob('bob', 'sms')
    world.provider.mfa.enrollOob('bob', 'push')
    const { browser, mfaToken } = await demanded('bob')
    const factors = await world.client.mfa.getAuthenticators(browser.request('/'), { mfaToken })
    expect(factors).toEqual([
      { id: expect.any(String), authenticatorType: 'recovery-code', type: 'recovery-code', active: true },
      expect.objectContaining({ authenticatorType: 'otp', type: 'otp', active: true }),
      expect.objectContaining({
        authenticatorType: 'oob',
        type: 'phone',
        oobChannel: 'sms',
        phoneNumber: expect.stringMatching(/^X+\d{4}$/),
        createdAt: expect.stringMatching(/^\d{4}-/),
      }),
      expect.objectContaining({ authenticatorType: 'oob', type: 'push-notification', oobChannel: 'push' }),
    ])
    const [request] = world.provider.requests('mfa-authenticators')
    expect(request?.headers['authorization']).toMatch(/^Bearer [\w-]+$/)
    expect(request?.headers['authorization']).not.toContain(mfaToken)
  })

  test('[S209] omits a type that is not accepted', async () => {
    world.provider.mfa.enrollOtp('bob')
    world.provider.mfa.enrollOob('bob', 'sms')
    const browser = await world.signedIn('bob')
    world.provider.rewrite(
      'token',
      (body) => {
        body['mfa_requirements'] = { challenge: [{ type: 'phone' }] }
      },
      { times: 1 },
    )
    const { mfa_token: mfaToken } = await world.demand(browser)
    const factors = await world.client.mfa.getAuthenticators(browser.request('/'), { mfaToken })
    expect(factors.map(({ oobChannel }) => oobChannel)).toEqual(['sms'])
  })

  test.each([
    [
      { kind: 'respond', status: 500 },
      { code: 'RESPONSE_INVALID', providerStatus: 500, transient: true },
    ],
    [{ kind: 'reset' }, { code: 'REQUEST_FAILED' }],
    [{ kind: 'truncate' }, { code: 'RESPONSE_INVALID' }],
    [{ kind: 'null' }, { code: 'RESPONSE_INVALID', message: expect.stringContaining('not a list') }],
    [
      { kind: 'respond', status: 200, body: '[{"id":"a"}]' },
      { code: 'RESPONSE_INVALID', message: expect.stringContaining('no authenticator_type') },
    ],
    [{ kind: 'huge', bytes: 2_000_000 }, { code: 'RESPONSE_INVALID' }],
    [{ kind: 'redirect' }, { code: 'RESPONSE_INVALID' }],
  ] as const)('%j: a typed error with its cause, reported', async (fault, cause) => {
    const { browser, mfaToken } = await demanded()
    world.events.length = 0
    world.provider.faults.set('mfa-authenticators', fault)
    const error = await rejectionOf(world.client.mfa.getAuthenticators(browser.request('/'), { mfaToken }))
    expect(error).toMatchObject({ name: 'MfaError', code: 'MFA_GET_AUTHENTICATORS_ERROR', cause })
    expect(world.events).toContainEqual(
      expect.objectContaining({ code: 'PROVIDER_FAILURE', endpoint: 'mfa_authenticators', level: 'error' }),
    )
  })
})

describe('challenge', () => {
  test('[S210] an OTP needs no challenge, but may have one', async () => {
    const { browser, mfaToken } = await demanded()
    const options = { mfaToken, challengeType: 'otp' } as const
    expect(await world.client.mfa.challenge(browser.request('/'), options)).toEqual({ challengeType: 'otp' })
    const [request] = world.provider.requests('mfa-challenge')
    expect(request?.json).toEqual({
      client_id: world.provider.clientId,
      client_secret: world.provider.clientSecret,
      mfa_token: expect.any(String),
      challenge_type: 'otp',
    })
    expect(request?.headers).not.toHaveProperty('authorization')
  })

  test('[S210] out of band with a code: sent to the selected factor, verified with it', async () => {
    world.provider.mfa.enrollOob('bob', 'push')
    const { id } = world.provider.mfa.enrollOob('bob', 'sms')
    const { browser, mfaToken } = await demanded('bob')
    const options = { mfaToken, challengeType: 'oob', authenticatorId: id } as const
    const challenge = await world.client.mfa.challenge(browser.request('/'), options)
    expect(challenge).toEqual({ challengeType: 'oob', oobCode: expect.any(String), bindingMethod: 'prompt' })
    const [message] = world.provider.mfa.inbox('bob')
    const { oobCode = '' } = challenge
    await expect(verify(browser, mfaToken, { oobCode, bindingCode: '000' })).rejects.toMatchObject({
      code: 'MFA_VERIFY_ERROR',
      cause: { error: 'invalid_grant' },
    })
    const { bindingCode } = message ?? {}
    expect(await verify(browser, mfaToken, { oobCode, bindingCode })).toEqual({ success: true })
    expect(decodeJwt((await bankToken(browser)).token)).toMatchObject({ aud: BANK, sub: 'dev|bob' })
  })

  test('[S210] out of band without a code: pending until the user approves; rejected if they deny', async () => {
    world.provider.mfa.enrollOob('bob', 'push')
    const { browser, mfaToken } = await demanded('bob')
    const begin = async () => {
      const options = { mfaToken, challengeType: 'oob' } as const
      const { oobCode = '', ...more } = await world.client.mfa.challenge(browser.request('/'), options)
      expect(more).toEqual({ challengeType: 'oob' })
      const message = world.provider.mfa.inbox('bob').find(({ id }) => id === oobCode)
      return { oobCode, message }
    }
    const refused = await begin()
    refused.message?.deny()
    await expect(verify(browser, mfaToken, { oobCode: refused.oobCode })).rejects.toMatchObject({
      cause: { error: 'invalid_grant' },
    })
    const approved = await begin()
    world.events.length = 0
    await expect(verify(browser, mfaToken, { oobCode: approved.oobCode })).rejects.toMatchObject({
      code: 'MFA_VERIFY_ERROR',
      cause: { error: 'authorization_pending' },
    })
    // Part of the protocol, and nothing to report.
    expect(world.events).toEqual([])
    approved.message?.approve()
    expect(await verify(browser, mfaToken, { oobCode: approved.oobCode })).toEqual({ success: true })
  })

  test('a type without a factor causes no request', async () => {
    const { browser, mfaToken } = await demanded()
    const options = { mfaToken, challengeType: 'oob' } as const
    await expect(world.client.mfa.challenge(browser.request('/'), options)).rejects.toMatchObject({
      name: 'MfaError',
      code: 'MFA_NO_AVAILABLE_FACTORS',
    })
    expect(world.provider.requests()).toEqual([])
  })

  test('the error of the provider is the cause', async () => {
    const { browser, mfaToken } = await demanded()
    const options = { mfaToken, challengeType: 'otp', authenticatorId: 'none' } as const
    await expect(world.client.mfa.challenge(browser.request('/'), options)).rejects.toMatchObject({
      code: 'MFA_CHALLENGE_ERROR',
      cause: { name: 'OAuthError', error: 'invalid_request', providerStatus: 400 },
    })
  })
})

describe('enroll', () => {
  const enroll = async (options: MfaEnrollOptions extends infer O ? Omit<O & object, 'mfaToken'> : never) => {
    const { browser, mfaToken } = await demanded('bob')
    const given = { mfaToken, ...options } as MfaEnrollOptions
    const enrollment = await world.client.mfa.enroll(browser.request('/'), new Headers(), given)
    return { browser, enrollment, mfaToken }
  }

  test.each([{ authenticatorTypes: ['otp'] }, { factorType: 'otp' }])(
    '[S211] %j: shown, verified, and required from then on',
    async (options) => {
      const { browser, enrollment, mfaToken } = await enroll(options)
      expect(enrollment).toEqual({
        authenticatorType: 'otp',
        id: expect.any(String),
        secret: expect.stringMatching(/^[A-Z2-7]{16,}$/),
        barcodeUri: expect.stringMatching(/^otpauth:\/\/totp\//),
        recoveryCodes: [expect.any(String)],
      })
      if (enrollment.authenticatorType !== 'otp') throw new Error('another factor')
      const otp = world.provider.mfa.totp(enrollment.secret)
      expect(await verify(browser, mfaToken, { otp })).toEqual({ success: true })
      expect(decodeJwt((await bankToken(browser)).token).sub).toBe('dev|bob')
      const { mfa_requirements } = await world.demand(await world.signedIn('bob'))
      expect(mfa_requirements?.challenge).toContainEqual({ type: 'otp' })
    },
  )

  test('a response is about the channel that it names, otherwise about the requested one', async () => {
    const undo = world.provider.rewrite(
      'mfa-associate',
      ({ oob_channel: _none, recovery_codes: _codes, ...body }) => body,
    )
    const { enrollment } = await enroll({ factorType: 'sms', phoneNumber: '+15550100111' })
    undo()
    expect(enrollment).toMatchObject({ authenticatorType: 'oob', oobChannel: 'sms' })
    expect(enrollment).not.toHaveProperty('recoveryCodes')
    world.provider.rewrite(
      'mfa-associate',
      (body) => {
        body['oob_channel'] = 'voice'
      },
      { times: 1 },
    )
    const other = await enroll({ factorType: 'sms', phoneNumber: '+15550100111' })
    expect(other.enrollment).toMatchObject({ oobChannel: 'voice' })
  })

  test.each([
    [{ factorType: 'sms', phoneNumber: '+15550100111' }, 'sms', 'prompt'],
    [{ factorType: 'voice', phoneNumber: '+15550100111' }, 'voice', 'prompt'],
    [{ factorType: 'email', email: 'bob@example.test' }, 'email', 'prompt'],
    [{ factorType: 'email' }, 'email', 'prompt'],
    [{ factorType: 'push' }, 'push', undefined],
    [{ authenticatorTypes: ['oob'], oobChannels: ['sms'], phoneNumber: '+15550100111' }, 'sms', 'prompt'],
    [{ authenticatorTypes: ['oob'], oobChannels: ['push'] }, 'push', undefined],
  ] as const)('[S211] %j', async (options, oobChannel, bindingMethod) => {
    const { browser, enrollment, mfaToken } = await enroll(options)
    expect(enrollment).toMatchObject({ authenticatorType: 'oob', oobChannel, oobCode: expect.any(String) })
    if (enrollment.authenticatorType !== 'oob') throw new Error('another factor')
    expect(enrollment.bindingMethod).toBe(bindingMethod)
    expect(enrollment.barcodeUri !== undefined).toBe(oobChannel === 'push')
    const [message] = world.provider.mfa.inbox('bob')
    if (message?.bindingCode === undefined) message?.approve()
    const { oobCode = '' } = enrollment
    const code = message?.bindingCode === undefined ? {} : { bindingCode: message.bindingCode }
    expect(await verify(browser, mfaToken, { oobCode, ...code })).toEqual({ success: true })
  })

  test('a user who already has a factor: the cause is the error of the provider', async () => {
    const { browser, mfaToken } = await demanded('alice')
    const options = { mfaToken, factorType: 'otp' } as const
    await expect(world.client.mfa.enroll(browser.request('/'), options)).rejects.toMatchObject({
      name: 'MfaError',
      code: 'MFA_ENROLLMENT_ERROR',
      cause: { error: 'access_denied', providerStatus: 403 },
    })
  })

  test('a response that lacks data to show is rejected', async () => {
    world.provider.rewrite(
      'mfa-associate',
      (body) => {
        delete body['barcode_uri']
      },
      { times: 1 },
    )
    await expect(enroll({ factorType: 'otp' })).rejects.toMatchObject({
      code: 'MFA_ENROLLMENT_ERROR',
      cause: { code: 'RESPONSE_INVALID', message: expect.stringContaining('barcode_uri is missing.') },
    })
    for (const [body, detail] of [
      ['{"status":"ok"}', 'authenticator_type is missing or not oob.'],
      ['ok', 'It is not a JSON object.'],
    ] as const) {
      world.provider.faults.set('mfa-associate', { kind: 'respond', body })
      await expect(enroll({ factorType: 'push' })).rejects.toMatchObject({
        code: 'MFA_ENROLLMENT_ERROR',
        cause: { code: 'RESPONSE_INVALID', message: expect.stringContaining(detail) },
      })
    }
  })
})

describe('verify', () => {
  test('[S211] an OTP: the token of the audience is added to the main one; rotated ones are kept', async () => {
    const { browser, mfaToken } = await demanded()
    const before = await browser.session()
    expect(await verify(browser, mfaToken, { otp: world.otp() })).toEqual({ success: true })
    const after = await browser.session()
    const { token } = await bankToken(browser)
    expect(decodeJwt(token)).toMatchObject({ aud: BANK, sub: 'dev|alice' })
    expect(after.accessTokens).toEqual([expect.objectContaining({ audience: BANK, accessToken: token })])
    expect(after.tokenSet.accessToken).toBe(before.tokenSet.accessToken)
    expect(after.tokenSet.refreshToken).not.toBe(before.tokenSet.refreshToken)
    expect(decodeJwt(after.tokenSet.idToken ?? '')['amr']).toContain('mfa')
    expect(after.internal).toEqual(before.internal)
    const [request] = world.provider.requests('token')
    expect(request?.body).toMatchObject({ audience: BANK, otp: expect.any(String) })
    expect(request?.body).not.toHaveProperty('scope')
    // There was no other request, and the session still refreshes.
    expect(world.provider.count('token')).toBe(1)
    world.pass(TTL)
    await expect(bankToken(browser)).resolves.toMatchObject({ audience: BANK })
  })

  test('[S211] a token of the login replaces the main one', async () => {
    const audience = 'https://things.example.test/'
    const api = { audience, scopes: ['read'] }
    world.provider.addApi(api)
    const made = world.another({ authorizationParameters: { audience } })
    await world.login(made.browser, '', { user: 'alice' })
    world.provider.addApi({ ...api, requiresMfa: true })
    world.pass(TTL)
    const asking = made.client.getAccessToken(made.browser.request('/'), new Headers())
    const { mfa_token: mfaToken } = await demandOf(asking)
    await keeping(made.browser, (request, headers) =>
      made.client.mfa.verify(request, headers, { mfaToken, otp: world.otp() }),
    )
    const session = await made.client.getSession(made.browser.request('/'))
    expect(session?.accessTokens).toBeUndefined()
    expect(session?.tokenSet.expiresAt).toBe(world.clock.now + TTL)
    expect(decodeJwt(session?.tokenSet.accessToken ?? '').aud).toBe(audience)
  })

  test('[S211] the requested scope is requested again, and covered afterwards', async () => {
    const browser = await world.signedIn()
    const wanted = { audience: BANK, scope: 'openid transfer:money' }
    const ask = () => world.client.getAccessToken(browser.request('/'), new Headers(), wanted)
    const { mfa_token: mfaToken } = await demandOf(ask())
    await verify(browser, mfaToken, { otp: world.otp() })
    world.provider.clearRequests()
    expect((await ask()).scope).toContain('transfer:money')
    expect(world.provider.requests()).toEqual([])
  })

  test('a wrong code is a typed error, and the token can be used again', async () => {
    const { browser, mfaToken } = await demanded()
    const before = await browser.session()
    await expect(verify(browser, mfaToken, { otp: '000000x' })).rejects.toMatchObject({
      name: 'MfaError',
      code: 'MFA_VERIFY_ERROR',
      cause: { name: 'OAuthError', error: 'invalid_grant', providerStatus: 403 },
    })
    expect(await browser.session()).toEqual(before)
    expect(await verify(browser, mfaToken, { otp: world.otp() })).toEqual({ success: true })
  })

  test('a recovery code is replaced by a new one', async () => {
    const { browser, mfaToken } = await demanded()
    const recoveryCode = world.provider.mfa.recoveryCode('alice')
    const result = await verify(browser, mfaToken, { recoveryCode })
    expect(result).toEqual({ success: true, recovery_code: world.provider.mfa.recoveryCode('alice') })
    expect(result.recovery_code).not.toBe(recoveryCode)
    expect(await bankToken(browser)).toMatchObject({ audience: BANK })
  })

  test('one more factor: MfaRequiredError with a new token, which completes it', async () => {
    world.provider.mfa.enrollOob('bob', 'push')
    const { secret } = world.provider.mfa.enrollOtp('bob')
    const browser = await world.signedIn('bob')
    const ask = () => world.client.getAccessToken(browser.request('/'), new Headers(), { audience: VAULT })
    const first = await demandOf(ask())
    const otp = world.provider.mfa.totp(secret)
    const second = await demandOf(verify(browser, first.mfa_token, { otp }))
    expect(second.mfa_token).not.toBe(first.mfa_token)
    expect(second.mfa_requirements?.challenge).toContainEqual({ type: 'push-notification' })
    const options = { mfaToken: second.mfa_token, challengeType: 'oob' } as const
    const { oobCode = '' } = await world.client.mfa.challenge(browser.request('/'), options)
    world.provider.mfa.inbox('bob')[0]?.approve()
    expect(await verify(browser, second.mfa_token, { oobCode })).toEqual({ success: true })
    expect(decodeJwt((await ask()).token).aud).toBe(VAULT)
  })

  test('without a session the validated tokens are returned, and nothing is written', async () => {
    const exchange = world.client.customTokenExchange({
      subjectToken: 'alice',
      subjectTokenType: 'urn:example:legacy-token',
      audience: BANK,
      scope: 'openid transfer:money',
    })
    const { mfa_token: mfaToken } = await demandOf(exchange)
    expect(await world.client.mfa.getAuthenticators({ mfaToken })).not.toEqual([])
    const result = await world.client.mfa.verify({ mfaToken, otp: world.otp() })
    expect(result).toEqual({
      success: true,
      tokenSet: expect.objectContaining({
        accessToken: expect.any(String),
        token_type: 'Bearer',
        audience: BANK,
        expiresAt: world.clock.now + TTL,
      }),
      idTokenClaims: expect.objectContaining({ sub: 'dev|alice' }),
    })
    expect(decodeJwt(result.tokenSet?.accessToken ?? '')).toMatchObject({ aud: BANK, sub: 'dev|alice' })
  })

  test('without a session and an ID token, no claims are returned', async () => {
    const exchange = world.client.customTokenExchange({
      subjectToken: 'alice',
      subjectTokenType: 'urn:example:legacy-token',
      audience: BANK,
    })
    const { mfa_token: mfaToken } = await demandOf(exchange)
    const undo = world.provider.rewrite('token', ({ id_token: _none, ...body }) => body)
    const result = await world.client.mfa.verify({ mfaToken, otp: world.otp() })
    undo()
    expect(result).toEqual({ success: true, tokenSet: expect.any(Object) })
  })

  test('after a backchannel authentication the ID token must be about the requested user', async () => {
    const demand = async () => {
      const approve = world.client.getTokenByBackchannelAuth({
        bindingMessage: 'Transfer',
        loginHint: { sub: 'dev|alice' },
        authorizationParams: { audience: BANK },
      })
      const { mfa_token: mfaToken } = await demandOf(approve)
      return { mfaToken, otp: world.otp() }
    }
    const given = await demand()
    world.provider.tamperIdToken(
      (claims) => {
        claims.sub = 'dev|bob'
        return undefined
      },
      { times: 1 },
    )
    await expect(world.client.mfa.verify(given)).rejects.toMatchObject({
      code: 'MFA_VERIFY_ERROR',
      cause: { code: 'ID_TOKEN_INVALID' },
    })
    const result = await world.client.mfa.verify(await demand())
    expect(result.idTokenClaims).toMatchObject({ sub: 'dev|alice' })
  })
})
