import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { IdpClientOptions } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { Process } from '../support/processes.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.provider.stop())

/** A browser that logged out, and a thief with the cookies that it had before. */
async function loggedOut(options: IdpClientOptions) {
  const { browser, client } = world.another(options)
  await world.login(browser)
  const { browser: thief } = world.another(options)
  for (const [name, cookie] of browser.cookies) thief.cookies.set(name, cookie)
  expect((await thief.send('/auth/profile')).status).toBe(200)
  await browser.send('/auth/logout')
  return { browser, client, thief }
}

describe('[I3] a logout', () => {
  test('in a store: the record is deleted, the cookies are deleted, and a copy of them is invalid everywhere', async () => {
    const sessionStore = memoryStore()
    const { browser, client, thief } = await loggedOut({ sessionStore })
    expect(await sessionStore.listBySubject('dev|alice')).toEqual([])
    expect(browser.names('__session')).toEqual([])
    const guarded = client.withApiAuthRequired(() => new Response('in'))
    for (const process of [undefined, new Process(), new Process()]) {
      const replay = async () => {
        expect((await client.middleware(thief.request('/auth/profile'))).status).toBe(401)
        expect((await client.middleware(thief.request('/auth/access-token'))).status).toBe(401)
        expect((await guarded(thief.request('/api'))).status).toBe(401)
        expect(await client.getSession(thief.request('/'))).toBeNull()
      }
      await (process ? process.run(replay) : replay())
    }
    expect(await sessionStore.listBySubject('dev|alice')).toEqual([])
  })

  test('in cookies: the browser keeps a marker only; a copy is invalid in this process and valid in another one until it expires, as SECURITY.md says', async () => {
    const { browser, client, thief } = await loggedOut({})
    expect(browser.names('__session')).toEqual(['__session__ended'])
    expect((await client.middleware(thief.request('/auth/profile'))).status).toBe(401)
    const other = new Process()
    const replay = () =>
      other.run(async () => (await client.middleware(thief.request('/auth/profile'))).status)
    expect(await replay()).toBe(200)
    const page = readFileSync(new URL('../../../../SECURITY.md', import.meta.url), 'utf8')
    expect(page).toContain('A copied session cookie works until it expires.')
    world.clock.now += 86_400
    expect(await replay()).toBe(401)
  })
})
