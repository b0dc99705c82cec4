import { readFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { decodeProtectedHeader } from 'jose'
import * as client from 'openid-client'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { DevProvider, DevProviderOptions } from '../src/index.ts'
import { startDevProvider } from '../src/index.ts'
import { CALLBACK, oauthError, relyingParty } from './relying-party.ts'

const running: DevProvider[] = []

async function start(options?: DevProviderOptions): Promise<DevProvider> {
  const provider = await startDevProvider(options)
  running.push(provider)
  return provider
}
afterEach(async () => {
  await Promise.all(running.splice(0).map((provider) => provider.stop()))
})

describe('the keys', () => {
  const kids = (provider: DevProvider) => provider.jwks().keys.map(({ kid }) => kid)
  const modulus = (provider: DevProvider) => provider.jwks().keys.find(({ alg }) => alg === 'RS256')?.n

  test('of two running providers differ; an RSA key of a stopped provider gets a new key id', async () => {
    const [first, second] = [await startDevProvider(), await startDevProvider()]
    expect(modulus(first)).not.toBe(modulus(second))
    await Promise.all([first.stop(), first.stop(), second.stop()])
    const next = [await start(), await start(), await start()]
    expect(new Set(next.map(modulus)).size).toBe(3)
    for (const provider of next) {
      for (const kid of kids(provider)) expect([...kids(first), ...kids(second)]).not.toContain(kid)
    }
  })
})

describe('the issuer', () => {
  test('may have a path, below which everything is', async () => {
    const provider = await start({ path: '/tenant-a' })
    expect(provider.issuer).toBe(`http://localhost:${provider.port}/tenant-a`)
    const app = await relyingParty(provider)
    for (const [name, value] of Object.entries(app.config.serverMetadata())) {
      if (name.endsWith('_endpoint') || name === 'jwks_uri') {
        expect(value, name).toMatch(new RegExp(`^${provider.issuer}/`))
      }
    }
    const tokens = await app.logIn()
    await client.fetchUserInfo(app.config, tokens.access_token, 'dev|alice')
    const logout = client.buildEndSessionUrl(app.config, { post_logout_redirect_uri: CALLBACK })
    expect(await provider.visit(logout.href)).toMatchObject({ kind: 'redirect' })
    expect((await fetch(`${provider.origin}/v2/logout`)).status).toBe(200)
    expect((await fetch(`${provider.origin}/.well-known/openid-configuration`)).status).toBe(404)
  })

  test('may be another host on loopback, but nothing else', async () => {
    const provider = await start({ host: '127.0.0.1' })
    expect(provider.issuer).toBe(`http://127.0.0.1:${provider.port}`)
    const app = await relyingParty(provider)
    expect((await app.logIn()).claims()?.iss).toBe(provider.issuer)
    await expect(startDevProvider({ host: '0.0.0.0' })).rejects.toThrow(/loopback/)
    await expect(startDevProvider({ port: provider.port, host: '127.0.0.1' })).rejects.toThrow(/in use/)
    await expect(startDevProvider({ path: 'tenant' })).rejects.toThrow(/path must look like/)
  })

  test('is reachable by no other name', async () => {
    const provider = await start()
    const response = await fetch(`http://127.0.0.1:${provider.port}/dev`)
    expect(response.status).toBe(200)
    const status = await new Promise<number | undefined>((resolve, reject) => {
      httpRequest(
        `http://127.0.0.1:${provider.port}/dev`,
        { headers: { host: 'evil.example' } },
        (received) => {
          received.resume()
          resolve(received.statusCode)
        },
      )
        .once('error', reject)
        .end()
    })
    expect(status).toBe(421)
  })
})

test('https is trusted with the CA of this run', async () => {
  const provider = await start({ https: true, apps: ['https://localhost:3000'] })
  expect(provider.issuer).toBe(`https://localhost:${provider.port}`)
  expect(await readFile(provider.caPath ?? '', 'utf8')).toBe(provider.ca)
  expect(provider.env['NODE_EXTRA_CA_CERTS']).toBe(provider.caPath)
  await expect(fetch(provider.issuer)).rejects.toThrow()
  const get = (url: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      httpsRequest(url, { ca: provider.ca ?? '' }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .once('error', reject)
        .end()
    })
  const discovery = '/.well-known/openid-configuration'
  expect(await get(provider.issuer + discovery)).toBe(200)
  expect(await get(`https://127.0.0.1:${provider.port}${discovery}`)).toBe(200)
  const authorize = new URLSearchParams({
    client_id: provider.clientId,
    redirect_uri: 'https://localhost:3000/auth/callback',
    response_type: 'code',
    scope: 'openid',
  })
  const jar = provider.createJar()
  const { location } = await provider.login(`${provider.issuer}/authorize?${authorize}`, { jar })
  expect(location).toMatch(/^https:\/\/localhost:3000\/auth\/callback\?code=/)
  expect(jar.names(provider.issuer)).toContain(`dev_idp_session_${provider.port}`)
  expect(jar.names(provider.issuer.replace('https:', 'http:'))).toEqual([])
})

test('its time can be moved, and only its own', async () => {
  const provider = await start()
  const other = await start()
  const before = Date.now()
  provider.clock.advance(10_000)
  expect(provider.clock.now() - Math.floor(before / 1000)).toBeGreaterThanOrEqual(10_000)
  expect(Math.abs(Date.now() - before)).toBeLessThan(60_000)
  expect(Math.abs(other.clock.now() - before / 1000)).toBeLessThan(60)

  const app = await relyingParty(provider)
  const { url, checks } = await app.authorize({ max_age: '3600' })
  const { location } = await provider.login(url.href)
  const later = new client.Configuration(
    app.config.serverMetadata(),
    provider.clientId,
    { [client.clockSkew]: 10_000 },
    client.ClientSecretPost(provider.clientSecret ?? ''),
  )
  client.allowInsecureRequests(later)
  const tokens = await client.authorizationCodeGrant(later, new URL(location ?? ''), checks)
  const claims = tokens.claims()
  expect((claims?.iat ?? 0) - before / 1000).toBeGreaterThan(9_990)
  expect(claims?.auth_time).toBeGreaterThanOrEqual((claims?.iat ?? 0) - 60)
  const elsewhere = await relyingParty(other)
  expect(Math.abs(((await elsewhere.logIn()).claims()?.iat ?? 0) - before / 1000)).toBeLessThan(60)

  const late = await elsewhere.authorize()
  const callback = await other.login(late.url.href)
  other.clock.advance(61)
  const expired = client.authorizationCodeGrant(
    elsewhere.config,
    new URL(callback.location ?? ''),
    late.checks,
  )
  expect(await oauthError(expired)).toBe('invalid_grant')
  other.clock.set(1_700_000_000)
  expect(other.clock.now() - 1_700_000_000).toBeLessThan(60)
})

test('a provider uses the clock that it was started with', async () => {
  let now = 1_900_000_000
  const provider = await startDevProvider({ clock: () => now })
  expect(provider.clock.now()).toBe(now)
  now += 10
  provider.clock.advance(5)
  expect(provider.clock.now()).toBe(now + 5)
  provider.clock.reset()
  expect(provider.clock.now()).toBe(now)
  await provider.stop()
})

test('[N6] the Date header of every response follows the clock', async () => {
  let now = 1_700_000_000
  const provider = await start({ clock: () => now })
  const date = async (path: string): Promise<number> => {
    const response = await fetch(provider.issuer + path, { method: 'POST' })
    await response.arrayBuffer()
    return Date.parse(response.headers.get('date') ?? '') / 1000
  }
  for (const path of ['/.well-known/openid-configuration', '/oauth/token', '/dev', '/elsewhere']) {
    now += 3600
    expect([path, await date(path)]).toEqual([path, now])
  }
  provider.clock.advance(-86_400)
  for (const fault of [{ kind: 'respond' }, { kind: 'slowHeaders', ms: 0 }, { kind: 'truncate' }] as const) {
    provider.faults.set('token', fault, { times: 1 })
    expect([fault, await date('/oauth/token')]).toEqual([fault, now - 86_400])
  }
  provider.faults.set('token', { kind: 'respond', headers: { date: new Date(0).toUTCString() } })
  expect(await date('/oauth/token')).toBe(0)
})

test('the shim of Date is removed when no provider moves the time any more', async () => {
  const real = Date
  const provider = await startDevProvider()
  expect(Date).toBe(real)
  provider.clock.advance(5)
  expect(new Date() instanceof Date).toBe(true)
  await provider.stop()
  expect(Date).toBe(real)
  await provider.stop()
})

test('keys rotate, at once or with the old ones still published', async () => {
  const provider = await start()
  const app = await relyingParty(provider)
  const kid = (tokens: { id_token?: string | undefined }): string | undefined =>
    decodeProtectedHeader(tokens.id_token ?? '').kid
  const kids = (): (string | undefined)[] => provider.jwks().keys.map((key) => key.kid)
  const jar = provider.createJar()
  const first = await app.logIn({}, { jar })
  expect(kids()).toContain(kid(first))

  await provider.rotateKeys({ keepOld: true })
  expect(kids()).toHaveLength(8)
  expect(kids()).toContain(kid(first))
  const published: unknown = await (await fetch(`${provider.issuer}/.well-known/jwks.json`)).json()
  expect(published).toMatchObject({
    keys: provider.jwks().keys.map((key) => ({ kid: key.kid, alg: key.alg })),
  })
  expect(JSON.stringify(published)).not.toContain('"d":')

  await provider.rotateKeys()
  expect(kids()).toHaveLength(4)
  expect(kids()).not.toContain(kid(first))
  const fresh = await relyingParty(provider)
  const second = await fresh.logIn({ prompt: 'none' }, { jar })
  expect(kids()).toContain(kid(second))
  await fresh.refresh(first)
})

test.each(['RS256', 'ES256', 'PS256', 'EdDSA'] as const)('signs ID tokens with %s', async (alg) => {
  const provider = await start({ idTokenSigningAlg: alg })
  const config = await client.discovery(
    new URL(provider.issuer),
    provider.clientId,
    { client_secret: provider.clientSecret ?? '', id_token_signed_response_alg: alg },
    undefined,
    { execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks] },
  )
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    scope: 'openid',
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  const { location } = await provider.login(url.href)
  const tokens = await client.authorizationCodeGrant(config, new URL(location ?? ''), { pkceCodeVerifier })
  expect(decodeProtectedHeader(tokens.id_token ?? '').alg).toBe(alg)
})

