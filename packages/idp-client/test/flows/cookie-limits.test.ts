import { afterEach, expect, test } from 'vitest'
import type { Browser, World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { incompressible } from '../support/incompressible.ts'

let world: World | undefined
afterEach(() => world?.provider.stop())

const sentBy = (browser: Browser): string => browser.request('/').headers.get('cookie') ?? ''

/** A session whose ID token grew at a refresh to what its cookies can hold. */
async function withFullSession(options: Parameters<typeof startWorld>[0] = {}): Promise<World> {
  world = await startWorld(options)
  const { browser, clock, provider } = world
  await world.login(browser)
  for (let size = 3600; size < 4600 && sentBy(browser).length < 6700; size += 40) {
    provider.tamperIdToken((claims) => {
      claims['note'] = incompressible(size)
    })
    clock.now += 3601
    expect((await browser.send('/auth/access-token')).status).toBe(200)
  }
  expect(sentBy(browser).length).toBeGreaterThanOrEqual(6700)
  return world
}

test('[L1] a login whose cookie does not fit beside the session begins nothing, and its page says why', async () => {
  const { browser, events, login, provider } = await withFullSession({ pushedAuthorizationRequests: true })
  const before = sentBy(browser)
  provider.clearRequests()
  events.length = 0
  const response = await browser.send(
    `/auth/login?organization=${'o'.repeat(256)}&returnTo=/${'p'.repeat(600)}&max_age=1`,
  )
  expect(response.status).toBe(500)
  expect(await response.text()).toContain('SESSION_TOO_LARGE')
  expect(response.headers.getSetCookie()).toEqual([])
  expect(sentBy(browser)).toBe(before)
  expect(provider.count('par')).toBe(0)
  expect(events).toEqual([
    expect.objectContaining({
      code: 'LOGIN_FAILED',
      error: 'SESSION_TOO_LARGE',
      detail: expect.stringContaining('This login or connection needs a cookie of'),
    }),
  ])
  // The session stays, and a logout makes room.
  expect((await browser.send('/auth/profile')).status).toBe(200)
  await browser.send('/auth/logout')
  provider.tamperIdToken((claims) => {
    claims['note'] = ''
  })
  expect((await login(browser)).status).toBe(302)
})

test('[L1] a Cookie header of 8 kB loses nothing: the session is found, or a typed error says why', async () => {
  const { browser, client, events } = await withFullSession()
  const own = sentBy(browser)
  const others = `a=${'a'.repeat(8192 - own.length - 4)}`
  for (const cookie of [`${own}; ${others}`, `${others}; ${own}`]) {
    expect(cookie.length).toBeGreaterThan(8000)
    const request = () => new Request('http://localhost:3000/page', { headers: { cookie } })
    expect((await client.getSession(request()))?.user.sub).toBeTypeOf('string')
    const page = await client.middleware(request())
    expect(page.headers.getSetCookie().filter((line) => /max-age=0/i.test(line))).toEqual([])
    const login = await client.middleware(
      new Request('http://localhost:3000/auth/login', { headers: { cookie } }),
    )
    expect(login.status).toBe(302)
  }
  for (const cookie of [`__session=${'x'.repeat(8000)}`, `__session__0=${own.slice(12)}`, 'y'.repeat(8000)]) {
    const request = new Request('http://localhost:3000/', { headers: { cookie } })
    expect(await client.getSession(request)).toBeNull()
    const headers = new Headers()
    await expect(client.getAccessToken(request, headers)).rejects.toMatchObject({ code: 'MISSING_SESSION' })
  }
  expect(events.filter(({ level }) => level === 'error')).toEqual([])
  expect(await browser.session()).toBeTruthy()
})

test('[L1] a refresh token that fits into no cookies stays in the process, and pages are served', async () => {
  world = await startWorld()
  const { browser, client, clock, events, login, provider } = world
  await login(browser)
  const before = sentBy(browser)
  provider.rewrite('token', (json) => ({ ...json, refresh_token: incompressible(9000) }), { times: 1 })
  clock.now += 3601
  const response = await browser.send('/auth/access-token')
  expect(response.status).toBe(200)
  const { token } = (await response.json()) as { token: string }
  expect(sentBy(browser)).toBe(before)
  expect(events).toContainEqual(
    expect.objectContaining({
      level: 'error',
      code: 'REQUEST_FAILED',
      error: 'SESSION_TOO_LARGE',
      detail: expect.stringContaining('tokenSet.refreshToken'),
    }),
  )
  for (const path of ['/page', '/auth/profile', '/page']) {
    clock.now += 301
    expect((await browser.send(path)).status).toBeLessThan(500)
    expect((await client.getAccessToken(browser.request('/'))).token).toBe(token)
  }
  expect(await browser.session()).toMatchObject({ user: { sub: expect.any(String) } })
  expect((await browser.send('/auth/logout')).status).toBe(302)
  expect((await browser.send('/auth/profile')).status).toBe(401)
})
