import { describe, expect, test } from 'vitest'
import { Cookies, engineFor, SECRET } from '../../../test/support/engine.ts'
import { incompressible } from '../../../test/support/incompressible.ts'
import type { IdpClientOptions } from '../../config/options.ts'
import { createSealer } from '../../crypto/seal.ts'
import { SessionStoreError } from '../../errors/session.ts'
import { CookieJar } from '../../http/cookie-jar.ts'
import { requestCookies } from '../../http/host-state.ts'
import { markEnded } from '../../tokens/refresh/ended.ts'
import { freshlyStored } from '../model/session.ts'
import type { SessionData } from '../model/session-data.ts'
import { encodeSession } from './codec.ts'

function sessionOf(sub: string, createdAt: number, size = 0): SessionData {
  return {
    user: { sub, note: incompressible(size) },
    tokenSet: { accessToken: 'at', expiresAt: createdAt + 60 },
    internal: { createdAt },
  }
}

async function signedIn(options: IdpClientOptions = {}, size = 0) {
  const made = engineFor(options)
  const cookies = new Cookies()
  const exchange = cookies.exchange()
  await made.engine.sessions.save(
    exchange,
    freshlyStored(sessionOf('alice', made.clock.now, size), made.clock.now),
  )
  cookies.take(exchange)
  return { ...made, cookies, load: () => made.engine.sessions.load(cookies.exchange()) }
}

