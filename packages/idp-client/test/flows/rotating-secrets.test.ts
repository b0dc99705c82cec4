import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { IdpClient, IdpClientOptions } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser, World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { SECRET } from '../support/engine.ts'
import { Process } from '../support/processes.ts'

const NEXT = 'the next secret has thirty-two or more'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.provider.stop())

function pass(seconds: number): void {
  world.clock.now += seconds
}

type Side = ReturnType<World['another']>

/** The application while it has the old secret, both, and the new one alone. */
function times(options: IdpClientOptions = {}): { before: Side; during: Side; after: Side } {
  const as = (secret: string | string[]): Side => world.another({ ...options, secret })
  return { before: as(SECRET), during: as([NEXT, SECRET]), after: as(NEXT) }
}

function carry(from: Browser, to: Browser): void {
  to.cookies.clear()
  for (const [name, cookie] of from.cookies) to.cookies.set(name, cookie)
}

const userOf = async (client: IdpClient, browser: Browser) =>
  (await client.getSession(browser.request('/')))?.user.sub ?? null

/** Key ids of the secrets that the cookies of a browser are sealed with. */
function secretsOf(browser: Browser): string[] {
  const ids = [...browser.cookies.values()].map(({ value }) => {
    const header = value.slice(value.indexOf('eyJ')).split('.')[0] ?? ''
    return String(JSON.parse(Buffer.from(header, 'base64url').toString()).kid)
  })
  return [...new Set(ids)]
}

async function connectionToken(client: IdpClient, browser: Browser): Promise<string> {
  const headers = new Headers()
  const options = { connection: 'google-oauth2' }
  const { token } = await client.getAccessTokenForConnection(browser.request('/'), headers, options)
  browser.store(new Response(null, { headers }))
  return token
}

describe('rotating secrets', () => {
  test('a session and its connection tokens are read, and the next write encrypts all of it again', async () => {
    const { after, before, during } = times()
    await world.login(before.browser)
    const token = await connectionToken(before.client, before.browser)
    const [old] = secretsOf(before.browser)
    carry(before.browser, during.browser)
    expect(await userOf(during.client, during.browser)).toBe('dev|alice')
    carry(before.browser, after.browser)
    expect(await userOf(after.client, after.browser)).toBeNull()

    pass(400)
    await during.browser.send('/page')
    const [next, ...more] = secretsOf(during.browser)
    expect([more, next === old]).toEqual([[], false])
    expect(during.browser.names('__session__conn_')).toEqual(['__session__conn_0'])

    carry(during.browser, after.browser)
    expect(await userOf(after.client, after.browser)).toBe('dev|alice')
    world.provider.clearRequests()
    expect(await connectionToken(after.client, after.browser)).toBe(token)
    expect(world.provider.count('token')).toBe(0)
    expect(await userOf(before.client, during.browser)).toBeNull()
  })

  test('without a rotation a roll writes connection tokens unchanged', async () => {
    const { before } = times()
    await world.login(before.browser)
    await connectionToken(before.client, before.browser)
    const value = before.browser.cookies.get('__session__conn_0')?.value
    pass(400)
    await before.browser.send('/page')
    expect(before.browser.cookies.get('__session__conn_0')?.value).toBe(value)
  })

  test.each([true, false])(
    'a login that started with the old secret completes while it is in the list (parallel: %s)',
    async (enableParallelTransactions) => {
      const { after, before, during } = times({ enableParallelTransactions })
      const callback = await world.authorize(await world.begin(before.browser))
      carry(before.browser, after.browser)
      expect((await after.browser.send(callback)).status).toBe(400)
      carry(before.browser, during.browser)
      expect((await during.browser.send(callback)).status).toBe(302)
      expect(await userOf(during.client, during.browser)).toBe('dev|alice')
      carry(during.browser, after.browser)
      expect(await userOf(after.client, after.browser)).toBe('dev|alice')
    },
  )

  test('a logout marker is valid as long as earlier sessions are', async () => {
    const { before, during } = times()
    await world.login(before.browser)
    const late = new Map(before.browser.cookies)
    await before.browser.send('/auth/logout')
    carry(before.browser, during.browser)
    for (const [name, cookie] of late) during.browser.cookies.set(name, cookie)
    const other = new Process()
    expect(await other.run(() => userOf(during.client, during.browser))).toBeNull()
    await other.run(() => during.browser.send('/page'))
    expect(during.browser.names('__session')).toEqual(['__session__ended'])
  })

  test('with a store, the session cookie is encrypted again', async () => {
    const { after, before, during } = times({ sessionStore: memoryStore({ name: crypto.randomUUID() }) })
    await world.login(before.browser)
    carry(before.browser, after.browser)
    expect(await userOf(after.client, after.browser)).toBeNull()
    carry(before.browser, during.browser)
    pass(400)
    await during.browser.send('/page')
    carry(during.browser, after.browser)
    expect(await userOf(after.client, after.browser)).toBe('dev|alice')
    expect(await userOf(before.client, during.browser)).toBeNull()
  })
})
