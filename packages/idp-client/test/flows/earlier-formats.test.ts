import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as nodeCipher from '../../src/crypto/cipher.node.ts'
import * as webCipher from '../../src/crypto/cipher.web.ts'
import type { Sealer } from '../../src/crypto/seal.ts'
import { createSealer } from '../../src/crypto/seal.ts'
import type { IdpClient, SessionData, SessionDataStore } from '../../src/index.ts'
import { decodeSession, encodeSession } from '../../src/session/cookie/codec.ts'
import type { StoredInternalData } from '../../src/session/model/session-data.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser, World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { SECRET } from '../support/engine.ts'

/*
 * Sessions as they were written before they recorded the proven authentication, and records their key. That the cookies of then
 * had these very bytes is held by the fixtures `session-1.json` and `session-id-1.json`.
 */

const TTL = 600
const TOKEN = '/auth/access-token'

let world: World
beforeEach(async () => {
  Reflect.deleteProperty(globalThis, Symbol.for('idp-client'))
  world = await startWorld({}, { accessTokenTtl: TTL })
})
afterEach(() => world.provider.stop())

/** The record as an earlier process writes it: it knows no other members of `internal`. */
function earlierRecord({ internal, ...session }: SessionData): SessionData {
  const { asked, client, createdAt, iss, sid, sub, usedAt }: StoredInternalData = internal
  const known = { asked, client, createdAt, iss, sid, sub, usedAt }
  return { ...session, internal: JSON.parse(JSON.stringify(known)) as SessionData['internal'] }
}

const ciphers = [
  ['node', () => createSealer([SECRET], nodeCipher)],
  ['web', () => createSealer([SECRET], webCipher)],
] as const satisfies readonly (readonly [string, () => Sealer])[]

type Rewrite = (browser: Browser) => Promise<void>

/** Puts the session cookie in place that an earlier process would have written. */
function cookieBefore(sealer: Sealer): Rewrite {
  return async (browser) => {
    const cookie = browser.cookies.get('__session')
    const bytes = cookie && (await sealer.open('session', cookie.value))
    const session = bytes && decodeSession(bytes)
    if (!cookie || !session) throw new Error('no session')
    const { authentication: _authentication, ...earlier } = session
    browser.cookies.set('__session', {
      ...cookie,
      value: await sealer.seal('session', encodeSession(earlier)),
    })
  }
}

/** The same of a session in a store, and of the cookie that names it. */
function recordBefore(sealer: Sealer, store: Required<SessionDataStore>): Rewrite {
  return async (browser) => {
    const cookie = browser.cookies.get('__session')
    const reference = cookie && (await sealer.open('session-id', cookie.value))
    if (!cookie || !reference) throw new Error('no session')
    browser.cookies.set('__session', { ...cookie, value: await sealer.seal('session-id', reference) })
    for (const { id, session } of await store.listBySubject('dev|alice')) {
      await store.set(id, earlierRecord(session), { expiresAt: world.clock.now + 10_000 })
    }
  }
}

async function guardStatus(client: IdpClient, browser: Browser): Promise<number> {
  const guarded = client.withApiAuthRequired(() => new Response('in'), { maxAge: 300 })
  return (await guarded(browser.request('/api'))).status
}

const places = ciphers.flatMap(
  ([name, sealer]) =>
    [
      [`a cookie, cipher ${name}`, () => ({ options: {}, rewrite: cookieBefore(sealer()) })],
      [
        `a store, cipher ${name}`,
        () => {
          const sessionStore = memoryStore({ name: crypto.randomUUID(), clock: () => world.clock.now })
          return { options: { sessionStore }, rewrite: recordBefore(sealer(), sessionStore) }
        },
      ],
    ] as const,
)

describe.each(places)('a session of an earlier version in %s', (_place, make) => {
  test('is read, refreshed, stepped up and logged out, also after a write by an earlier version', async () => {
    const { options, rewrite } = make()
    const { browser, client } = world.another(options)
    await world.login(browser, '?max_age=300')
    await rewrite(browser)
    expect((await client.getSession(browser.request('/')))?.user.sub).toBe('dev|alice')
    // The kept ID token tells what was proven.
    expect(await guardStatus(client, browser)).toBe(200)

    world.clock.now += TTL + 1
    expect((await browser.send(TOKEN)).status).toBe(200)
    await rewrite(browser)
    world.clock.now += TTL + 1
    expect((await browser.send(TOKEN)).status).toBe(200)
    // A refresh proves nothing, also when an earlier process has written it.
    expect(await guardStatus(client, browser)).toBe(401)
    await rewrite(browser)
    expect(await guardStatus(client, browser)).toBe(401)

    expect(
      (await world.login(browser, '?challengeMode=popup&max_age=300&prompt=login', { user: 'alice' })).status,
    ).toBe(200)
    expect(await guardStatus(client, browser)).toBe(200)
    await rewrite(browser)
    expect(await guardStatus(client, browser)).toBe(200)

    const stolen = new Map(browser.cookies)
    expect((await browser.send('/auth/logout')).status).toBe(302)
    expect(await client.getSession(browser.request('/'))).toBeNull()
    if (!('sessionStore' in options)) return
    for (const [name, cookie] of stolen) browser.cookies.set(name, cookie)
    expect(await client.getSession(browser.request('/'))).toBeNull()
  })
})