describe('sessions in cookies', () => {
  test('[S077,S081,S083,S085,S089] have default attributes', async () => {
    const { cookies } = await signedIn()
    expect(cookies.stored.get('__session')?.attributes).toEqual({
      httpOnly: true,
      maxAge: 86_400,
      path: '/',
      sameSite: 'lax',
      secure: true,
    })
  })

  test('[S077,S079,S081,S083,S085] have the attributes of the options', async () => {
    const { cookies } = await signedIn({
      session: {
        cookie: { name: 'sid', secure: true, sameSite: 'strict', path: '/app', domain: 'example.com' },
      },
    })
    expect(cookies.stored.get('sid')?.attributes).toMatchObject({
      httpOnly: true,
      path: '/app',
      domain: 'example.com',
      sameSite: 'strict',
      secure: true,
    })
  })

  test('[S078] secure depends on the protocol of the base URL', async () => {
    const { cookies } = await signedIn({ appBaseUrl: 'http://localhost:3000' })
    expect(cookies.stored.get('__session')?.attributes.secure).toBe(false)
  })

  test('[S087] transient: the cookie has no Max-Age, but the content has a lifetime', async () => {
    const { cookies, clock, load } = await signedIn({ session: { cookie: { transient: true } } })
    expect(cookies.stored.get('__session')?.attributes).not.toHaveProperty('maxAge')
    expect(await load()).not.toBeNull()
    clock.now += 86_400
    expect(await load()).toBeNull()
  })

  test('[S130,S131] a cookie that was kept past its lifetime gives no session', async () => {
    const { clock, load } = await signedIn()
    clock.now += 86_399
    expect((await load())?.data.user.sub).toBe('alice')
    clock.now += 1
    expect(await load()).toBeNull()
  })

  test('[S232] the cookie is encrypted, and another secret cannot decrypt it', async () => {
    const { cookies } = await signedIn()
    expect(JSON.stringify([...cookies.stored])).not.toContain('alice')
    const other = engineFor({ secret: `${SECRET}x` })
    expect(await other.engine.sessions.load(cookies.exchange())).toBeNull()
  })

  test('secrets rotate: old cookies are decrypted with the old secret, new ones encrypted with the new one, and a removed secret ends its sessions', async () => {
    const { cookies } = await signedIn({ secret: SECRET })
    const next = `${'n'.repeat(31)}ext-secret`
    const both = engineFor({ secret: [next, SECRET] })
    const exchange = cookies.exchange()
    const session = await both.engine.sessions.load(exchange)
    expect(session?.data.user.sub).toBe('alice')
    const without = engineFor({ secret: next })
    expect(await without.engine.sessions.load(cookies.exchange())).toBeNull()
    if (session) await both.engine.sessions.save(exchange, session)
    cookies.take(exchange)
    expect((await without.engine.sessions.load(cookies.exchange()))?.data.user.sub).toBe('alice')
  })

  test('a cookie of another client with the same secret is rejected', async () => {
    const { cookies } = await signedIn()
    const { engine } = engineFor({ clientId: 'other-client' })
    expect(await engine.sessions.load(cookies.exchange())).toBeNull()
  })

  test('values of another purpose are rejected', async () => {
    const { engine, clock } = engineFor()
    const bytes = encodeSession(freshlyStored(sessionOf('alice', clock.now), clock.now))
    const sealer = createSealer([SECRET])
    for (const purpose of ['transaction', 'state', 'mfa', 'connection', 'logout', 'session'] as const) {
      const cookies = new Cookies()
      const attributes = { httpOnly: true, path: '/', sameSite: 'lax', secure: true } as const
      cookies.stored.set('__session', { value: await sealer.seal(purpose, bytes), attributes })
      expect((await engine.sessions.load(cookies.exchange())) !== null).toBe(purpose === 'session')
    }
  })

  test('a session that becomes smaller leaves no stale chunk', async () => {
    const { engine, cookies, clock } = await signedIn({}, 3500)
    expect([...cookies.stored.keys()]).toEqual(['__session__0', '__session__1'])
    for (const size of [10, 3600, 10]) {
      const exchange = cookies.exchange()
      const session = await engine.sessions.load(exchange)
      expect(session?.data.user.sub).toBe('alice')
      await engine.sessions.save(exchange, freshlyStored(sessionOf('alice', clock.now, size), clock.now))
      cookies.take(exchange)
      const names = [...cookies.stored.keys()].filter((name) => name !== '__session__ended')
      expect(names).toHaveLength(size === 10 ? 1 : 2)
    }
  })

  test('[S258] above the limit there is an error with the bytes per field, and nothing is staged', async () => {
    for (const size of [9000, 400_000]) {
      const { engine, clock } = engineFor()
      const exchange = new Cookies().exchange()
      const session = freshlyStored(sessionOf('alice', clock.now, size), clock.now)
      const error: unknown = await engine.sessions
        .save(exchange, session, { mustFit: true })
        .catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(SessionStoreError)
      expect(error).toMatchObject({ code: 'SESSION_TOO_LARGE' })
      expect(Object.entries((error as SessionStoreError).fields)[0]).toEqual(['user.note', size + 2])
      expect((error as SessionStoreError).bytes).toBeGreaterThan(6400)
      expect(exchange.cookies.pending()).toEqual([])
    }
  })

  test('destroy deletes every chunk with the attributes of the write, and sets a logout marker', async () => {
    const { engine, cookies } = await signedIn(
      { session: { cookie: { path: '/app', domain: 'example.com' } } },
      3500,
    )
    const written = cookies.stored.get('__session__0')?.attributes
    const exchange = cookies.exchange()
    await engine.sessions.destroy(exchange)
    for (const { attributes, name } of exchange.cookies.pending()) {
      const maxAge = name === '__session__ended' ? 259_200 : 0
      expect(attributes).toEqual({ ...written, maxAge })
    }
    cookies.take(exchange)
    expect([...cookies.stored.keys()]).toEqual(['__session__ended'])
  })

  test('sweep deletes invalid cookies, and keeps a live session', async () => {
    const { engine, cookies, clock } = await signedIn()
    const live = cookies.exchange()
    expect(await engine.sessions.sweep(live)).toBe(false)
    expect(live.cookies.pending()).toEqual([])
    clock.now += 100_000
    const dead = cookies.exchange()
    expect(await engine.sessions.sweep(dead)).toBe(true)
    cookies.take(dead)
    expect(cookies.stored.size).toBe(0)
    const none = cookies.exchange()
    expect(await engine.sessions.sweep(none)).toBe(false)
  })

  test('a foreign cookie of the same name neither hides nor deletes a session', async () => {
    const { engine, cookies, clock } = await signedIn()
    const other = new Cookies()
    const elsewhere = other.exchange()
    const foreign = engineFor({ clientId: 'other-client' }).engine
    await foreign.sessions.save(elsewhere, freshlyStored(sessionOf('mallory', clock.now), clock.now))
    other.take(elsewhere)
    const own = cookies.stored.get('__session')?.value ?? ''
    const tossed = [other.stored.get('__session')?.value ?? '', '', 'garbage', own.slice(0, -4), `${own}A`]
    for (const values of [[own], [own, ...tossed], [...tossed, own], [...tossed, own, ...tossed]]) {
      const jar = new CookieJar(new Map([['__session', values]]))
      const exchange = { ...cookies.exchange(), cookies: jar }
      expect((await engine.sessions.load(exchange))?.data.user.sub).toBe('alice')
      expect(await engine.sessions.sweep(exchange)).toBe(false)
      expect(jar.pending()).toEqual([])
    }
    const dead = { ...cookies.exchange(), ...requestCookies(new Map([['__session', tossed]])) }
    expect(await engine.sessions.sweep(dead)).toBe(true)
  })

  test('the first of two live sessions is used, and nothing of the other is mixed in', async () => {
    const alice = await signedIn({}, 3500)
    const bob = new Cookies()
    const exchange = bob.exchange()
    const session = sessionOf('bob', alice.clock.now, 3500)
    const token = { accessToken: 'b', connection: 'c', expiresAt: alice.clock.now + 60 }
    const connected = { ...session, connectionTokenSets: [token] }
    await alice.engine.sessions.save(exchange, freshlyStored(connected, alice.clock.now))
    bob.take(exchange)
    const names = new Set([...alice.cookies.stored.keys(), ...bob.stored.keys()])
    expect(names.size).toBe(3)
    const both = (first: Cookies, second: Cookies) =>
      new CookieJar(
        new Map(
          [...names].map((name) => [
            name,
            [first, second].flatMap((one) => one.stored.get(name)?.value ?? []),
          ]),
        ),
      )
    const read = async (jar: CookieJar) =>
      (await alice.engine.sessions.load({ ...bob.exchange(), cookies: jar }))?.data
    expect(await read(both(alice.cookies, bob))).toEqual(sessionOf('alice', alice.clock.now, 3500))
    expect(await read(both(bob, alice.cookies))).toEqual(connected)
  })

  test('a login that has ended before its response leaves sends no marker, which could replace a newer one', async () => {
    const { engine, cookies, clock } = await signedIn()
    const exchange = cookies.exchange()
    const { path, sameSite, secure } = cookies.stored.get('__session')?.attributes ?? expect.fail('a cookie')
    exchange.cookies.set({ name: 'other', scope: { path, sameSite, secure } }, 'value')
    const login = freshlyStored(sessionOf('bob', clock.now), clock.now)
    await engine.sessions.save(exchange, login)
    const staged = () => exchange.cookies.pending().map(({ name }) => name)
    expect(staged()).toEqual(['other', '__session__ended', '__session'])
    markEnded(login.sessionKey)
    expect(staged()).toEqual(['other'])
  })

  test('one request decrypts its cookie once, and reads its own writes', async () => {
    const { engine, cookies, clock } = await signedIn()
    const exchange = cookies.exchange()
    expect(await engine.sessions.load(exchange)).toBe(await engine.sessions.load(exchange))
    await engine.sessions.save(exchange, freshlyStored(sessionOf('bob', clock.now), clock.now))
    expect((await engine.sessions.load(exchange))?.data.user.sub).toBe('bob')
    await engine.sessions.destroy(exchange)
    expect(await engine.sessions.load(exchange)).toBeNull()
  })
})
