import * as client from 'openid-client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { DevProvider, LoginOptions } from '../src/index.ts'
import { startDevProvider } from '../src/index.ts'
import { BANK, mfaParty, OTP } from './mfa-party.ts'
import type { RelyingParty, Tokens } from './relying-party.ts'
import { oauthError, relyingParty, SCOPE } from './relying-party.ts'

const MULTI_FACTOR = 'http://schemas.openid.net/pape/policies/2007/06/multi-factor'
const LEVEL_2 = 'urn:idp-dev:loa2'

let provider: DevProvider
let app: RelyingParty
beforeAll(async () => {
  provider = await startDevProvider()
  app = await relyingParty(provider)
})
beforeEach(() => provider.mfa.reset('alice'))
afterAll(() => provider.stop())

const stepUp = (options?: LoginOptions, parameters = {}): Promise<Tokens> =>
  app.logIn({ acr_values: MULTI_FACTOR, ...parameters }, { otp: true, ...options })

async function later(seconds: number, work: () => Promise<void>): Promise<void> {
  provider.clock.advance(seconds)
  try {
    await work()
  } finally {
    provider.clock.reset()
  }
}

/** Opens an authorization URL and does the first step. */
async function secondPage(parameters: Record<string, string>, options = {}): Promise<{ html: string }> {
  const { url } = await app.authorize(parameters)
  const page = await provider.visit(url.href, { submit: { user: 'alice' }, ...options })
  if (page.kind !== 'page' || page.status !== 200) throw new Error('expected the page of the second step')
  return page
}

test('the metadata contains the levels', () => {
  expect(app.config.serverMetadata().acr_values_supported).toEqual([MULTI_FACTOR, LEVEL_2])
})

describe('acr_values', () => {
  test.each([MULTI_FACTOR, LEVEL_2])(
    '%s requires a second step, and the ID token contains it',
    async (acr) => {
      const before = provider.clock.now()
      const tokens = await stepUp({}, { acr_values: acr })
      const claims = tokens.claims()
      expect(claims).toMatchObject({ sub: 'dev|alice', acr, amr: ['pwd', 'otp', 'mfa'] })
      expect(claims?.auth_time).toBeGreaterThanOrEqual(before)
      const refreshed = await app.refresh(tokens)
      expect(refreshed.claims()).toMatchObject({ amr: ['pwd', 'otp', 'mfa'], auth_time: claims?.auth_time })
    },
  )

  test('of other values, and none, require nothing more', async () => {
    const tokens = await app.logIn({ acr_values: 'urn:example:other' })
    expect(tokens.claims()).toMatchObject({ acr: 'urn:example:other' })
    expect(tokens.claims()).not.toHaveProperty('amr')
    expect((await app.logIn()).claims()).not.toHaveProperty('amr')
  })

  test('rejects a login without the second step', async () => {
    const { url } = await app.authorize({ acr_values: MULTI_FACTOR })
    await expect(provider.login(url.href)).rejects.toThrow(/second factor/i)
    await expect(provider.login(url.href, { otp: '12345' })).rejects.toThrow(/status 422/)
    const denied = await provider.login(url.href, { deny: true })
    expect(new URL(denied.location ?? '').searchParams.get('error')).toBe('access_denied')
  })
})

describe('the page of the second step', () => {
  test('enrolls an app first, with a QR code and the secret as text', async () => {
    const { html } = await secondPage({ acr_values: MULTI_FACTOR })
    expect(html).toContain('Set up a second factor')
    expect(html).toContain('<svg')
    expect(html).toMatch(/id="secret">([A-Z2-7]{4} ){7}[A-Z2-7]{4}</)
    expect(html).not.toContain('<script')
    expect(provider.mfa.authenticators('alice')).toEqual([])
    await stepUp()
    expect(provider.mfa.authenticators('alice')).toMatchObject([{ active: true, kind: 'otp' }])
  })

  test('requires only the code if there is an app, and accepts the next one after a wrong one', async () => {
    const { secret } = provider.mfa.enrollOtp('alice')
    const { html } = await secondPage({ acr_values: MULTI_FACTOR })
    expect(html).not.toContain(secret.slice(0, 4))
    const right = provider.mfa.totp(secret)
    const wrong = right === '000000' ? '000001' : '000000'
    const jar = provider.createJar()
    const { url } = await app.authorize({ acr_values: MULTI_FACTOR })
    const options = { submit: { user: 'alice' }, jar }
    const refused = await provider.visit(url.href, { ...options, otp: wrong })
    if (refused.kind !== 'page') throw new Error('expected the page again')
    expect([refused.status, refused.html.includes('role="alert"')]).toEqual([422, true])
    expect(await provider.visit(refused.url, { jar, otp: right })).toMatchObject({ kind: 'redirect' })
  })

  test('accepts ten wrong codes and no more', async () => {
    const { secret } = provider.mfa.enrollOtp('alice')
    const right = provider.mfa.totp(secret)
    const otp = right === '000000' ? '000001' : '000000'
    const jar = provider.createJar()
    const { url } = await app.authorize({ acr_values: MULTI_FACTOR })
    const page = await provider.visit(url.href, { submit: { user: 'alice' }, jar })
    if (page.kind !== 'page') throw new Error('expected a page')
    for (let attempt = 0; attempt < 10; attempt += 1) await provider.visit(page.url, { jar, otp })
    expect(await provider.visit(page.url, { jar, otp: right })).toMatchObject({ status: 422 })
  })

  test('follows an automatic sign-in', async () => {
    provider.settings.autoLogin = 'alice'
    try {
      const { url } = await app.authorize({ acr_values: MULTI_FACTOR })
      expect(await provider.visit(url.href)).toMatchObject({ kind: 'page', status: 200 })
      expect(await provider.visit(url.href, { otp: true })).toMatchObject({ kind: 'redirect' })
    } finally {
      provider.settings.autoLogin = false
    }
  })

  test('follows a sign-up', async () => {
    const tokens = await stepUp({ user: 'zoe', signUp: true }, { screen_hint: 'signup' })
    expect(tokens.claims()).toMatchObject({ sub: 'dev|zoe', amr: ['pwd', 'otp', 'mfa'] })
  })
})

