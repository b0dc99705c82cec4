import { startDevProvider } from 'idp-dev-provider'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { IdpClientOptions } from '../../src/index.ts'
import type { World } from '../support/app.ts'
import { APP, startWorld } from '../support/app.ts'

let world: World
let plain: World
beforeAll(async () => {
  world = await startWorld()
  plain = await startWorld({}, { endSession: false })
})
afterAll(async () => {
  await world.provider.stop()
  await plain.provider.stop()
})
beforeEach(() => {
  world.events.length = 0
  world.provider.faults.clear()
})

async function logout(on: World, options: IdpClientOptions, query = '') {
  const { browser, client } = on.another(options)
  await on.login(browser)
  await on.begin(browser)
  const session = await client.getSession(browser.request('/'))
  const response = await browser.send(`/auth/logout${query}`)
  const location = new URL(response.headers.get('location') ?? '')
  expect(response.status).toBe(302)
  expect(response.headers.get('cache-control')).toContain('no-store')
  expect([...browser.cookies.keys()]).toEqual(['__session__ended'])
  expect(await client.getSession(browser.request('/'))).toBeNull()
  return {
    at: location.origin + location.pathname,
    query: Object.fromEntries(location.searchParams),
    idToken: session?.tokenSet.idToken,
    sid: session?.internal.sid,
    href: location.href,
  }
}

describe('RP-initiated logout', () => {
  test.each(['auto', 'oidc'] as const)(
    '[S054,S122,S124,S128] %s: exactly these parameters, with the hint',
    async (logoutStrategy) => {
      const { at, query, idToken, sid } = await logout(world, { logoutStrategy })
      expect(at).toBe(`${world.provider.issuer}/oidc/logout`)
      expect(query).toEqual({
        client_id: world.provider.clientId,
        post_logout_redirect_uri: APP,
        logout_hint: sid,
        id_token_hint: idToken,
      })
    },
  )

  test('[S129] without the hint: only logout_hint, client_id and post_logout_redirect_uri', async () => {
    const { query, sid } = await logout(world, { includeIdTokenHintInOIDCLogoutUrl: false })
    expect(query).toEqual({
      client_id: world.provider.clientId,
      post_logout_redirect_uri: APP,
      logout_hint: sid,
    })
  })

  test('state and federated of the query are sent, and returnTo becomes absolute', async () => {
    const { query } = await logout(world, {}, '?state=abc&federated&returnTo=/bye%3Fa%3Db')
    expect(query).toMatchObject({ state: 'abc', federated: '', post_logout_redirect_uri: `${APP}/bye?a=b` })
    const off = await logout(
      world,
      { includeIdTokenHintInOIDCLogoutUrl: false },
      '?federated=false&returnTo=https://site.example/x',
    )
    expect(off.query).not.toHaveProperty('federated')
    expect(off.query['post_logout_redirect_uri']).toBe('https://site.example/x')
  })

  test.each(['https://site.example', 'https://Site.example:443/out?a=b', APP])(
    '[S127] an absolute returnTo is sent as given, since providers compare it as a string: %s',
    async (returnTo) => {
      const query = `?returnTo=${encodeURIComponent(returnTo)}`
      expect((await logout(world, {}, query)).query['post_logout_redirect_uri']).toBe(returnTo)
      expect((await logout(world, { logoutStrategy: 'v2' }, query)).query['returnTo']).toBe(returnTo)
    },
  )

  test('an absolute returnTo that URL parsers read in several ways is normalized', async () => {
    for (const given of [
      'https:\\\\site.example\\x',
      'https:\t//site.example/x',
      'https:///site.example/x',
    ]) {
      const { query } = await logout(world, {}, `?returnTo=${encodeURIComponent(given)}`)
      expect(query['post_logout_redirect_uri']).toBe('https://site.example/x')
    }
  })

  test('ends the session at the provider: the next login asks for credentials', async () => {
    const jar = world.provider.createJar()
    const browser = world.newBrowser()
    await world.login(browser, '', { user: 'alice', jar })
    const response = await browser.send('/auth/logout')
    await world.provider.visit(response.headers.get('location') ?? '', { jar, submit: { logout: 'yes' } })
    const again = await world.authorize(await world.begin(browser, '?prompt=none'), { jar })
    expect(new URL(again).searchParams.get('error')).toBe('login_required')
  })

  test('without a session only client_id and post_logout_redirect_uri are sent', async () => {
    const response = await world.newBrowser().send('/auth/logout')
    const query = Object.fromEntries(new URL(response.headers.get('location') ?? '').searchParams)
    expect(query).toEqual({ client_id: world.provider.clientId, post_logout_redirect_uri: APP })
  })

  test('schemes other than http and https are not forwarded', async () => {
    for (const hostile of ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd']) {
      const { query } = await logout(world, {}, `?returnTo=${encodeURIComponent(hostile)}`)
      // The text that a request without target sends: it is what is registered at the provider.
      expect(query['post_logout_redirect_uri']).toBe(APP)
    }
  })
})

