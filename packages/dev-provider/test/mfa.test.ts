import { decodeJwt } from 'jose'
import * as client from 'openid-client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { DevProvider } from '../src/index.ts'
import { startDevProvider } from '../src/index.ts'
import type { MfaParty } from './mfa-party.ts'
import { BANK, mfaParty, OTP } from './mfa-party.ts'
import type { RelyingParty, Tokens } from './relying-party.ts'
import { oauthError, relyingParty, SCOPE } from './relying-party.ts'

const ORDERS = 'https://orders.example.test/'
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'

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

describe('an API that requires another factor', () => {
  test('is refused with an mfa_token and the factors to enroll, and the refresh token stays valid', async () => {
    const tokens = await app.logIn()
    const demand = await mfa.demand(tokens)
    expect(demand).toEqual({
      error: 'mfa_required',
      error_description: expect.any(String),
      mfa_token: expect.any(String),
      mfa_requirements: {
        enroll: [{ type: 'otp' }, { type: 'phone' }, { type: 'push-notification' }, { type: 'email' }],
      },
    })
    expect(provider.requests('token').at(-1)?.status).toBe(403)
    await app.refresh(tokens)
  })

  test('returns the factors that can be challenged', async () => {
    provider.mfa.enrollOtp('alice')
    provider.mfa.enrollOob('alice', 'sms')
    provider.mfa.enrollOob('alice', 'voice')
    const { mfa_requirements: requirements } = await mfa.demand(await app.logIn())
    expect(requirements).toEqual({
      challenge: [{ type: 'otp' }, { type: 'phone' }, { type: 'recovery-code' }],
    })
  })

  test('does not change other errors: reuse, unknown scopes, a wrong secret', async () => {
    const tokens = await app.logIn()
    const renewed = await app.refresh(tokens)
    expect(await oauthError(app.refresh(renewed, { audience: BANK, scope: 'no:such' }))).toBe('invalid_scope')
    const wrong = await relyingParty(provider, { auth: client.ClientSecretPost('wrong') })
    expect(await oauthError(wrong.refresh(renewed, { audience: BANK }))).toBe('invalid_client')
    expect(await oauthError(app.refresh(tokens, { audience: BANK }))).toBe('invalid_grant')
    expect(await oauthError(app.refresh(renewed, { audience: BANK }))).toBe('invalid_grant')
  })

  test('requires nothing of client credentials and of other APIs', async () => {
    await client.clientCredentialsGrant(app.config, { audience: BANK, scope: 'transfer:money' })
    await app.refresh(await app.logIn(), { audience: ORDERS })
  })

  test('requires it of a token exchange and of a backchannel authentication', async () => {
    const { secret } = provider.mfa.enrollOtp('alice')
    const exchanged = await mfa.demanded(
      app.grant(EXCHANGE, {
        subject_token: 'alice',
        subject_token_type: 'urn:example:legacy',
        audience: BANK,
        scope: 'openid offline_access transfer:money',
      }),
    )
    provider.settings.cibaAutoApprove = true
    const started = await client.initiateBackchannelAuthentication(app.config, {
      scope: `${SCOPE} transfer:money`,
      login_hint: 'alice',
      audience: BANK,
    })
    provider.settings.cibaAutoApprove = false
    const approved = await mfa.demanded(
      app.grant('urn:openid:params:grant-type:ciba', { auth_req_id: started.auth_req_id }),
    )
    for (const demand of [exchanged, approved]) {
      const tokens = await mfa.verify(OTP, demand, { otp: provider.mfa.totp(secret) })
      expect(decodeJwt(tokens.access_token)).toMatchObject({ aud: BANK, sub: 'dev|alice' })
      expect(tokens.scope?.split(' ')).toContain('transfer:money')
      expect(tokens.claims()).toMatchObject({ sub: 'dev|alice', amr: ['pwd', 'otp', 'mfa'] })
      await app.refresh(tokens, { audience: BANK })
    }
  })
})

