import * as client from 'openid-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DevProvider } from '../src/index.ts'
import { startDevProvider } from '../src/index.ts'
import type { RelyingParty } from './relying-party.ts'
import { CALLBACK, oauthError, relyingParty } from './relying-party.ts'

let provider: DevProvider
let app: RelyingParty
beforeAll(async () => {
  provider = await startDevProvider()
  app = await relyingParty(provider)
})
afterAll(() => provider.stop())

/** The parameters with which the browser comes back. */
async function authorizationResponse(
  url: URL,
  options?: Parameters<DevProvider['login']>[1],
): Promise<URLSearchParams> {
  const { location } = await provider.login(url.href, options)
  return new URL(location ?? '').searchParams
}

describe('a login', () => {
  test('ends with tokens and the claims of the user', async () => {
    const tokens = await app.logIn()
    expect(tokens.claims()).toMatchObject({
      iss: provider.issuer,
      aud: provider.clientId,
      sub: 'dev|alice',
      name: 'Alice Anderson',
      given_name: 'Alice',
      nickname: 'alice',
      email: 'alice@example.test',
      email_verified: true,
      picture: `${provider.issuer}/dev/avatar/alice.svg`,
      sid: expect.any(String),
    })
    expect(tokens).toMatchObject({
      expires_in: 3600,
      scope: 'openid profile email offline_access',
      refresh_token: expect.any(String),
    })
  })

  test('has the issuer in the response (RFC 9207)', async () => {
    const { url } = await app.authorize()
    expect((await authorizationResponse(url)).get('iss')).toBe(provider.issuer)
  })

  test('delivers hostile claims and large ID tokens unchanged', async () => {
    const mallory = (await app.logIn({}, { user: 'mallory' })).claims()
    expect(mallory?.['name']).toBe(provider.users().find((user) => user.name === 'mallory')?.claims['name'])
    expect(mallory?.['name']).toContain('\r\nSet-Cookie')
    const bob = await app.logIn({}, { user: 'bob' })
    expect(bob.claims()?.['https://example.test/groups']).toHaveLength(60)
    expect(bob.id_token?.length).toBeGreaterThan(3000)
  })

  test('returns only the claims of the granted scopes, and no refresh token without offline_access', async () => {
    const tokens = await app.logIn({ scope: 'openid' })
    expect(tokens.claims()).not.toHaveProperty('email')
    expect(tokens.claims()).not.toHaveProperty('name')
    expect(tokens.refresh_token).toBeUndefined()
    expect(tokens.scope).toBe('openid')
  })

  test('returns access_denied if the user denies', async () => {
    const { url, checks } = await app.authorize()
    const parameters = await authorizationResponse(url, { deny: true })
    expect(parameters.get('error')).toBe('access_denied')
    expect(parameters.get('state')).toBe(checks.expectedState)
  })

  test('posts a form if form_post is requested', async () => {
    const { url, checks } = await app.authorize({ response_mode: 'form_post' })
    const { form } = await provider.login(url.href)
    expect(form?.action).toBe(CALLBACK)
    expect(form?.fields).toMatchObject({
      code: expect.any(String),
      state: checks.expectedState,
      iss: provider.issuer,
    })
    const request = new Request(CALLBACK, { method: 'POST', body: new URLSearchParams(form?.fields) })
    const tokens = await client.authorizationCodeGrant(app.config, request, checks)
    expect(tokens.claims()?.sub).toBe('dev|alice')
  })

  test('keeps the redirect URI unchanged, query included', async () => {
    const redirectUri = 'http://localhost:3000/a%20b/auth/callback?tenant=ä&x=%2F'
    const { url } = await app.authorize({ redirect_uri: redirectUri })
    const { location } = await provider.login(url.href)
    expect(location?.startsWith('http://localhost:3000/a%20b/auth/callback?tenant=')).toBe(true)
    expect(new URL(location ?? '').searchParams.get('x')).toBe('/')
  })

  test('creates a user on the sign-up page', async () => {
    const { url } = await app.authorize({ screen_hint: 'signup' })
    const page = await provider.visit(url.href)
    expect(page).toMatchObject({ kind: 'page', status: 200 })
    expect(page.kind === 'page' && page.html).toContain('Create an account')
    const tokens = await app.logIn({ screen_hint: 'signup' }, { user: 'carol', signUp: true })
    expect(tokens.claims()?.sub).toBe('dev|carol')
    expect((await app.logIn({}, { user: 'carol' })).claims()?.['nickname']).toBe('carol')
  })

  test('adds organization and acr_values to the ID token', async () => {
    const tokens = await app.logIn({ organization: 'org_acme', acr_values: 'urn:example:mfa' })
    expect(tokens.claims()).toMatchObject({ org_id: 'org_acme', org_name: 'acme', acr: 'urn:example:mfa' })
    const refreshed = await app.refresh(tokens)
    expect(refreshed.claims()).toMatchObject({ org_id: 'org_acme' })
    expect((await app.logIn()).claims()).not.toHaveProperty('org_id')
  })
})