test('two providers in one process share nothing', async () => {
  const [one, other] = await Promise.all([start(), start({ users: [{ name: 'dave' }] })])
  const first = await relyingParty(one)
  const second = await relyingParty(other)
  const jar = one.createJar()
  const tokens = await first.logIn({}, { jar })
  expect(await oauthError(second.refresh(tokens))).toBe('invalid_grant')
  const silent = await second.authorize({ prompt: 'none' })
  const { location } = await other.login(silent.url.href, { jar })
  expect(new URL(location ?? '').searchParams.get('error')).toBe('login_required')
  expect(one.jwks().keys.map((key) => key.kid)).not.toEqual(other.jwks().keys.map((key) => key.kid))
  expect(one.users().map((user) => user.name)).not.toContain('dave')
  one.faults.set('token', { kind: 'empty' })
  await second.logIn({}, { user: 'dave' })
  expect(one.count('token')).toBe(1)
})

test('users and clients can be added while it runs, custom claims included', async () => {
  const provider = await start()
  const app = await relyingParty(provider)
  await provider.addUser({ name: 'erin', sub: 'custom|1', claims: { 'https://example.test/role': 'admin' } })
  expect((await app.logIn({}, { user: 'erin' })).claims()).toMatchObject({
    sub: 'custom|1',
    'https://example.test/role': 'admin',
  })
  const added = await provider.addClient({ clientId: 'late', apps: ['https://late.example'] })
  const late = await relyingParty(provider, {
    clientId: 'late',
    auth: client.ClientSecretBasic(added.clientSecret ?? ''),
  })
  const tokens = await late.logIn({ redirect_uri: 'http://localhost:3000/auth/callback' })
  expect(tokens.claims()?.aud).toBe('late')
})

test('env contains the variables of an application', async () => {
  const provider = await start({ apps: ['http://localhost:3000', 'http://localhost:3001'] })
  expect(provider.env).toEqual({
    IDP_DOMAIN: provider.issuer,
    IDP_CLIENT_ID: provider.clientId,
    IDP_CLIENT_SECRET: provider.clientSecret,
    IDP_SECRET: expect.stringMatching(/^[\da-f]{64}$/),
    APP_BASE_URL: 'http://localhost:3000',
  })
  const other = await start()
  expect(other.env['IDP_SECRET']).not.toBe(provider.env['IDP_SECRET'])
})

test('it prints nothing', async () => {
  const methods = ['log', 'info', 'warn', 'error'] as const
  const spies = methods.map((method) => vi.spyOn(console, method).mockImplementation(() => {}))
  const provider = await start()
  await (await relyingParty(provider)).logIn()
  expect(spies.flatMap((spy) => spy.mock.calls)).toEqual([])
  for (const spy of spies) spy.mockRestore()
})
