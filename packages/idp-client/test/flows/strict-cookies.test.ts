import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { IdpClientOptions } from '../../src/index.ts'
import type { Browser, World } from '../support/app.ts'
import { APP, startWorld } from '../support/app.ts'
import { popupQuery, run } from '../support/popup-page.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.provider.stop())
beforeEach(() => world.provider.clearRequests())

const STRICT: IdpClientOptions = {
  session: { cookie: { sameSite: 'strict' } },
  transactionCookie: { sameSite: 'strict' },
}

/** A request of a document as a browser sends it: without `SameSite=Strict` cookies if a page of another site leads to it. */
async function visit(browser: Browser, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', ...init.headers }
  const isCrossSite = new Headers(headers).get('sec-fetch-site') !== 'same-origin'
  const all = [...browser.cookies]
  const withheld = isCrossSite ? all.filter(([, { text }]) => /;\s*samesite=strict/i.test(text)) : []
  for (const [name] of withheld) browser.cookies.delete(name)
  const sent = browser.send(path, { ...init, headers })
  for (const [name, cookie] of withheld) browser.cookies.set(name, cookie)
  return sent
}

const crossSite = { headers: { 'sec-fetch-site': 'cross-site' } }
const sameOrigin = { headers: { 'sec-fetch-site': 'same-origin' } }

/** Where the page leads by itself. */
async function refreshOf(response: Response, from: string): Promise<string> {
  expect([response.status, response.headers.get('location')]).toEqual([200, null])
  expect(response.headers.getSetCookie()).toEqual([])
  const [, url = ''] = /http-equiv="refresh" content="0;url=([^"]*)"/.exec(await response.text()) ?? []
  return new URL(url.replaceAll('&amp;', '&'), from).href
}

const tokenRequests = (): number => world.provider.requests('token').length

describe('cookies of SameSite=Strict', () => {
  test('the callback continues when a page of the application repeats it, and the next page has the session', async () => {
    const { browser, client } = world.another(STRICT)
    const callback = await world.authorize(await world.begin(browser, '?returnTo=/vault'))
    const repeated = await refreshOf(await visit(browser, callback, crossSite), callback)
    expect(new URL(repeated).pathname).toBe('/auth/callback')
    expect(tokenRequests()).toBe(0)
    const response = await visit(browser, repeated, sameOrigin)
    expect([response.status, response.headers.get('location')]).toEqual([302, `${APP}/vault`])
    expect(await client.getSession(browser.request('/vault'))).not.toBeNull()
    expect(tokenRequests()).toBe(1)
  })

  test('the callback also continues behind a service worker, which sends navigations with an empty destination', async () => {
    const { browser } = world.another(STRICT)
    const callback = await world.authorize(await world.begin(browser, '?returnTo=/vault'))
    const headers = { ...crossSite.headers, 'sec-fetch-dest': 'empty' }
    const repeated = await refreshOf(await visit(browser, callback, { headers }), callback)
    const response = await visit(browser, repeated, { headers: { ...headers, ...sameOrigin.headers } })
    expect([response.status, response.headers.get('location')]).toEqual([302, `${APP}/vault`])
  })

  test('a popup steps up the session of the browser', async () => {
    const { browser } = world.another(STRICT)
    await world.login(browser)
    const before = await browser.session()
    world.clock.now += 30
    const callback = await world.authorize(await world.begin(browser, popupQuery()))
    const repeated = await refreshOf(await visit(browser, callback, crossSite), callback)
    const told = await run(await visit(browser, repeated, sameOrigin))
    expect(told.opener[0]?.message).toMatchObject({ success: true })
    expect((await browser.session()).internal.createdAt).toBe(before.internal.createdAt)
  })

  test('a callback that even then comes from another site ends on a page instead of a redirect', async () => {
    const { browser } = world.another({ session: { cookie: { sameSite: 'strict' } } })
    const callback = await world.authorize(await world.begin(browser, '?returnTo=/vault'))
    const repeated = await refreshOf(await visit(browser, callback, crossSite), callback)
    const response = await visit(browser, repeated, crossSite)
    expect(browser.names('__session')).toEqual(['__session'])
    expect(await response.text()).toContain(`content="0;url=${APP}/vault"`)
  })

  test('with form_post the callback ends on such a page', async () => {
    const origin = 'https://localhost:3000'
    const { browser } = world.another({
      appBaseUrl: origin,
      authorizationParameters: { response_mode: 'form_post' },
      session: { cookie: { sameSite: 'strict' } },
    })
    const { form } = await world.provider.login(await world.begin(browser, '?returnTo=/vault'), {
      user: 'alice',
    })
    const body = new URLSearchParams(form?.fields)
    const response = await visit(browser, form?.action ?? '', { method: 'POST', body, ...crossSite })
    expect(response.status).toBe(200)
    expect(await response.text()).toContain(`content="0;url=${origin}/vault"`)
    expect((await browser.session()).user.sub).toBe('dev|alice')
  })

  test.each([
    ['other cookies', {}, {}],
    ['a frame', STRICT, { 'sec-fetch-dest': 'iframe' }],
    ['a client that says nothing about the sender', STRICT, { 'sec-fetch-site': '' }],
  ])('%s: the callback redirects at once', async (_which, options, headers) => {
    const { browser } = world.another(options)
    const callback = await world.authorize(await world.begin(browser))
    const all = { 'sec-fetch-dest': 'document', 'sec-fetch-site': 'cross-site', ...headers }
    expect((await browser.send(callback, { headers: all })).status).toBe(302)
  })
})
