import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ApiResponse, ApiServer } from '../support/api-server.ts'
import { startApi } from '../support/api-server.ts'
import type { World } from '../support/app.ts'
import { APP, startWorld } from '../support/app.ts'

let world: World
let api: ApiServer
let answer: ApiResponse
beforeEach(async () => {
  world = await startWorld({ enableAccessTokenEndpoint: false })
  answer = { body: '{"ok":true}', headers: { 'content-type': 'application/json' } }
  api = await startApi(() => answer)
  world.client.proxy({ prefix: '/api/orders', target: `${api.origin}/v1` })
})
afterEach(async () => {
  await api.stop()
  await world.provider.stop()
})

/** What a browser sends with a request of a script of the application. */
const own = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }

describe('a proxied request', () => {
  test('gets the token of the session, path and query', async () => {
    await world.login(world.browser)
    const response = await world.browser.send('/api/orders/7?open=1', { headers: own })
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ ok: true })
    const { tokenSet } = await world.browser.session()
    expect(api.requests).toMatchObject([
      { method: 'GET', path: '/v1/7?open=1', headers: { authorization: `Bearer ${tokenSet.accessToken}` } },
    ])
    expect(api.requests[0]?.headers.cookie).toBeUndefined()
  })

  test('has its body', async () => {
    await world.login(world.browser)
    const headers = { ...own, origin: APP, 'content-type': 'application/json' }
    const response = await world.browser.send('/api/orders', { method: 'POST', body: '{"a":1}', headers })
    expect(response.status).toBe(200)
    expect(api.requests).toMatchObject([{ method: 'POST', path: '/v1', body: '{"a":1}' }])
  })

  test('without a session gets 401 with a code', async () => {
    const response = await world.browser.send('/api/orders', { headers: own })
    expect(response.status).toBe(401)
    expect(response.headers.get('idp-client-error')).toBe('1')
    expect(await response.json()).toMatchObject({ code: 'NOT_AUTHENTICATED' })
    expect(api.requests).toEqual([])
  })
})
