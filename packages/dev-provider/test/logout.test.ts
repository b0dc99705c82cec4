import type { Server } from 'node:http'
import { createServer } from 'node:http'
import { createLocalJWKSet, jwtVerify } from 'jose'
import * as client from 'openid-client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DevProvider } from '../src/index.ts'
import { startDevProvider } from '../src/index.ts'
import type { RelyingParty } from './relying-party.ts'
import { relyingParty } from './relying-party.ts'

let provider: DevProvider
let app: RelyingParty
let server: Server
let base: string
let posted: { path: string; body: string }[]

beforeEach(async () => {
  provider = await startDevProvider()
  app = await relyingParty(provider)
  posted = []
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.once('end', () => {
      posted.push({ path: request.url ?? '', body: Buffer.concat(chunks).toString() })
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  base = `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await provider.stop()
})

async function postedClaims(index = 0): Promise<Record<string, unknown>> {
  const token = new URLSearchParams(posted[index]?.body).get('logout_token') ?? ''
  const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(provider.jwks()), {
    issuer: provider.issuer,
    audience: provider.clientId,
  })
  expect(protectedHeader.typ).toBe('logout+jwt')
  return payload
}

describe('RP-initiated logout', () => {
  test('ends the session without a question, returns with state, and notifies every application', async () => {
    provider.registerApp(base, { backChannelLogout: true })
    provider.registerApp(`${base}/second`, { backChannelLogout: '/bye' })
    const jar = provider.createJar()
    const tokens = await app.logIn({}, { jar })
    const url = client.buildEndSessionUrl(app.config, {
      id_token_hint: tokens.id_token ?? '',
      post_logout_redirect_uri: 'http://localhost:3000/bye?x=1',
      state: 'there',
      logout_hint: String(tokens.claims()?.['sid']),
    })
    expect(await provider.visit(url.href, { jar })).toEqual({
      kind: 'redirect',
      location: 'http://localhost:3000/bye?x=1&state=there',
    })
    expect(posted.map(({ path }) => path).sort()).toEqual(['/auth/backchannel-logout', '/second/bye'])
    expect(await postedClaims()).toMatchObject({
      sub: 'dev|alice',
      sid: tokens.claims()?.['sid'],
      jti: expect.any(String),
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    })
    expect(provider.logoutNotices().map(({ status }) => status)).toEqual([200, 200])
    const silent = await app.authorize({ prompt: 'none' })
    const { location } = await provider.login(silent.url.href, { jar })
    expect(new URL(location ?? '').searchParams.get('error')).toBe('login_required')
    await app.refresh(tokens)
  })

  test('works with a client id alone, and without a session', async () => {
    const url = client.buildEndSessionUrl(app.config, {
      post_logout_redirect_uri: 'http://localhost:3000',
    })
    expect(url.searchParams.get('client_id')).toBe(provider.clientId)
    expect(await provider.visit(url.href)).toMatchObject({ kind: 'redirect' })
    const bare = await provider.visit(`${provider.issuer}/oidc/logout`)
    expect(bare).toMatchObject({ kind: 'page', status: 200 })
    expect(bare.kind === 'page' && bare.html).toContain('You are signed out.')
  })

  test('does not redirect to unregistered URLs', async () => {
    const url = client.buildEndSessionUrl(app.config, {
      post_logout_redirect_uri: 'https://elsewhere.example/',
    })
    expect(await provider.visit(url.href)).toMatchObject({ kind: 'page', status: 400 })
  })
})

describe('/v2/logout', () => {
  const v2 = (parameters: Record<string, string>): string =>
    `${provider.origin}/v2/logout?${new URLSearchParams(parameters)}`

  test('ends the session, notifies, and returns', async () => {
    provider.registerApp(base, { backChannelLogout: true })
    const jar = provider.createJar()
    const tokens = await app.logIn({}, { jar })
    const visited = await provider.visit(
      v2({ client_id: provider.clientId, returnTo: 'http://localhost:3000/x?y=1', federated: '' }),
      { jar },
    )
    expect(visited).toEqual({ kind: 'redirect', location: 'http://localhost:3000/x?y=1' })
    expect(await postedClaims()).toMatchObject({ sub: 'dev|alice', sid: tokens.claims()?.['sid'] })
    const silent = await app.authorize({ prompt: 'none' })
    const { location } = await provider.login(silent.url.href, { jar })
    expect(new URL(location ?? '').searchParams.get('error')).toBe('login_required')
  })

  test('redirects only to URLs of the allow-list, which may have wildcards', async () => {
    const { clientId } = await provider.addClient({
      postLogoutRedirectUris: ['https://*.shop.example/*', 'https://fixed.example/bye'],
    })
    const allowed = async (returnTo: string): Promise<string> =>
      (await provider.visit(v2({ client_id: clientId, returnTo }))).kind
    expect(await allowed('https://de.shop.example/bye')).toBe('redirect')
    expect(await allowed('https://fixed.example/bye')).toBe('redirect')
    expect(await allowed('https://fixed.example/bye/more')).toBe('page')
    expect(await allowed('https://evil.example/?x=.shop.example/')).toBe('page')
    expect(await allowed('javascript:alert(1)')).toBe('page')
    expect(await provider.visit(v2({ client_id: 'nobody' }))).toMatchObject({ status: 400 })
  })

  test('stays if no end_session_endpoint is advertised', async () => {
    const bare = await startDevProvider({ endSession: false })
    try {
      const metadata: unknown = await (await fetch(`${bare.issuer}/.well-known/openid-configuration`)).json()
      expect(metadata).not.toHaveProperty('end_session_endpoint')
      expect((await fetch(`${bare.issuer}/oidc/logout`)).status).toBe(404)
      expect((await fetch(`${bare.origin}/v2/logout`)).status).toBe(200)
    } finally {
      await bare.stop()
    }
  })
})

test('an administrator can end sessions, and an unreachable application delays no one', async () => {
  provider.registerApp('http://127.0.0.1:1', { backChannelLogout: true })
  provider.registerApp(base, { backChannelLogout: true })
  await app.logIn({}, { jar: provider.createJar() })
  await app.logIn({}, { jar: provider.createJar(), user: 'bob' })
  await provider.endSessions('bob')
  expect(posted).toHaveLength(1)
  expect(await postedClaims()).toMatchObject({ sub: 'dev|bob' })
  expect(
    provider
      .logoutNotices()
      .map((notice) => notice.status ?? 'not reached')
      .sort(),
  ).toEqual([200, 'not reached'])
  await expect(provider.endSessions('nobody')).rejects.toThrow(/no user/)
})

test('[A5] an application without back-channel logout gets no logout tokens', async () => {
  provider.registerApp(base)
  const jar = provider.createJar()
  const tokens = await app.logIn({}, { jar })
  const url = client.buildEndSessionUrl(app.config, { id_token_hint: tokens.id_token ?? '' })
  await provider.visit(url.href, { jar })
  await app.logIn({}, { jar })
  await provider.endSessions('alice')
  expect([posted, provider.logoutNotices()]).toEqual([[], []])
})

test('logout tokens can be created manually, valid and invalid', async () => {
  const keys = createLocalJWKSet(provider.jwks())
  const right = await jwtVerify(await provider.logoutToken({ sid: 's1' }), keys)
  expect(right.payload).toMatchObject({ sid: 's1', aud: provider.clientId, iss: provider.issuer })
  const wrong = await provider.logoutToken(
    { sub: 'dev|alice' },
    {
      change: (claims) => {
        claims['nonce'] = 'n'
      },
      sign: { alg: 'ES256', header: { typ: 'JWT' } },
    },
  )
  const { payload, protectedHeader } = await jwtVerify(wrong, keys)
  expect([payload['nonce'], protectedHeader.alg, protectedHeader.typ]).toEqual(['n', 'ES256', 'JWT'])
})
