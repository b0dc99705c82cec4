import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { DevProvider } from '../src/index.ts'
import { startDevProvider } from '../src/index.ts'
import type { Demand, MfaParty } from './mfa-party.ts'
import { BANK, mfaParty, OTP } from './mfa-party.ts'
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

async function html(path: string): Promise<string> {
  const page = await provider.visit(provider.issuer + path)
  if (page.kind !== 'page' || page.status !== 200) throw new Error('expected a page')
  return page.html
}

async function press(fields: Record<string, string>, origin = provider.origin): Promise<number> {
  const body = new URLSearchParams(fields)
  const url = `${provider.issuer}/dev/inbox`
  const response = await fetch(url, { method: 'POST', headers: { origin }, body, redirect: 'manual' })
  return response.status
}

test('the overview links to the other pages', async () => {
  const overview = await html('/dev')
  expect(overview).toContain('href="/dev/inbox"')
  expect(overview).toContain('href="/dev/issued"')
})

test('[N9] the overview shows clients and APIs before requests', async () => {
  const overview = await html('/dev')
  const positions = [
    'dev-app-key',
    'https://bank.example.test/',
    'GET /.well-known/openid-configuration',
  ].map((text) => overview.indexOf(text))
  expect(positions).not.toContain(-1)
  expect(positions.toSorted((a, b) => a - b)).toEqual(positions)
  expect(overview).toContain('read:things write:things')
})

test('the inbox shows messages, codes and recovery codes', async () => {
  const { secret } = provider.mfa.enrollOtp('alice')
  provider.mfa.enrollOob('alice', 'sms', '+15550123456')
  await mfa.challenge(await demand(), { challenge_type: 'oob' })
  const before = provider.mfa.totp(secret)
  const inbox = await html('/dev/inbox')
  const after = provider.mfa.totp(secret)
  expect(inbox).toContain(provider.mfa.inbox('alice')[0]?.bindingCode)
  expect([before, after].some((code) => inbox.includes(code))).toBe(true)
  expect(inbox).toContain('+15550123456')
  expect(inbox).toContain(provider.mfa.recoveryCode('alice'))
  expect(inbox).not.toContain('<script')
})

test('the inbox approves and denies', async () => {
  provider.mfa.enrollOob('alice', 'push')
  const token = await demand()
  const { oob_code: denied = '' } = await mfa.challenge(token)
  expect(await press({ user: 'alice', id: denied, action: 'deny' })).toBe(303)
  expect(await oauthError(mfa.verifyOob(token, denied))).toBe('invalid_grant')
  const { oob_code: approved = '' } = await mfa.challenge(token)
  await press({ user: 'alice', id: approved, action: 'approve' })
  await mfa.verifyOob(token, approved)
})

test('the inbox does not approve messages with a code, nor for another site or another user', async () => {
  provider.mfa.enrollOob('alice', 'sms')
  const sms = await demand()
  const { oob_code: withCode = '' } = await mfa.challenge(sms)
  await press({ user: 'alice', id: withCode, action: 'approve' })
  expect(await oauthError(mfa.verifyOob(sms, withCode))).toBe('invalid_request')
  provider.mfa.reset('alice')
  provider.mfa.enrollOob('alice', 'push')
  const push = await demand()
  const { oob_code: id = '' } = await mfa.challenge(push)
  expect(await press({ user: 'alice', id, action: 'approve' }, 'http://evil.example')).toBe(403)
  await press({ user: 'bob', id, action: 'approve' })
  expect(await oauthError(mfa.verifyOob(push, id))).toBe('authorization_pending')
})

test('the inbox adds an app and removes all factors', async () => {
  await press({ user: 'alice', action: 'enroll' })
  const [factor] = provider.mfa.authenticators('alice')
  await mfa.verify(OTP, await demand(), { otp: provider.mfa.totp(factor?.secret ?? '') })
  await press({ user: 'alice', action: 'reset' })
  expect(provider.mfa.authenticators('alice')).toEqual([])
})

test('the inbox shows the code of an app that is being set up at login', async () => {
  const { url } = await app.authorize({ acr_values: 'urn:idp-dev:loa2' })
  const page = await provider.visit(url.href, { submit: { user: 'alice' } })
  const secret = page.kind === 'page' ? /id="secret">([^<]+)</.exec(page.html)?.[1] : undefined
  const before = provider.mfa.totp(secret ?? '')
  const inbox = await html('/dev/inbox')
  expect([before, provider.mfa.totp(secret ?? '')].some((code) => inbox.includes(code))).toBe(true)
})

test('the list of issued tokens contains audience and scope, and no token', async () => {
  const { secret } = provider.mfa.enrollOtp('alice')
  const first = await demand()
  const tokens = await mfa.verify(OTP, first, { otp: provider.mfa.totp(secret) })
  const issued = await html('/dev/issued')
  for (const token of [tokens.access_token, tokens.refresh_token ?? '', tokens.id_token ?? '']) {
    expect(issued).toContain(createHash('sha256').update(token).digest('hex').slice(0, 8))
    expect(issued).not.toContain(token)
  }
  for (const text of [provider.clientId, 'alice', BANK, 'transfer:money', 'refresh token', 'ID token']) {
    expect(issued).toContain(text)
  }
})
