import * as client from 'openid-client'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { DevProvider, Endpoint, Failure } from '../src/index.ts'
import { startDevProvider } from '../src/index.ts'
import type { RelyingParty } from './relying-party.ts'
import { CALLBACK, oauthError, relyingParty } from './relying-party.ts'

let provider: DevProvider
let app: RelyingParty
let lines: string[] = []
beforeAll(async () => {
  provider = await startDevProvider({ allowLoopbackRedirects: false, log: (line) => lines.push(line) })
  provider.registerApp('http://localhost:3000')
  app = await relyingParty(provider)
})
beforeEach(() => {
  lines = []
  provider.clearRequests()
})
afterEach(() => provider.faults.clear())
afterAll(() => provider.stop())

/** Returns the failure of the latest request to an endpoint that failed. */
function latest(endpoint: Endpoint): Failure | undefined {
  return provider.requests(endpoint).findLast(({ failure }) => failure !== undefined)?.failure
}

async function html(url: string): Promise<string> {
  const page = await provider.visit(url)
  if (page.kind !== 'page') throw new Error('expected a page')
  return page.html
}

const overview = (): Promise<string> => html(`${provider.issuer}/dev`)

/** Expects the failure in the request log, on `/dev` and in the log line. */
async function expectShown(endpoint: Endpoint, error: string, reason: RegExp): Promise<void> {
  const failure = latest(endpoint)
  expect(failure).toEqual({ error, reason: expect.stringMatching(reason) })
  const shown = (failure?.reason ?? '').replaceAll('"', '&quot;').replaceAll("'", '&#39;')
  expect(await overview()).toContain(`<b>${error}</b><br>${shown}`)
  expect(lines).toContainEqual(expect.stringContaining(`${error}: ${failure?.reason}`))
}

describe('[J9] the request log contains why a request was rejected', () => {
  test('a wrong client secret', async () => {
    const wrong = await relyingParty(provider, { auth: client.ClientSecretPost('wrong') })
    const { url, checks } = await wrong.authorize()
    const { location } = await provider.login(url.href)
    await oauthError(client.authorizationCodeGrant(wrong.config, new URL(location ?? ''), checks))
    await expectShown('token', 'invalid_client', /invalid secret provided/)
  })

  test('an unknown client', async () => {
    const unknown = await relyingParty(provider, { clientId: 'nobody' })
    const { url } = await unknown.authorize()
    await expect(provider.login(url.href)).rejects.toThrow(/invalid_client/)
    await expectShown(
      'authorize',
      'invalid_client',
      /^There is no client with this id\. Registered: dev-app, /,
    )
  })

  test('a code that was used before, a refresh token that was used before', async () => {
    const { url, checks } = await app.authorize()
    const { location } = await provider.login(url.href)
    const back = new URL(location ?? '')
    const tokens = await client.authorizationCodeGrant(app.config, back, checks)
    await oauthError(client.authorizationCodeGrant(app.config, back, checks))
    await expectShown('token', 'invalid_grant', /authorization code already consumed/)
    await oauthError(app.refresh(tokens))
    expect(latest('token')?.reason).toMatch(/refresh token not found|grant not found/)
  })

  test('[N9] an API that is not registered, a denied login, a login without a session', async () => {
    const tokens = await app.logIn()
    await oauthError(app.refresh(tokens, { audience: 'https://unknown.example/' }))
    const known =
      /Registered: .*, https:\/\/api\.example\.test\/, .*Add it with --api on the command line, addApi\(\)/
    await expectShown('token', 'invalid_target', known)
    const unknown = await app.authorize({ audience: 'https://unknown.example/' })
    const { location } = await provider.login(unknown.url.href)
    expect(new URL(location ?? '').searchParams.get('error_description')).toMatch(known)
    await expectShown('authorize', 'invalid_target', known)
    const { url } = await app.authorize()
    await provider.login(url.href, { deny: true })
    await expectShown('authorize', 'access_denied', /The user denied the request/)
    const silent = await app.authorize({ prompt: 'none' })
    await provider.login(silent.url.href)
    await expectShown('authorize', 'login_required', /End-User authentication is required/)
  })

  test('userinfo with an unknown token', async () => {
    await fetch(`${provider.issuer}/userinfo`, { headers: { authorization: 'Bearer unknown' } })
    await expectShown('userinfo', 'invalid_token', /access token not found/)
  })

  test('a pushed request with an unregistered callback', async () => {
    const { url } = await app.authorize({ redirect_uri: 'http://localhost:3999/auth/callback' })
    await oauthError(client.buildAuthorizationUrlWithPAR(app.config, url.searchParams))
    await expectShown('par', 'invalid_request', /redirect URI http:\/\/localhost:3999\/auth\/callback is not/)
  })

  test('the MFA API and the account API', async () => {
    const headers = { authorization: 'Bearer unknown' }
    await fetch(`${provider.issuer}/mfa/authenticators`, { headers })
    await expectShown('mfa-authenticators', 'invalid_token', /./)
    await fetch(`${provider.origin}/me/v1/connected-accounts/accounts`, { headers })
    await expectShown('account-list', 'Unauthorized', /./)
  })

  test('a fault that a test has set', async () => {
    provider.faults.set('jwks', { kind: 'respond', status: 503 })
    await fetch(`${provider.issuer}/.well-known/jwks.json`)
    expect(latest('jwks')?.error).toBe('fault: respond')
    expect(await overview()).toContain('<b>fault: respond</b>')
  })

  test('parameters of a client are escaped', async () => {
    const { url } = await app.authorize({ redirect_uri: 'http://localhost:3000/<script>alert(1)</script>' })
    expect(await html(url.href)).not.toContain('<script')
    expect(await overview()).not.toContain('<script')
    expect(await overview()).toContain('&lt;script&gt;')
  })

  test('requests that succeed have no failure, and those of the overview are not listed', async () => {
    await app.logIn()
    expect(provider.requests().filter(({ failure }) => failure)).toEqual([])
    await overview()
    expect(await overview()).not.toContain('GET /dev<')
  })
})

describe('[J6] with registered addresses only', () => {
  test('a login with another callback URL ends on a page that names it and the registered ones', async () => {
    const { url } = await app.authorize({ redirect_uri: 'http://127.0.0.1:3000/auth/callback' })
    const page = await html(url.href)
    expect(page).toContain('The redirect URI http://127.0.0.1:3000/auth/callback is not registered.')
    expect(page).toContain(`Registered: ${CALLBACK}.`)
    expect(page).toContain('--app and --callback on the command line')
    expect(page).toContain('href="/dev"')
    expect(latest('authorize')?.error).toBe('invalid_redirect_uri')
    expect(await overview()).toContain('Only the registered addresses are accepted.')
  })

  test('a logout with another URL ends on such a page too, at both endpoints', async () => {
    const standard = client.buildEndSessionUrl(app.config, {
      post_logout_redirect_uri: 'http://localhost:3000/bye',
    })
    const refused = await html(standard.href)
    expect(refused).toContain('http://localhost:3000/bye is not registered.')
    expect(refused).toContain('--logout-url on the command line')
    const vendor = new URLSearchParams({
      client_id: provider.clientId,
      returnTo: 'http://localhost:3000/bye',
    })
    expect(await html(`${provider.issuer}/v2/logout?${vendor}`)).toContain('http://localhost:3000/bye')
    expect(latest('v2Logout')?.error).toBe('invalid_request')
    provider.registerApp('http://localhost:3000', { logoutUrls: ['/bye'] })
    expect(await provider.visit(standard.href)).toMatchObject({ kind: 'redirect' })
  })
})