describe('the mfa-otp grant', () => {
  async function stepUp(parameters: Record<string, string> = {}): Promise<{ before: Tokens; after: Tokens }> {
    const { secret } = provider.mfa.enrollOtp('alice')
    const before = await app.logIn()
    const demand = await mfa.demand(before, parameters)
    return { before, after: await mfa.verify(OTP, demand, { otp: provider.mfa.totp(secret) }) }
  }

  test('returns tokens for the refused request, and the next refresh token of the family', async () => {
    const scope = 'openid transfer:money'
    const { before, after } = await stepUp({ scope })
    expect(after.scope).toBe(scope)
    expect(decodeJwt(after.access_token)).toMatchObject({ aud: BANK, scope, sub: 'dev|alice' })
    expect(after.claims()).toMatchObject({
      sub: 'dev|alice',
      aud: provider.clientId,
      amr: ['pwd', 'otp', 'mfa'],
      auth_time: expect.any(Number),
      nonce: before.claims()?.nonce,
      sid: before.claims()?.['sid'],
    })
    const next = await app.refresh(after)
    expect(next.claims()).toMatchObject({ amr: ['pwd', 'otp', 'mfa'], auth_time: after.claims()?.auth_time })
    expect(await oauthError(app.refresh(before))).toBe('invalid_grant')
    expect(await oauthError(app.refresh(next))).toBe('invalid_grant')
  })

  test('without a scope returns those of the API and of the login', async () => {
    const { after } = await stepUp()
    expect(after.scope).toBe(`${SCOPE} transfer:money`)
  })

  test('is not required again in this login while it is fresh, and then is', async () => {
    const { after } = await stepUp()
    const next = await app.refresh(after, { audience: BANK })
    expect(await oauthError(app.refresh(await app.logIn(), { audience: BANK }))).toBe('mfa_required')
    provider.clock.advance(provider.settings.mfaTtl)
    try {
      expect(await oauthError(app.refresh(next, { audience: BANK }))).toBe('mfa_required')
    } finally {
      provider.clock.reset()
    }
  })

  test('continues if the refresh token was used meanwhile, and keeps it if rotation is off', async () => {
    const { secret } = provider.mfa.enrollOtp('alice')
    const first = await app.logIn()
    const demand = await mfa.demand(first)
    const second = await app.refresh(first)
    const third = await mfa.verify(OTP, demand, { otp: provider.mfa.totp(secret) })
    await app.refresh(third)
    await app.refresh(second)

    provider.settings.rotateRefreshTokens = false
    try {
      const kept = await app.logIn()
      const verified = await mfa.verify(OTP, await mfa.demand(kept), { otp: provider.mfa.totp(secret) })
      expect(verified.refresh_token).toBe(kept.refresh_token)
      expect((await app.refresh(kept)).claims()).toMatchObject({ amr: ['pwd', 'otp', 'mfa'] })
    } finally {
      provider.settings.rotateRefreshTokens = true
    }
  })

  test('a wrong code keeps the mfa_token valid, ten of them do not', async () => {
    const { secret } = provider.mfa.enrollOtp('alice')
    const demand = await mfa.demand(await app.logIn())
    const right = provider.mfa.totp(secret)
    const wrong = right === '000000' ? '000001' : '000000'
    const send = (otp: string): Promise<string> => oauthError(mfa.verify(OTP, demand, { otp }))
    expect(await send(wrong)).toBe('invalid_grant')
    expect(provider.requests('token').at(-1)?.status).toBe(403)
    expect(await send(right)).toBe('no error')
    expect(await send(right)).toBe('invalid_grant')

    const other = await mfa.demand(await app.logIn())
    for (let attempt = 0; attempt < 10; attempt += 1) {
      expect(await oauthError(mfa.verify(OTP, other, { otp: wrong }))).toBe('invalid_grant')
    }
    expect(await oauthError(mfa.verify(OTP, other, { otp: right }))).toBe('too_many_attempts')
    expect(provider.requests('token').at(-1)?.status).toBe(429)
  })

  test('rejects missing, unknown, expired and foreign tokens, other audiences and more scopes', async () => {
    const { secret } = provider.mfa.enrollOtp('alice')
    const demand = await mfa.demand(await app.logIn(), { scope: 'openid transfer:money' })
    const otp = provider.mfa.totp(secret)
    expect(await oauthError(app.grant(OTP, { otp }))).toBe('invalid_request')
    expect(await oauthError(app.grant(OTP, { mfa_token: demand.mfa_token }))).toBe('invalid_request')
    expect(await oauthError(app.grant(OTP, { mfa_token: 'forged', otp }))).toBe('invalid_grant')
    expect(await oauthError(mfa.verify(OTP, demand, { otp, audience: ORDERS }))).toBe('invalid_target')
    expect(await oauthError(mfa.verify(OTP, demand, { otp, scope: SCOPE }))).toBe('invalid_scope')
    const added = await provider.addClient()
    const auth = client.ClientSecretPost(added.clientSecret ?? '')
    const other = mfaParty(provider, await relyingParty(provider, { clientId: added.clientId, auth }))
    expect(await oauthError(other.verify(OTP, demand, { otp }))).toBe('invalid_request')
    provider.clock.advance(601)
    try {
      const late = provider.mfa.totp(secret)
      expect(await oauthError(mfa.verify(OTP, demand, { otp: late }))).toBe('expired_token')
      expect(provider.requests('token').at(-1)?.status).toBe(403)
    } finally {
      provider.clock.reset()
    }
    await mfa.verify(OTP, demand, { otp, audience: BANK, scope: 'openid' })
  })

  test('is rejected after the login was revoked', async () => {
    const { secret } = provider.mfa.enrollOtp('alice')
    const tokens = await app.logIn()
    const demand = await mfa.demand(tokens)
    await client.tokenRevocation(app.config, tokens.refresh_token ?? '')
    const late = mfa.verify(OTP, demand, { otp: provider.mfa.totp(secret) })
    expect(await oauthError(late)).toBe('invalid_grant')
  })

  test('binds the tokens if a proof is sent, and a missing nonce does not use up the code', async () => {
    const { secret } = provider.mfa.enrollOtp('alice')
    const demand = await mfa.demand(await app.logIn())
    const dpop = client.getDPoPHandle(app.config, await client.randomDPoPKeyPair())
    const bound = await relyingParty(provider, { dpop })
    provider.settings.dpopNonces = true
    try {
      const otp = provider.mfa.totp(secret)
      const tokens = await mfaParty(provider, bound).verify(OTP, demand, { otp })
      expect(tokens.token_type).toBe('dpop')
      expect(decodeJwt(tokens.access_token)['cnf']).toEqual({ jkt: expect.any(String) })
      const statuses = provider.requests('token').map(({ status }) => status)
      expect(statuses.slice(-2)).toEqual([400, 200])
      await bound.refresh(tokens)
    } finally {
      provider.settings.dpopNonces = false
    }
  })

  test('has a response that can be changed like every other', async () => {
    const { secret } = provider.mfa.enrollOtp('alice')
    const demand = await mfa.demand(await app.logIn())
    provider.tamperIdToken(
      (claims) => {
        claims['sub'] = 'dev|mallory'
        return undefined
      },
      { times: 1 },
    )
    const tokens = await mfa.verify(OTP, demand, { otp: provider.mfa.totp(secret) })
    expect(tokens.claims()?.sub).toBe('dev|mallory')
  })
})

