import { createHash } from 'node:crypto'
import * as client from 'openid-client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DevProvider } from '../src/index.ts'
import { startDevProvider } from '../src/index.ts'
import { readSettings } from '../src/options.ts'
import type { RelyingParty, Tokens } from './relying-party.ts'
import { relyingParty } from './relying-party.ts'

const RETURN_TO = 'http://localhost:3000/bye?x=1'

let provider: DevProvider
let app: RelyingParty
beforeEach(async () => {
  provider = await startDevProvider()
  app = await relyingParty(provider)
})
afterEach(() => provider.stop())

const unescaped = (text: string): string => text.replaceAll('&amp;', '&')

/** The addresses of the iframes on the page after a logout, and where it continues. */
async function visited(url: string, jar: ReturnType<DevProvider['createJar']>) {
  const result = await provider.visit(url, { jar })
  if (result.kind !== 'page') return { kind: result.kind, frames: [], next: undefined, html: '' }
  const frames = [...result.html.matchAll(/<iframe [^>]*data-src="([^"]+)"/g)]
  const [, next] = /id="next" href="([^"]+)"/.exec(result.html) ?? []
  return {
    kind: result.kind,
    frames: frames.map(([, src = '']) => unescaped(src)),
    next: next && unescaped(next),
    html: result.html,
  }
}

function logoutUrl(tokens: Tokens): string {
  return client.buildEndSessionUrl(app.config, {
    id_token_hint: tokens.id_token ?? '',
    post_logout_redirect_uri: RETURN_TO,
    state: 'there',
  }).href
}

const v2Url = (): string =>
  `${provider.origin}/v2/logout?${new URLSearchParams({ client_id: provider.clientId, returnTo: RETURN_TO })}`

describe('the page after a logout', () => {
  test.each(['RP-initiated logout', '/v2/logout'])(
    '%s loads every registered address, and returns',
    async (kind) => {
      provider.registerApp('http://localhost:3000', { frontChannelLogout: true })
      provider.registerApp('http://localhost:3001/second', { frontChannelLogout: '/bye?tenant=1' })
      const jar = provider.createJar()
      const tokens = await app.logIn({}, { jar })
      const isV2 = kind === '/v2/logout'
      const page = await visited(isV2 ? v2Url() : logoutUrl(tokens), jar)
      const named = new URLSearchParams({ iss: provider.issuer, sid: String(tokens.claims()?.['sid']) })
      expect(page.frames).toEqual([
        `http://localhost:3000/auth/frontchannel-logout?${named}`,
        `http://localhost:3001/second/bye?tenant=1&${named}`,
      ])
      expect(page.next).toBe(isV2 ? RETURN_TO : `${RETURN_TO}&state=there`)
      const silent = await app.authorize({ prompt: 'none' })
      const { location } = await provider.login(silent.url.href, { jar })
      expect(new URL(location ?? '').searchParams.get('error')).toBe('login_required')
    },
  )

  test('runs only its own script', async () => {
    provider.registerApp('http://localhost:3000', { frontChannelLogout: true })
    const jar = provider.createJar()
    await app.logIn({}, { jar })
    const response = await fetch(v2Url(), {
      headers: { cookie: jar.header(v2Url()) },
      redirect: 'manual',
    })
    const script = /<script>([\s\S]*)<\/script>/.exec(await response.text())?.[1] ?? ''
    const hash = createHash('sha256').update(script).digest('base64')
    expect([response.status, response.headers.get('content-security-policy')]).toEqual([
      200,
      `script-src 'sha256-${hash}'`,
    ])
    expect(response.headers.getSetCookie().length).toBeGreaterThan(0)
  })

  test('only addresses of applications that took part in the session are loaded', async () => {
    const other = await provider.addClient()
    provider.registerApp('http://localhost:3001', { clientId: other.clientId, frontChannelLogout: true })
    const jar = provider.createJar()
    const tokens = await app.logIn({}, { jar })
    expect(await visited(logoutUrl(tokens), jar)).toMatchObject({ kind: 'redirect', frames: [] })
  })

  test('without a session, and for a rejected logout, there are no iframes', async () => {
    provider.registerApp('http://localhost:3000', { frontChannelLogout: true })
    expect(await visited(v2Url(), provider.createJar())).toMatchObject({ kind: 'redirect' })
    const jar = provider.createJar()
    await app.logIn({}, { jar })
    const rejected = v2Url().replace('localhost%3A3000', 'elsewhere.example')
    expect(await visited(rejected, jar)).toMatchObject({ kind: 'page', frames: [], next: undefined })
  })
})

describe('frontChannelParameters', () => {
  test.each([
    ['iss-and-sid', ['iss', 'sid'], true],
    ['sid', ['sid'], false],
    ['none', [], false],
  ] as const)(
    '%s: the iframes have %j, and the metadata says so',
    async (setting, names, sessionSupported) => {
      provider.settings.frontChannelParameters = setting
      provider.registerApp('http://localhost:3000', { frontChannelLogout: true })
      const fresh = await relyingParty(provider)
      const jar = provider.createJar()
      const tokens = await fresh.logIn({}, { jar })
      const { frames } = await visited(logoutUrl(tokens), jar)
      expect(frames.map((frame) => [...new URL(frame).searchParams.keys()])).toEqual([names])
      expect(fresh.config.serverMetadata()).toMatchObject({
        frontchannel_logout_supported: true,
        frontchannel_logout_session_supported: sessionSupported,
      })
    },
  )
})

describe('sessionExpiry', () => {
  test('no claim by default', async () => {
    expect((await app.logIn()).claims()).not.toHaveProperty('session_expiry')
  })

  test.each([3600, 0, -60])('%d: seconds after the login, also in a refreshed ID token', async (seconds) => {
    provider.settings.sessionExpiry = seconds
    const tokens = await app.logIn({ max_age: '600' })
    const {
      auth_time: authTime = 0,
      session_expiry: expiry,
    }: { auth_time?: number; session_expiry?: unknown } = tokens.claims() ?? {}
    expect(expiry).toBe(authTime + seconds)
    provider.clock.advance(30)
    provider.settings.idTokenTtl = 7200
    const { id_token: refreshed = '' } = await app.refresh(tokens)
    const claims = JSON.parse(Buffer.from(refreshed.split('.')[1] ?? '', 'base64url').toString())
    expect(claims.session_expiry).toBe(authTime + seconds)
  })

  test('is a setting of the command line', () => {
    const read = (text: string): unknown => readSettings([`sessionExpiry=${text}`]).sessionExpiry
    expect([read('3600'), read('-60'), read('tomorrow'), read('1.5'), read('false')]).toEqual([
      3600,
      -60,
      'tomorrow',
      '1.5',
      false,
    ])
  })

  test('a text is sent as it is, and UserInfo has no such claim', async () => {
    provider.settings.sessionExpiry = 'tomorrow'
    const tokens = await app.logIn()
    expect(tokens.claims()?.['session_expiry']).toBe('tomorrow')
    const info = await client.fetchUserInfo(app.config, tokens.access_token, client.skipSubjectCheck)
    expect(info).not.toHaveProperty('session_expiry')
  })
})
