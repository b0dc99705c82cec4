import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isContinue } from '../../src/index.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'

const TTL = 600
const ROUTES = ['/auth/access-token', '/auth/profile']

let world: World
beforeAll(async () => {
  world = await startWorld({}, { accessTokenTtl: TTL })
  await world.login(world.browser)
})
afterAll(() => world.provider.stop())

/** The tokens of the session that are for nobody but the server. */
async function secrets(): Promise<string[]> {
  const session = await world.client.getSession(world.browser.request('/'))
  const { idToken = '', refreshToken = '' } = session?.tokenSet ?? {}
  expect([idToken, refreshToken].every((token) => token.length > 20)).toBe(true)
  // The signature of the ID token suffices to recognize it.
  return [idToken, refreshToken, idToken.split('.')[2] ?? '']
}

describe('[I3] refresh and ID tokens never reach the browser', () => {
  test.each(ROUTES)('%s, before and after a refresh', async (route) => {
    for (let count = 0; count < 2; count += 1) {
      const before = await secrets()
      const response = await world.browser.send(route)
      expect(response.status).toBe(200)
      const seen = [await response.text(), ...[...response.headers].map(([, value]) => value)].join('\n')
      for (const secret of [...before, ...(await secrets())]) expect(seen).not.toContain(secret)
      world.clock.now += TTL + 1
    }
  })

  test('the body of the access-token route contains the properties of an access token only', async () => {
    const body = (await (await world.browser.send('/auth/access-token')).json()) as object
    expect(Object.keys(body).sort()).toEqual(['expires_at', 'expires_in', 'scope', 'token', 'token_type'])
  })

  test('the access-token route belongs to the application with enableAccessTokenEndpoint: false', async () => {
    const { client } = world.another({ enableAccessTokenEndpoint: false })
    const response = await client.middleware(world.browser.request('/auth/access-token'))
    expect(isContinue(response)).toBe(true)
    expect(await response.text()).toBe('')
    const { client: mounted } = world.another()
    expect(isContinue(await mounted.middleware(world.browser.request('/auth/access-token')))).toBe(false)
  })
})

describe('[I3] responses with tokens or claims are readable by the same origin only', () => {
  const CORS = /^access-control-/

  test.each(ROUTES.flatMap((route) => [[route, true] as const, [route, false] as const]))(
    '%s, signed in: %s',
    async (route, isSignedIn) => {
      const browser = isSignedIn ? world.browser : world.newBrowser()
      const response = await browser.send(route, {
        headers: { origin: 'https://evil.example', 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' },
      })
      expect(response.status).toBe(isSignedIn ? 200 : 401)
      const { headers } = response
      expect(headers.get('cache-control')).toContain('no-store')
      expect(headers.get('pragma')).toBe('no-cache')
      // The profile route says with an empty body that nobody is signed in.
      if (await response.clone().text()) {
        expect(headers.get('content-type')).toMatch(/^application\/json/)
        expect(headers.get('x-content-type-options')).toBe('nosniff')
      }
      expect([...headers.keys()].filter((name) => CORS.test(name))).toEqual([])
    },
  )

  test.each(ROUTES)('%s: no preflight is allowed', async (route) => {
    const response = await world.browser.send(route, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'GET' },
    })
    expect(response.status).toBe(405)
    expect([...response.headers.keys()].filter((name) => CORS.test(name))).toEqual([])
  })
})