describe('several factors for one API', () => {
  const VAULT = 'https://vault.example.test/'
  beforeAll(() => provider.addApi({ audience: VAULT, scopes: ['open'], requiresMfa: ['otp', 'push'] }))

  test('are required one after the other, each with its own mfa_token', async () => {
    const { secret } = provider.mfa.enrollOtp('alice')
    provider.mfa.enrollOob('alice', 'push')
    const tokens = await app.logIn()
    const first = await mfa.demand(tokens, { audience: VAULT, scope: 'openid open' })
    expect(first.mfa_requirements.challenge?.map(({ type }) => type)).toEqual([
      'otp',
      'push-notification',
      'recovery-code',
    ])
    const second = await mfa.demanded(mfa.verify(OTP, first, { otp: provider.mfa.totp(secret) }))
    expect(second.mfa_token).not.toBe(first.mfa_token)
    expect(second.mfa_requirements.challenge?.map(({ type }) => type)).toEqual([
      'push-notification',
      'recovery-code',
    ])
    const again = mfa.verify(OTP, second, { otp: provider.mfa.totp(secret) })
    expect(await oauthError(again)).toBe('invalid_grant')
    const { oob_code: code = '' } = await mfa.challenge(second, { challenge_type: 'oob' })
    provider.mfa.inbox('alice')[0]?.approve()
    const done = await mfa.verifyOob(second, code)
    expect(done.scope).toBe('openid open')
    expect(done.claims()?.['amr']).toEqual(['pwd', 'otp', 'swk', 'mfa'])
    await app.refresh(done, { audience: VAULT })
  })

  test('can be enrolled meanwhile, only those that are missing', async () => {
    const { secret } = provider.mfa.enrollOtp('alice')
    const first = await mfa.demand(await app.logIn(), { audience: VAULT })
    const second = await mfa.demanded(mfa.verify(OTP, first, { otp: provider.mfa.totp(secret) }))
    expect(second.mfa_requirements).toEqual({ enroll: [{ type: 'push-notification' }] })
    const wrong = await mfa.call('associate', second, { authenticator_types: ['otp'] })
    expect(wrong).toMatchObject({ status: 400, body: { error: 'unsupported_challenge_type' } })
    const { body } = await mfa.call('associate', second, {
      authenticator_types: ['oob'],
      oob_channels: ['auth0'],
    })
    provider.mfa.inbox('alice')[0]?.approve()
    await mfa.verifyOob(second, String(body['oob_code']))
    expect(provider.mfa.authenticators('alice').map(({ active, kind }) => [kind, active])).toEqual([
      ['otp', true],
      ['push', true],
    ])
  })
})
