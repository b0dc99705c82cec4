import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createSealer } from '../../src/crypto/seal.ts'
import { splitCookie } from '../../src/http/chunks.ts'
import type { IdpClientOptions, LogEvent } from '../../src/index.ts'
import { encodeSession } from '../../src/session/cookie/codec.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser, World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { SECRET } from '../support/engine.ts'

let world: World
beforeEach(async () => {
  Reflect.deleteProperty(globalThis, Symbol.for('idp-client'))
  world = await startWorld()
})
afterEach(() => world.provider.stop())

const notices = (): Extract<LogEvent, { code: 'NOTICE' }>[] =>
  world.events.flatMap((event) => (event.code === 'NOTICE' ? [event] : []))

/** Requests that never delete a session of another process, and those that replace any session. */
const READERS = ['/auth/profile', '/auth/access-token', '/']

const deleted = (response: Response): string[] =>
  response.headers
    .getSetCookie()
    .filter((cookie) => cookie.startsWith('__session') && cookie.includes('Max-Age=0'))

const places: [string, () => IdpClientOptions][] = [
  ['in cookies', () => ({})],
  [
    'in a store',
    () => ({ sessionStore: memoryStore({ name: crypto.randomUUID(), clock: () => world.clock.now }) }),
  ],
]

describe.each(places)('a session %s', (_place, options) => {
  async function signedIn(): Promise<Browser> {
    const { browser } = world.another(options())
    await world.login(browser)
    return browser
  }

  test('that has expired is not deleted by a slow response, since the user may have logged in meanwhile', async () => {
    const { browser, client } = world.another(options())
    await world.login(browser)
    world.clock.now += 400 * 86_400
    const request = browser.request('/slow')
    const time = vi.spyOn(performance, 'now')
    const response = await client.middleware(request, async () => {
      await world.login(browser, '', { user: 'bob' })
      time.mockReturnValue(performance.now() + 2000)
      return new Response('slow')
    })
    time.mockRestore()
    expect(deleted(response)).toEqual([])
    browser.store(response)
    expect((await browser.session()).user.sub).toBe('dev|bob')
  })

  test('[L3] that starts an hour in the future has no effect, and stays until a login or logout', async () => {
    const browser = await signedIn()
    const now = world.clock.now
    world.clock.now = now - 3601
    for (const path of READERS) {
      const response = await browser.send(path)
      expect([path, deleted(response)]).toEqual([path, []])
    }
    expect((await browser.send('/auth/profile')).status).toBe(401)
    expect(notices()).toEqual([expect.objectContaining({ remedy: 'CLOCKS_DIFFER' })])
    world.clock.now = now
    expect((await browser.send('/auth/profile')).status).toBe(200)
    world.clock.now = now - 3601
    expect(deleted(await browser.send('/auth/logout'))).not.toEqual([])
  })

  test.each(['/auth/profile', '/auth/access-token', '/'])(
    '[L4] that has expired is deleted by %s',
    async (path) => {
      const browser = await signedIn()
      world.clock.now += 400 * 86_400
      const response = await browser.send(path)
      expect(deleted(response)).not.toEqual([])
      expect(browser.names('__session')).toEqual([])
    },
  )

  test('that has expired stays beside more cookies of its name than are read', async () => {
    const browser = await signedIn()
    world.clock.now += 400 * 86_400
    const others = Array.from({ length: 16 }, (_, at) => `; __session=other${at}`)
    const headers = { cookie: `__session=${browser.cookies.get('__session')?.value}${others.join('')}` }
    browser.cookies.clear()
    for (const path of READERS) expect(deleted(await browser.send(path, { headers }))).toEqual([])
    expect(notices().filter(({ message }) => message.includes('more cookies with the name'))).toHaveLength(1)
  })

  test('[L2] that does not inflate has no effect on any route, is reported once, and is deleted', async () => {
    const { browser } = world.another(options())
    const data = {
      user: { sub: 'alice', note: 'a note that is long enough to be compressed. '.repeat(8) },
      tokenSet: { accessToken: 'at', expiresAt: 9_999_999_999 },
      internal: { createdAt: world.clock.now },
    }
    const bytes = encodeSession({ data, sessionKey: 'AAECAwQFBgcICQoLDA0ODw', usedAt: world.clock.now })
    const text = Buffer.from(bytes).toString('latin1')
    // The announced length of the claims, one more than they have.
    const [, stored = '', claims = ''] = /\[(\d+),(\d+),/.exec(text) ?? []
    const lying = text.replace(`[${stored},${claims},`, `[${stored},${Number(claims) + 1},`)
    expect(lying).toHaveLength(text.length)
    const value = await createSealer([SECRET]).seal('session', Buffer.from(lying, 'latin1'))
    for (const path of ['/auth/profile', '/auth/access-token', '/', '/auth/logout']) {
      const headers = { cookie: `__session=${value}` }
      const response = await browser.send(path, { headers })
      expect([path, response.status < 500, deleted(response).length]).toEqual([path, true, 1])
    }
    expect(notices().filter(({ message }) => message.includes('could not be decoded'))).toHaveLength(1)
  })

  test('that another version wrote stays until a login or logout', async () => {
    const { browser } = world.another(options())
    for (const [kind, text] of [
      ['session', '\u0009 of a later version'],
      ['session-id', '9.of-a-later-version'],
    ] as const) {
      const value = await createSealer([SECRET]).seal(kind, new TextEncoder().encode(text))
      const headers = { cookie: `__session=${value}` }
      for (const path of READERS) expect(deleted(await browser.send(path, { headers }))).toEqual([])
      expect(deleted(await browser.send('/auth/logout', { headers }))).toHaveLength(1)
    }
    expect(notices().filter(({ message }) => message.includes('could not be decoded'))).toEqual([])
  })

  test('[Q4] that was modified is deleted, unless another version wrote a cookie of its name', async () => {
    const browser = await signedIn()
    const modified = `__session=${browser.cookies.get('__session')?.value}x`
    browser.cookies.clear()
    const other = await createSealer([SECRET]).seal(
      'session',
      new TextEncoder().encode('\u0009 of a later version'),
    )
    for (const path of READERS) {
      const beside = { cookie: `${modified}; __session=${other}` }
      expect(deleted(await browser.send(path, { headers: beside }))).toEqual([])
      expect(deleted(await browser.send(path, { headers: { cookie: modified } }))).toHaveLength(1)
    }
  })
})

test('[L3] only a login or logout deletes the cookies of another version beside a live session', async () => {
  const { browser, clock, login } = world
  await login(browser)
  const later = await createSealer([SECRET]).seal('session', new Uint8Array(4000).fill(9))
  const attributes = { path: '/', secure: false, sameSite: 'lax', httpOnly: true } as const
  for (const { name, value } of splitCookie('__session', later, attributes))
    browser.cookies.set(name, { value, path: '/', text: '' })
  expect(browser.names('__session')).toEqual(['__session', '__session__0', '__session__1'])
  clock.now += 301
  const rolled = await browser.send('/page')
  expect(rolled.headers.getSetCookie()).toEqual([expect.stringMatching(/^__session=/)])
  expect(deleted(await browser.send('/auth/logout'))).toHaveLength(3)
})

test('[L5] typ of the ID token is not a claim of the user', async () => {
  world.provider.tamperIdToken((claims) => {
    claims['typ'] = 'ID'
  })
  await world.login(world.browser)
  expect((await world.browser.session()).user).not.toHaveProperty('typ')
})
