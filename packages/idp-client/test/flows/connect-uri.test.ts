import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ConnectWorld } from '../support/connect.ts'
import { codeOf, json, startConnectWorld } from '../support/connect.ts'

let world: ConnectWorld
beforeAll(async () => {
  world = await startConnectWorld()
})
afterAll(() => world.provider.stop())
beforeEach(() => world.provider.faults.clear())

describe('the connect_uri of the provider', () => {
  test.each([
    ['another origin', 'https://evil.example/connect'],
    ['a script', 'javascript:alert(1)'],
    ['credentials', 'CREDENTIALS'],
    ['no URL', 'connect/account'],
    ['nothing', undefined],
  ])('%s: rejected, 502, no transaction, no redirect', async (_, connectUri) => {
    const browser = await world.signedIn()
    world.provider.rewrite('account-connect', (body) => {
      body['connect_uri'] =
        connectUri === 'CREDENTIALS' ? String(body['connect_uri']).replace('://', '://a:b@') : connectUri
    })
    const response = await browser.send('/auth/connect?connection=github', json)
    expect(response.status).toBe(502)
    expect(response.headers.get('location')).toBeNull()
    expect(await codeOf(response)).toBe('FAILED_TO_INITIATE')
    expect(browser.names('__txn_')).toEqual([])
  })

  test.each(['connect_params', 'auth_session'])('a response without %s is rejected', async (member) => {
    const browser = await world.signedIn()
    world.provider.rewrite('account-connect', (body) => {
      delete body[member]
    })
    expect((await browser.send('/auth/connect?connection=github')).status).toBe(502)
  })

  test('is on the origin of the provider or of its authorization endpoint', async () => {
    const own = await startConnectWorld()
    const browser = await own.signedIn()
    own.provider.rewrite('discovery', (body) => {
      body['authorization_endpoint'] = 'https://login.example/authorize'
    })
    // The metadata is loaded again.
    own.clock.now += 601
    for (const connectUri of [
      'https://login.example/connect',
      new URL('/connect', own.provider.issuer).href,
    ]) {
      own.provider.rewrite('account-connect', (body) => {
        body['connect_uri'] = connectUri
      })
      expect(await own.beginConnect(browser)).toContain(`${connectUri}?ticket=`)
    }
    await own.provider.stop()
  })

  test('keeps its own query', async () => {
    const browser = await world.signedIn()
    world.provider.rewrite('account-connect', (body) => {
      body['connect_uri'] = `${body['connect_uri']}?brand=a%20b&ticket=forged`
    })
    const url = new URL(await world.beginConnect(browser))
    expect(url.searchParams.get('brand')).toBe('a b')
    expect(url.searchParams.getAll('ticket')).toEqual([expect.not.stringMatching('forged')])
  })
})