describe('the login page', () => {
  test('shows the application and its scopes, escapes claims, and needs no script', async () => {
    await provider.addUser({ name: 'eve', claims: { name: '</script><script>alert(1)</script>' } })
    const { url } = await app.authorize({ scope: 'openid email' })
    const page = await provider.visit(url.href)
    if (page.kind !== 'page') throw new Error('expected a page')
    expect(page.html).toContain('Development app')
    expect(page.html).toContain('<code>openid</code> <code>email</code>')
    expect(page.html).not.toContain('read:things')
    expect(page.html).not.toContain('<script')
    expect(page.html).toContain('&lt;/script&gt;')
  })

  test('shows an error if the user does not exist', async () => {
    const { url } = await app.authorize()
    const page = await provider.visit(url.href, { submit: { user: 'nobody' } })
    expect(page).toMatchObject({ kind: 'page', status: 422 })
    await expect(provider.login(url.href, { user: 'nobody' })).rejects.toThrow(/status 422/)
  })

  test('signs in without a page if autoLogin is set', async () => {
    const { url } = await app.authorize()
    provider.settings.autoLogin = 'bob'
    try {
      expect(await provider.visit(url.href)).toMatchObject({ kind: 'redirect' })
      const hinted = await app.authorize({ login_hint: 'alice' })
      const visited = await provider.visit(hinted.url.href)
      if (visited.kind !== 'redirect') throw new Error('expected a redirect')
      const tokens = await client.authorizationCodeGrant(app.config, new URL(visited.location), hinted.checks)
      expect(tokens.claims()?.sub).toBe('dev|alice')
    } finally {
      provider.settings.autoLogin = false
    }
  })
})

test('several tabs of one browser finish their logins in any order', async () => {
  const jar = provider.createJar()
  const tabs = []
  for (let tab = 0; tab < 5; tab += 1) {
    const { url, checks } = await app.authorize()
    const page = await provider.visit(url.href, { jar })
    if (page.kind !== 'page') throw new Error('expected the login page')
    tabs.push({ page, checks })
  }
  const authorizationResponses = []
  for (const { page, checks } of tabs.toReversed()) {
    const visited = await provider.visit(page.url, { jar, submit: { user: 'alice' } })
    if (visited.kind !== 'redirect') throw new Error('expected a redirect')
    authorizationResponses.push({ location: visited.location, checks })
  }
  for (const { location, checks } of authorizationResponses.toReversed()) {
    const tokens = await client.authorizationCodeGrant(app.config, new URL(location), checks)
    expect(tokens.claims()?.sub).toBe('dev|alice')
  }
})