describe('providers without RP-initiated logout', () => {
  test('[S123] auto uses /v2/logout, and reports it once', async () => {
    const { at, query } = await logout(plain, { logoutStrategy: 'auto' }, '?federated')
    expect(at).toBe(`${plain.provider.origin}/v2/logout`)
    expect(query).toEqual({ returnTo: APP, client_id: plain.provider.clientId, federated: '' })
  })

  test("[J7] auto: one notice names 'local'", async () => {
    // Told before, perhaps, by another test: once in each process.
    ;(globalThis as Record<symbol, unknown>)[Symbol.for('idp-client')] = undefined
    plain.events.length = 0
    for (let times = 0; times < 2; times++) await logout(plain, { logoutStrategy: 'auto' })
    expect(plain.events.filter(({ code }) => code === 'NOTICE')).toEqual([
      {
        level: 'warn',
        code: 'NOTICE',
        message: expect.stringContaining("logoutStrategy: 'local'"),
        remedy: 'LOGOUT_NOT_OFFERED',
      },
    ])
  })

  test('[S125] oidc: the local session ends, the browser stays in the application', async () => {
    const { href } = await logout(plain, { logoutStrategy: 'oidc' }, '?returnTo=/bye')
    expect(href).toBe(`${APP}/bye`)
    const away = await logout(plain, { logoutStrategy: 'oidc' }, '?returnTo=https://evil.example/')
    expect(new URL(away.href).origin).toBe(APP)
  })

  test('[S126,S127] v2: always /v2/logout, without discovery, returnTo unchanged', async () => {
    const { at, query } = await logout(world, { logoutStrategy: 'v2' }, '?returnTo=https://*.example.com/out')
    expect(at).toBe(`${world.provider.origin}/v2/logout`)
    expect(query['returnTo']).toBe('https://*.example.com/out')
  })
})

describe("[J7] logoutStrategy 'local'", () => {
  const local: IdpClientOptions = { logoutStrategy: 'local' }

  test.each([
    ['', APP],
    ['?returnTo=/bye', `${APP}/bye`],
    ['?returnTo=/bye%3Fa%3Db%23c&state=abc&federated', `${APP}/bye?a=b#c`],
    [`?returnTo=${encodeURIComponent(`${APP}/x`)}`, `${APP}/x`],
    ['?returnTo=http://user:pass@localhost:3000/x%3Fa%3Db%23c', `${APP}/x?a=b#c`],
    ['?returnTo=https://evil.example/', APP],
    ['?returnTo=//evil.example/', APP],
    ['?returnTo=javascript:alert(1)', APP],
  ])('%s: the session ends, and the browser stays at %s', async (query, expected) => {
    const { href } = await logout(world, local, query)
    // A URL without path has a slash.
    expect(href.replace(/\/$/, '')).toBe(expected)
    expect(world.events).toContainEqual(expect.objectContaining({ code: 'LOGOUT', strategy: 'local' }))
    expect(world.events.filter(({ code }) => code === 'NOTICE')).toEqual([])
  })

  test('the refresh token is revoked, and the provider keeps its session', async () => {
    const jar = world.provider.createJar()
    const { browser } = world.another(local)
    await world.login(browser, '', { user: 'alice', jar })
    const before = world.provider.count('revocation')
    await browser.send('/auth/logout')
    expect(world.provider.count('revocation')).toBe(before + 1)
    const again = await world.authorize(await world.begin(browser, '?prompt=none'), { jar })
    expect(new URL(again).searchParams.has('code')).toBe(true)
  })

  test('a provider that cannot be reached is not requested', async () => {
    const down = await startDevProvider()
    await down.stop()
    const gone = await startWorld({ domain: down.issuer, ...local })
    const response = await gone.newBrowser().send('/auth/logout?returnTo=/bye')
    expect([response.status, response.headers.get('location')]).toEqual([302, `${APP}/bye`])
    expect(gone.events.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([])
    await gone.provider.stop()
  })
})

test.each([
  [{}, 1],
  [{ revokeRefreshTokenAtLogout: true }, 1],
  [{ revokeRefreshTokenAtLogout: false }, 0],
  [{ revokeRefreshTokenAtLogout: false, logoutStrategy: 'local' }, 0],
] as const)('%o: the provider receives %i revocations', async (options, revocations) => {
  const { browser } = world.another(options)
  await world.login(browser)
  const before = world.provider.count('revocation')
  await browser.send('/auth/logout')
  expect(world.provider.count('revocation') - before).toBe(revocations)
})

describe('a provider that is down', () => {
  test('the local session ends anyway', async () => {
    const fresh = await startWorld()
    const browser = fresh.newBrowser()
    await fresh.login(browser)
    fresh.provider.faults.set('discovery', { kind: 'respond', status: 500 })
    fresh.clock.now += 601
    const stale = await browser.send('/auth/logout')
    expect(stale.status).toBe(302)
    expect([...browser.cookies.keys()]).toEqual(['__session__ended'])
    await fresh.provider.stop()
    const never = await startDevProvider()
    await never.stop()
    const gone = await startWorld({ domain: never.issuer })
    const response = await gone.newBrowser().send('/auth/logout?returnTo=/bye')
    expect(response.headers.get('location')).toBe(`${APP}/bye`)
    expect(gone.events).toContainEqual(expect.objectContaining({ code: 'LOGOUT', strategy: 'local' }))
    await gone.provider.stop()
  })
})