describe('a session at the provider', () => {
  test('requires only the second step, once', async () => {
    const jar = provider.createJar()
    const plain = await app.logIn({}, { jar })
    const { url } = await app.authorize({ acr_values: MULTI_FACTOR })
    const page = await provider.visit(url.href, { jar })
    expect(page.kind === 'page' && page.html).toContain('id="account">alice<')
    const raised = await stepUp({ jar })
    expect(raised.claims()?.['sid']).toBe(plain.claims()?.['sid'])
    const pages = provider.count('interaction')
    const again = await app.logIn({ acr_values: MULTI_FACTOR }, { jar })
    expect(provider.count('interaction')).toBe(pages)
    expect(again.claims()).toMatchObject({ acr: MULTI_FACTOR, amr: ['pwd', 'otp', 'mfa'] })
  })

  test('requires it again if the second step is old, or another level is requested', async () => {
    const jar = provider.createJar()
    const first = await stepUp({ jar })
    await later(provider.settings.mfaTtl, async () => {
      const { url } = await app.authorize({ acr_values: MULTI_FACTOR })
      expect(await provider.visit(url.href, { jar })).toMatchObject({ kind: 'page' })
      const fresh = await stepUp({ jar })
      expect(fresh.claims()?.auth_time).toBeGreaterThan(first.claims()?.auth_time ?? 0)
    })
    const other = await stepUp({ jar }, { acr_values: LEVEL_2 })
    expect(other.claims()?.['acr']).toBe(LEVEL_2)
  })

  test('cannot step up silently', async () => {
    const jar = provider.createJar()
    await app.logIn({}, { jar })
    for (const parameters of [{ acr_values: MULTI_FACTOR }, { audience: BANK }]) {
      const { url } = await app.authorize({ prompt: 'none', ...parameters })
      const { location } = await provider.login(url.href, { jar })
      expect(new URL(location ?? '').searchParams.get('error')).toBe('interaction_required')
    }
    await stepUp({ jar })
    await app.logIn({ prompt: 'none', acr_values: MULTI_FACTOR }, { jar })
  })

  test('goes through both steps with prompt=login, and when it is too old for max_age', async () => {
    const jar = provider.createJar()
    await stepUp({ jar })
    const page = await provider.visit(
      (await app.authorize({ acr_values: MULTI_FACTOR, prompt: 'login' })).url.href,
      { jar },
    )
    expect(page.kind === 'page' && page.html).toContain('Sign in')
    const other = await stepUp({ jar, user: 'bob' }, { prompt: 'login' })
    expect(other.claims()).toMatchObject({ sub: 'dev|bob', amr: ['pwd', 'otp', 'mfa'] })
    await later(61, async () => {
      const { url } = await app.authorize({ acr_values: MULTI_FACTOR, max_age: '60' })
      const old = await provider.visit(url.href, { jar })
      expect(old.kind === 'page' && old.html).toContain('Sign in')
    })
    provider.mfa.reset('bob')
  })

  test('loses its second step with a login without one', async () => {
    const jar = provider.createJar()
    await stepUp({ jar })
    await app.logIn({ prompt: 'login' }, { jar })
    const { url } = await app.authorize({ prompt: 'none', acr_values: MULTI_FACTOR })
    const { location } = await provider.login(url.href, { jar })
    expect(new URL(location ?? '').searchParams.get('error')).toBe('interaction_required')
  })
})

describe('an API that requires another factor', () => {
  test('requires the second step at login, and accepts its refreshes for a limited time', async () => {
    const { url } = await app.authorize({ audience: BANK })
    await expect(provider.login(url.href)).rejects.toThrow(/second factor/i)
    const scope = `${SCOPE} transfer:money`
    const tokens = await app.logIn({ audience: BANK, scope }, { otp: true })
    expect(tokens.scope).toBe(scope)
    expect(tokens.claims()).toMatchObject({ amr: ['pwd', 'otp', 'mfa'] })
    const next = await app.refresh(tokens)
    await later(provider.settings.mfaTtl, async () => {
      expect(await oauthError(app.refresh(next))).toBe('mfa_required')
    })
  })

  test('accepts a second step that acr_values requested', async () => {
    await app.refresh(await stepUp(), { audience: BANK })
  })

  test('requires it with a pushed request too', async () => {
    const { url, checks } = await app.authorize({ audience: BANK })
    const pushed = await client.buildAuthorizationUrlWithPAR(app.config, url.searchParams)
    const { location } = await provider.login(pushed.href, { otp: true })
    const tokens = await client.authorizationCodeGrant(app.config, new URL(location ?? ''), checks)
    expect(tokens.claims()).toMatchObject({ amr: ['pwd', 'otp', 'mfa'] })
  })

  test('accepts the app that was enrolled at login', async () => {
    await stepUp()
    const [factor] = provider.mfa.authenticators('alice')
    const mfa = mfaParty(provider, app)
    const otp = provider.mfa.totp(factor?.secret ?? '')
    await mfa.verify(OTP, await mfa.demand(await app.logIn()), { otp })
  })
})
