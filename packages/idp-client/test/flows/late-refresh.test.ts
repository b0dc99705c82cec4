import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { IdpClient, IdpClientOptions } from '../../src/index.ts'
import { customFetch } from '../../src/index.ts'
import { pause } from '../../src/lib/pause.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser, World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import type { Holding } from '../support/holding.ts'
import { holding } from '../support/holding.ts'
import { withoutWaiting } from '../support/timers.ts'

const TTL = 600
const TOKEN = '/auth/access-token'

let world: World
beforeEach(async () => {
  world = await startWorld({}, { accessTokenTtl: TTL })
})
afterEach(() => world.provider.stop())

interface Late {
  readonly browser: Browser
  readonly client: IdpClient
  readonly held: Holding
  /** Asks for an access token; the response to the refresh takes longer than `httpTimeout`. */
  timeOut(): Promise<Response>
}

/** A browser whose session needs a refresh, in front of a client whose first refresh gets its response from the test. */
async function late(options: IdpClientOptions = {}): Promise<Late> {
  const held = holding()
  const { browser, client } = world.another({ ...options, [customFetch]: held.fetch })
  await world.login(browser)
  world.clock.now += TTL + 1
  world.provider.clearRequests()
  const timeOut = () => withoutWaiting(() => browser.send(TOKEN), held.responded)
  return { browser, client, held, timeOut }
}

const tokenIn = async (response: Response): Promise<unknown> => {
  expect(response.status).toBe(200)
  return ((await response.json()) as { token: string }).token
}

describe.each<[string, () => IdpClientOptions]>([
  ['in cookies', () => ({})],
  [
    'in a store',
    () => ({ sessionStore: memoryStore({ name: crypto.randomUUID(), clock: () => world.clock.now }) }),
  ],
])('[B11] a late response to a refresh, sessions %s', (_where, options) => {
  test('times out for the waiting call, and returns its tokens to a later call', async () => {
    const { browser, held, timeOut } = await late(options())
    expect((await timeOut()).status).toBe(504)
    const joining = browser.send(TOKEN)
    held.release()
    const token = await tokenIn(await joining)
    expect(await tokenIn(await browser.send(TOKEN))).toBe(token)
    expect(world.refreshes()).toHaveLength(1)
    world.clock.now += TTL + 1
    expect(await tokenIn(await browser.send(TOKEN))).not.toBe(token)
    expect(world.refreshes()).toHaveLength(2)
  })

  test('is stored without a waiting caller until a response carries it', async () => {
    const { browser, client, held, timeOut } = await late(options())
    const accessToken = async (): Promise<unknown> =>
      (await client.getSession(browser.request('/')))?.tokenSet.accessToken
    const before = await accessToken()
    expect((await timeOut()).status).toBe(504)
    held.release()
    await expect.poll(accessToken, { timeout: 20_000 }).not.toBe(before)
    world.clock.now += 100
    expect(await tokenIn(await browser.send(TOKEN))).toBe(await accessToken())
    expect(world.refreshes()).toHaveLength(1)
  })

  test('delays calls for other tokens, which time out and send nothing', async () => {
    const { browser, held, timeOut } = await late({ ...options(), sessionLockTimeout: 200_000 })
    expect((await timeOut()).status).toBe(504)
    const another = () => browser.send(`${TOKEN}?audience=https%3A%2F%2Fapi.example.test%2F`)
    expect((await withoutWaiting(another)).status).toBe(504)
    expect((await timeOut()).status).toBe(504)
    expect(world.refreshes()).toHaveLength(1)
    held.release()
    await expect.poll(async () => (await browser.send(TOKEN)).status, { timeout: 20_000 }).toBe(200)
    expect(world.refreshes()).toHaveLength(1)
  })

  test('fails with its connection: the next call sends the token again', async () => {
    const { browser, held, timeOut } = await late(options())
    expect((await timeOut()).status).toBe(504)
    held.cut()
    // The provider had rotated: it refuses the token that is spent.
    await expect.poll(async () => (await browser.send(TOKEN)).status, { timeout: 20_000 }).toBe(401)
    expect(world.refreshes()).toHaveLength(2)
  })

  test('is awaited for three times httpTimeout at most', async () => {
    const { browser, held } = await late({ ...options(), httpTimeout: 4000 })
    const waitThreeTimes = async (): Promise<void> => {
      expect((await browser.send(TOKEN)).status).toBe(504)
      await pause(3 * 4000)
    }
    await withoutWaiting(waitThreeTimes, held.responded)
    expect((await browser.send(TOKEN)).status).toBe(401)
    expect(world.refreshes()).toHaveLength(2)
  })
})

test('[B11] a late response that rejects the token is final too', async () => {
  const { browser, held, timeOut } = await late()
  world.provider.faults.set('token', {
    kind: 'respond',
    status: 400,
    body: '{"error":"invalid_grant"}',
    headers: { 'content-type': 'application/json' },
  })
  expect((await timeOut()).status).toBe(504)
  held.release()
  await expect.poll(async () => (await browser.send(TOKEN)).status, { timeout: 20_000 }).toBe(401)
  expect(world.refreshes()).toHaveLength(1)
})

test('[B11] tokens of a response that arrives after a logout are discarded', async () => {
  const { browser, held, timeOut } = await late()
  expect((await timeOut()).status).toBe(504)
  const request = browser.request(TOKEN)
  await browser.send('/auth/logout')
  held.release()
  await held.responded
  const stale = world.another({ [customFetch]: held.fetch })
  expect((await stale.client.middleware(request)).status).toBe(401)
})