describe('an existing session at the provider', () => {
  test('responds to prompt=none, also with a refresh token; without a session it is login_required', async () => {
    const jar = provider.createJar()
    const none = await app.authorize({ prompt: 'none' })
    expect((await authorizationResponse(none.url, { jar })).get('error')).toBe('login_required')
    await app.logIn({}, { jar, user: 'bob' })
    const silent = await app.logIn({ prompt: 'none' }, { jar })
    expect(silent.claims()?.sub).toBe('dev|bob')
    expect(silent.refresh_token).toEqual(expect.any(String))
  })

  test('signs in again without a page, and keeps its sid and the earlier tokens', async () => {
    const jar = provider.createJar()
    const first = await app.logIn({}, { jar })
    const before = provider.count('interaction')
    const second = await app.logIn({}, { jar, user: 'bob' })
    expect(provider.count('interaction')).toBe(before)
    expect(second.claims()?.sub).toBe('dev|alice')
    expect(second.claims()?.['sid']).toBe(first.claims()?.['sid'])
    await app.refresh(second)
    await app.refresh(first)
  })

  test('is replaced by that of another user with prompt=login', async () => {
    const jar = provider.createJar()
    await app.logIn({}, { jar })
    const other = await app.logIn({ prompt: 'login' }, { jar, user: 'bob' })
    expect(other.claims()?.sub).toBe('dev|bob')
    expect((await app.logIn({ prompt: 'none' }, { jar })).claims()?.sub).toBe('dev|bob')
  })

  test('requires consent and another level of authentication if configured', async () => {
    const jar = provider.createJar()
    await app.logIn({}, { jar })
    const consent = await app.authorize({ prompt: 'consent' })
    const page = await provider.visit(consent.url.href, { jar })
    expect(page.kind === 'page' && page.html).toContain('Continue as Alice Anderson')
    expect((await app.logIn({ prompt: 'consent' }, { jar })).claims()?.sub).toBe('dev|alice')
    const stepUp = await app.authorize({ prompt: 'none', acr_values: 'urn:example:mfa' })
    expect((await authorizationResponse(stepUp.url, { jar })).get('error')).toBe('interaction_required')
    const raised = await app.logIn({ acr_values: 'urn:example:mfa' }, { jar })
    expect(raised.claims()?.['acr']).toBe('urn:example:mfa')
  })

  test('exceeds max_age after some time, and has auth_time', async () => {
    const jar = provider.createJar()
    const fresh = await app.logIn({ max_age: '600' }, { jar })
    expect(fresh.claims()?.auth_time).toEqual(expect.any(Number))
    provider.clock.advance(601)
    try {
      const silent = await app.authorize({ prompt: 'none', max_age: '600' })
      expect((await authorizationResponse(silent.url, { jar })).get('error')).toBe('login_required')
    } finally {
      provider.clock.reset()
    }
  })
})

test('rejects a redirect URI that is neither registered nor on loopback, with a page', async () => {
  const { url } = await app.authorize({ redirect_uri: 'https://elsewhere.example/callback' })
  await expect(provider.login(url.href)).rejects.toThrow(/invalid_redirect_uri/)
  provider.settings.allowLoopbackRedirects = false
  try {
    const late = await app.authorize({ redirect_uri: 'http://localhost:3999/auth/callback' })
    await expect(provider.login(late.url.href)).rejects.toThrow(/invalid_redirect_uri/)
    provider.registerApp('http://localhost:3999')
    expect((await authorizationResponse(late.url)).get('code')).toEqual(expect.any(String))
  } finally {
    provider.settings.allowLoopbackRedirects = true
  }
})

test('a wrong PKCE verifier and a used code are rejected', async () => {
  const { url, checks } = await app.authorize()
  const { location } = await provider.login(url.href)
  const back = new URL(location ?? '')
  const wrong = { ...checks, pkceCodeVerifier: client.randomPKCECodeVerifier() }
  expect(await oauthError(client.authorizationCodeGrant(app.config, back, wrong))).toBe('invalid_grant')
  await client.authorizationCodeGrant(app.config, back, checks)
  expect(await oauthError(client.authorizationCodeGrant(app.config, back, checks))).toBe('invalid_grant')
})
