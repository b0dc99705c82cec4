import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { customFetch } from '../../src/index.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { holding } from '../support/holding.ts'
import { Process } from '../support/processes.ts'
import { rejectionOf } from '../support/provider-engine.ts'

const TTL = 600
const TOKEN = '/auth/access-token'

let world: World
beforeEach(async () => {
  world = await startWorld({}, { accessTokenTtl: TTL, revokeOnReuse: false })
})
afterEach(() => world.provider.stop())

const writes = (response: Response): string[] =>
  response.headers.getSetCookie().filter((cookie) => cookie.startsWith('__session='))

/** A browser whose session is due for a refresh and for a roll. */
async function expired() {
  const made = world.another()
  await world.login(made.browser)
  world.clock.now += TTL + 1
  world.provider.clearRequests()
  return made
}

describe('[D4] several processes refresh one session in a cookie', () => {
  test('one succeeds, and the responses of the others do not change its cookie', async () => {
    const { browser } = await expired()
    const requests = Array.from({ length: 4 }, () => browser.request(TOKEN))
    const processes = requests.map((request) => {
      const { client } = world.another()
      return { client, request, process: new Process() }
    })
    const responses: Response[] = []
    for (const { client, process, request } of processes)
      responses.push(await process.run(() => client.middleware(request)))
    expect(responses.map(({ status }) => status)).toEqual([200, 401, 401, 401])
    for (const response of responses) browser.store(response)
    expect(responses.slice(1).flatMap(writes)).toEqual([])
    expect(world.refreshes()).toHaveLength(4)

    // The browser has the cookie of the winner now, and every process continues from it.
    for (const { client, process } of processes) {
      const response = await process.run(() => client.middleware(browser.request(TOKEN)))
      expect(response.status).toBe(200)
    }
    world.clock.now += TTL + 1
    const last = processes.at(-1)
    const response = await last?.process.run(() => last.client.middleware(browser.request(TOKEN)))
    expect(response?.status).toBe(200)
  })

  test('a process whose token was rejected rolls no session, and sends the token no more', async () => {
    const { browser, client } = await expired()
    const [winner, loser] = [new Process(), new Process()]
    const late = () => requestAgain
    const requestAgain = browser.request('/page')
    await winner.run(() => client.middleware(browser.request(TOKEN)))
    await loser.run(async () => {
      expect((await client.middleware(browser.request(TOKEN))).status).toBe(401)
      world.provider.clearRequests()
      for (const path of ['/page', '/auth/profile', TOKEN]) {
        expect(writes(await client.middleware(browser.request(path))), path).toEqual([])
      }
      expect(writes(await client.middleware(late()))).toEqual([])
      expect(world.refreshes()).toEqual([])
    })
    const notices = world.events.filter(({ code }) => code === 'NOTICE')
    expect(notices).toEqual([expect.objectContaining({ message: expect.stringContaining('sessionStore') })])
  })
})

test('a call that waits while the provider rejects the refresh token in another one sends it no more', async () => {
  const held = holding()
  const { browser, client } = world.another({ [customFetch]: held.fetch })
  await world.login(browser)
  world.clock.now += TTL + 1
  world.provider.faults.set('token', {
    kind: 'respond',
    status: 400,
    body: '{"error":"invalid_grant"}',
    headers: { 'content-type': 'application/json' },
  })
  const ask = (audience?: string) =>
    rejectionOf(client.getAccessToken(browser.request('/'), new Response(), audience ? { audience } : {}))
  const first = ask()
  await held.responded
  const second = ask('https://other.example')
  held.release()
  expect(await first).toMatchObject({ code: 'FAILED_TO_REFRESH_TOKEN' })
  expect(await second).toMatchObject({ code: 'MISSING_REFRESH_TOKEN' })
  expect(world.refreshes()).toHaveLength(1)
})

describe('[D4] a request that still has a rejected refresh token after a minute', () => {
  const kinds: [string, string, Record<string, string>, boolean][] = [
    ['a navigation', '/page', { 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'cross-site' }, true],
    [
      'a fetch of the application',
      '/auth/profile',
      { 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'same-origin' },
      true,
    ],
    ['a call for a token', TOKEN, { 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'same-origin' }, true],
    ['a client without these headers', '/page', {}, true],
    ['a prefetch', '/page', { 'sec-purpose': 'prefetch' }, false],
    ['[Q4] a prefetch that calls for a token', TOKEN, { 'sec-purpose': 'prefetch' }, false],
    [
      'an image in a page of another site',
      '/page',
      { 'sec-fetch-mode': 'no-cors', 'sec-fetch-site': 'cross-site' },
      false,
    ],
  ]

  test.each(kinds)('%s', async (_kind, path, headers, isWritten) => {
    const { browser, client } = await expired()
    world.provider.faults.set('token', {
      kind: 'respond',
      status: 400,
      body: '{"error":"invalid_grant"}',
      headers: { 'content-type': 'application/json' },
    })
    expect((await browser.send(TOKEN)).status).toBe(401)
    const before = await client.getSession(browser.request('/'))
    world.clock.now += 59
    expect(writes(await browser.send(path, { headers }))).toEqual([])
    world.clock.now += 1
    expect(writes(await browser.send(path, { headers }))).toHaveLength(isWritten ? 1 : 0)
    const after = await client.getSession(browser.request('/'))
    expect(after?.user).toEqual(before?.user)
    expect(after?.tokenSet.refreshToken).toBe(isWritten ? undefined : before?.tokenSet.refreshToken)
    expect(world.refreshes()).toHaveLength(1)
  })

  test('gets the current tokens if this process has them', async () => {
    const { browser, client } = await expired()
    const late = browser.request(TOKEN)
    await browser.send(TOKEN)
    expect((await client.middleware(late)).status).toBe(200)
    expect(world.refreshes()).toHaveLength(1)
  })
})

test('a refresh token that Microsoft Entra ID finds insufficient for the scope stays in the session', async () => {
  const { browser, client } = await expired()
  const body = JSON.stringify({ error: 'invalid_grant', suberror: 'basic_action' })
  const headers = { 'content-type': 'application/json' }
  world.provider.faults.set('token', { kind: 'respond', status: 400, headers, body })
  expect((await client.middleware(browser.request(TOKEN))).status).toBe(401)
  world.provider.faults.clear()
  expect((await client.middleware(browser.request(TOKEN))).status).toBe(200)
})
