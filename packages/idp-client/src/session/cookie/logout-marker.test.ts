import { describe, expect, test } from 'vitest'
import { Cookies, engineFor, SECRET } from '../../../test/support/engine.ts'
import { incompressible } from '../../../test/support/incompressible.ts'
import type { IdpClientOptions } from '../../config/options.ts'
import { CookieJar } from '../../http/cookie-jar.ts'
import type { Exchange } from '../../http/exchange.ts'
import { requestCookies } from '../../http/host-state.ts'
import { defined } from '../../lib/objects.ts'
import { utf8 } from '../../lib/utf8.ts'
import type { FormerSessionFound } from '../former.ts'
import { encodeReference } from '../model/reference.ts'
import { freshlyStored } from '../model/session.ts'
import type { StoredSession } from '../model/stored-session.ts'
import type { ProcessMemory } from '../storage.ts'
import { createCookieSessionStorage } from './in-cookie.ts'
import { decodeMarker } from './logout-marker.ts'

const MARKER = '__session__ended'

/** Sessions of one process that knows nothing of any other, nor of what it did itself before. */
function sessionsOf(options: IdpClientOptions = {}) {
  const { clock, engine } = engineFor(options)
  return { clock, engine, sessions: createCookieSessionStorage(engine) }
}

function sessionAt(createdAt: number, sub = 'alice', size = 0): StoredSession {
  const user = { sub, note: incompressible(size) }
  const tokenSet = { accessToken: 'at', expiresAt: createdAt + 60 }
  return freshlyStored({ user, tokenSet, internal: { createdAt } }, createdAt)
}

type Sessions = ReturnType<typeof sessionsOf>['sessions']

async function inRequest(cookies: Cookies, work: (exchange: Exchange) => unknown): Promise<string[]> {
  const exchange = cookies.exchange()
  await work(exchange)
  return cookies.take(exchange)
}

const save = (sessions: Sessions, cookies: Cookies, session: StoredSession) =>
  inRequest(cookies, (exchange) => sessions.save(exchange, session))
const logOut = (sessions: Sessions, cookies: Cookies) => inRequest(cookies, sessions.destroy)
const sweep = (sessions: Sessions, cookies: Cookies) => inRequest(cookies, sessions.sweep)
const whoIn = async (sessions: Sessions, cookies: Cookies) =>
  (await sessions.load(cookies.exchange()))?.data.user.sub ?? null

/** A browser that logged out at the present, with cookies of the ended session that came late. */
async function loggedOut(made: ReturnType<typeof sessionsOf>, ended = sessionAt(made.clock.now - 100)) {
  const cookies = new Cookies()
  await save(made.sessions, cookies, ended)
  await logOut(made.sessions, cookies)
  return { cookies, ended, late: (session = ended) => save(made.sessions, withoutMarker(cookies), session) }
}

/** The cookies of a browser before the logout, for responses that arrive late. */
function withoutMarker(cookies: Cookies): Cookies {
  const before = new Cookies()
  before.take = (exchange) => cookies.take(exchange)
  return before
}

describe('the logout marker', () => {
  test('has the attributes of the session cookie, and the lifetime that the session could have had', async () => {
    const cookie = { path: '/app', domain: 'example.com', sameSite: 'strict' } as const
    const made = sessionsOf({ session: { cookie, absoluteDuration: 1000, inactivityDuration: 50 } })
    const { cookies } = await loggedOut(made, sessionAt(made.clock.now - 40))
    expect([...cookies.stored.keys()]).toEqual([MARKER])
    const attributes = { ...cookie, httpOnly: true, secure: true, maxAge: 960 }
    expect(cookies.stored.get(MARKER)?.attributes).toEqual(attributes)
  })

  test('is also set by a login that replaces another, so that a late response cannot change the user', async () => {
    const made = sessionsOf()
    const cookies = new Cookies()
    const first = sessionAt(made.clock.now - 100)
    await save(made.sessions, cookies, first)
    await save(made.sessions, cookies, sessionAt(made.clock.now, 'bob'))
    expect(await whoIn(made.sessions, cookies)).toBe('bob')
    await save(made.sessions, withoutMarker(cookies), first)
    expect(await whoIn(made.sessions, cookies)).toBeNull()
    await sweep(made.sessions, cookies)
    await save(made.sessions, cookies, sessionAt(made.clock.now, 'bob'))
    expect(await whoIn(made.sessions, cookies)).toBe('bob')
  })

  test('is not set by a session that continues', async () => {
    const made = sessionsOf()
    const cookies = new Cookies()
    const session = sessionAt(made.clock.now - 100)
    await save(made.sessions, cookies, session)
    await save(made.sessions, cookies, { ...session, usedAt: made.clock.now })
    expect([...cookies.stored.keys()]).toEqual(['__session'])
  })

  test('has a lifetime of at least a second', async () => {
    const made = sessionsOf({ session: { absoluteDuration: 100, rolling: false } })
    const cookies = new Cookies()
    await save(made.sessions, cookies, sessionAt(made.clock.now - 99))
    const exchange = cookies.exchange()
    await made.sessions.load(exchange)
    made.clock.now += 10
    await made.sessions.destroy(exchange)
    cookies.take(exchange)
    expect(cookies.stored.get(MARKER)?.attributes.maxAge).toBe(1)
  })

  test('is encrypted', async () => {
    const made = sessionsOf()
    const { cookies, ended } = await loggedOut(made)
    const text = cookies.stored.get(MARKER)?.value ?? ''
    expect(Buffer.from(text.split('.')[0] ?? '', 'base64url').toString()).toContain('"typ":"logout"')
    expect(text).not.toContain(ended.sessionKey)
    expect(`${MARKER}=${text}`.length).toBeLessThan(300)
  })

  test('is not set without a valid session', async () => {
    const made = sessionsOf()
    const cookies = new Cookies()
    expect(await logOut(made.sessions, cookies)).toEqual([])
    await save(made.sessions, cookies, sessionAt(made.clock.now))
    const cookie = cookies.stored.get('__session')
    if (cookie) cookies.stored.set('__session', { ...cookie, value: `${cookie.value.slice(0, -4)}AAAA` })
    expect(await logOut(made.sessions, cookies)).toEqual(['__session'])
    expect(cookies.stored.size).toBe(0)
  })

  test('rejects the session that it names; the next response deletes that session and keeps the marker', async () => {
    const made = sessionsOf()
    const { cookies, ended, late } = await loggedOut(made)
    for (const size of [0, 3500, 4500]) {
      await late({ ...ended, data: sessionAt(ended.data.internal.createdAt, 'alice', size).data })
      expect(cookies.stored.size).toBe(size === 0 ? 2 : 3)
      expect(await whoIn(made.sessions, cookies)).toBeNull()
      expect(await sweep(made.sessions, cookies)).not.toContain(MARKER)
      expect([...cookies.stored.keys()]).toEqual([MARKER])
      expect(await sweep(made.sessions, cookies)).toEqual([])
    }
  })

  test('is kept by a second logout, which deletes the late cookies', async () => {
    const made = sessionsOf()
    const { cookies, late } = await loggedOut(made)
    const marker = cookies.stored.get(MARKER)
    await late()
    await logOut(made.sessions, cookies)
    expect([...cookies.stored]).toEqual([[MARKER, marker]])
  })

  test('ends older sessions, but none of the same second or later', async () => {
    const made = sessionsOf()
    const { cookies, ended, late } = await loggedOut(made)
    const { now } = made.clock
    for (const [createdAt, alive] of [
      [ended.data.internal.createdAt - 1, false],
      [now - 1, false],
      [now, true],
      [now + 1, true],
    ] as const) {
      await late(sessionAt(createdAt, 'bob'))
      expect(await whoIn(made.sessions, cookies)).toBe(alive ? 'bob' : null)
    }
  })

  test.each([
    ['in one cookie, which late ones replace', 0, null],
    ['in several cookies, found beside late ones', 3500, 'bob'],
  ])('is not changed by a new login (%s)', async (_, size, found) => {
    const made = sessionsOf()
    const { cookies, late } = await loggedOut(made)
    const marker = cookies.stored.get(MARKER)
    await save(made.sessions, cookies, sessionAt(made.clock.now, 'bob', size))
    expect(await whoIn(made.sessions, cookies)).toBe('bob')
    made.clock.now += 400
    const session = await made.sessions.load(cookies.exchange())
    if (session) await save(made.sessions, cookies, { ...session, usedAt: made.clock.now })
    expect(await whoIn(made.sessions, cookies)).toBe('bob')
    expect(cookies.stored.get(MARKER)).toEqual(marker)
    await late()
    expect(await whoIn(made.sessions, cookies)).toBe(found)
  })

  test('does not name a session of the request that a write makes the current one', async () => {
    const made = sessionsOf()
    const [first, second] = [sessionAt(made.clock.now - 2), sessionAt(made.clock.now - 1, 'bob')]
    const values: string[] = []
    for (const session of [first, second]) {
      const cookies = new Cookies()
      await save(made.sessions, cookies, session)
      values.push(cookies.stored.get('__session')?.value ?? '')
    }
    const cookies = new Cookies()
    const both = { ...cookies.exchange(), ...requestCookies(new Map([['__session', values]])) }
    await made.sessions.save(both, second)
    cookies.take(both)
    expect(cookies.stored.has(MARKER)).toBe(true)
    expect(await whoIn(made.sessions, cookies)).toBe('bob')
  })

  test('keeps the sessions that it named earlier in the same request', async () => {
    const made = sessionsOf()
    const { cookies } = await loggedOut(made)
    const first = sessionAt(made.clock.now)
    await save(made.sessions, cookies, first)
    await inRequest(cookies, async (exchange) => {
      for (const sub of ['bob', 'carol']) await made.sessions.save(exchange, sessionAt(made.clock.now, sub))
    })
    await save(made.sessions, withoutMarker(cookies), first)
    expect(await whoIn(made.sessions, cookies)).toBeNull()
  })

  test('names no session of an older marker, whose time ends it', async () => {
    const made = sessionsOf()
    const { cookies } = await loggedOut(made)
    const before = cookies.stored.get(MARKER)?.value.length
    made.clock.now += 5
    await save(made.sessions, cookies, sessionAt(made.clock.now, 'bob'))
    made.clock.now += 5
    await logOut(made.sessions, cookies)
    expect(cookies.stored.get(MARKER)?.value).toHaveLength(before ?? 0)
  })

  test('is replaced by the next logout, which keeps its effect', async () => {
    const made = sessionsOf()
    const { cookies, late } = await loggedOut(made)
    made.clock.now += 5
    const second = sessionAt(made.clock.now, 'bob')
    await save(made.sessions, cookies, second)
    made.clock.now += 5
    await logOut(made.sessions, cookies)
    await late()
    expect(await whoIn(made.sessions, cookies)).toBeNull()
    await late(second)
    expect(await whoIn(made.sessions, cookies)).toBeNull()
  })
})

describe('clocks that differ', () => {
  test('a login on a machine whose clock is behind that of the logout stays valid', async () => {
    const made = sessionsOf()
    const { cookies, late } = await loggedOut(made)
    made.clock.now -= 30
    const login = sessionAt(made.clock.now, 'bob')
    await save(made.sessions, cookies, login)
    for (const seconds of [0, 29, 30, 31, 1000]) {
      made.clock.now += seconds
      expect(await whoIn(made.sessions, cookies)).toBe('bob')
    }
    await late()
    expect(await whoIn(made.sessions, cookies)).toBeNull()
    await late(login)
    expect(await whoIn(made.sessions, cookies)).toBe('bob')
  })

  test('a logout whose time is in the future ends only the session that it names', async () => {
    const made = sessionsOf()
    const { cookies, late } = await loggedOut(made)
    made.clock.now -= 3600
    await late(sessionAt(made.clock.now, 'bob'))
    expect(await whoIn(made.sessions, cookies)).toBe('bob')
    await late()
    expect(await whoIn(made.sessions, cookies)).toBeNull()
  })
})

describe('invalid markers', () => {
  const made = sessionsOf()
  const reference = {
    sessionKey: 'a'.repeat(22),
    clientTag: '',
    writtenAt: made.clock.now + 100_000_000,
  }

  async function sealed(changes: Partial<typeof reference>, purpose: 'logout' | 'session-id' = 'logout') {
    const clientTag = await made.engine.clientTag()
    const now = made.clock.now
    return made.engine.sealer.seal(
      purpose,
      encodeReference({ ...reference, clientTag, writtenAt: now, ...changes }),
    )
  }

  test.each<[string, () => Promise<string> | string]>([
    ['empty', () => ''],
    ['garbage', () => '%E0%A4%A'],
    ['of another client', () => sealed({ clientTag: 'someone-else' })],
    ['of another purpose', () => sealed({}, 'session-id')],
    ['of another version', () => made.engine.sealer.seal('logout', Buffer.from(`2.${'a'.repeat(40)}.x`))],
    ['cut off', async () => (await sealed({})).slice(0, -1)],
    [
      'sealed with another secret',
      async () => {
        const other = engineFor({ secret: `${SECRET}x` }).engine
        const clientTag = await made.engine.clientTag()
        const marker = { ...reference, clientTag, writtenAt: made.clock.now }
        return other.sealer.seal('logout', encodeReference(marker))
      },
    ],
  ])('%s: it rejects no session, and is left alone', async (_, value) => {
    const cookies = new Cookies()
    await save(made.sessions, cookies, sessionAt(made.clock.now - 5))
    const scope = { httpOnly: true, path: '/', sameSite: 'lax', secure: true } as const
    cookies.stored.set(MARKER, { value: await value(), attributes: scope })
    expect(await whoIn(made.sessions, cookies)).toBe('alice')
    expect(await sweep(made.sessions, cookies)).toEqual([])
    await logOut(made.sessions, cookies)
    await save(made.sessions, withoutMarker(cookies), sessionAt(made.clock.now - 5))
    expect(await whoIn(made.sessions, cookies)).toBeNull()
  })

  test('each valid marker of several is applied', async () => {
    const { cookies, late } = await loggedOut(made)
    await late()
    const [session = '', marker = ''] = ['__session', MARKER].map((name) => cookies.stored.get(name)?.value)
    for (const values of [
      ['garbage', marker],
      [marker, 'garbage'],
    ]) {
      const received = new Map<string, string | string[]>([
        ['__session', session],
        [MARKER, values],
      ])
      const exchange = { ...cookies.exchange(), ...requestCookies(received) }
      expect(await made.sessions.load(exchange)).toBeNull()
    }
  })

  test('a marker is valid while its secret is in the list', async () => {
    const { cookies, late } = await loggedOut(made)
    await late()
    const next = 'the next secret has thirty-two or more'
    const both = sessionsOf({ secret: [next, SECRET] })
    expect(await whoIn(both.sessions, cookies)).toBeNull()
    await save(both.sessions, withoutMarker(cookies), sessionAt(both.clock.now - 100, 'bob'))
    expect(await whoIn(both.sessions, cookies)).toBeNull()
    const after = sessionsOf({ secret: next })
    expect(await whoIn(after.sessions, cookies)).toBe('bob')
  })
})

describe('several markers', () => {
  test('a second marker keeps the sessions of one that a clock ahead wrote later', async () => {
    const [here, ahead] = [sessionsOf(), sessionsOf()]
    ahead.clock.now += 120
    const first = sessionAt(ahead.clock.now - 1, 'alice')
    const cookies = new Cookies()
    await save(ahead.sessions, cookies, first)
    const late = withoutMarker(cookies)
    await logOut(ahead.sessions, cookies)
    const second = sessionAt(here.clock.now, 'bob')
    await save(here.sessions, cookies, second)
    await logOut(here.sessions, cookies)
    await save(ahead.sessions, late, first)
    // Whichever machine looks, and whatever its clock says.
    for (const { sessions } of [here, ahead]) expect(await whoIn(sessions, cookies)).toBeNull()
    expect(cookies.stored.get(MARKER)?.value.length).toBeLessThan(400)
  })

  test('name at most 16 sessions, and at most 16 of them are read', async () => {
    const made = sessionsOf()
    const cookies = new Cookies()
    for (let at = 0; at < 40; at++) {
      await save(made.sessions, cookies, sessionAt(made.clock.now, `user-${at}`))
      await logOut(made.sessions, cookies)
    }
    expect(cookies.stored.get(MARKER)?.value.length).toBeLessThan(1000)

    let opened = 0
    const { open } = made.engine.sealer
    const sealer: typeof made.engine.sealer = {
      ...made.engine.sealer,
      open: (purpose, sealed) => {
        if (purpose === 'logout') opened += 1
        return open(purpose, sealed)
      },
    }
    const sessions = createCookieSessionStorage({ ...made.engine, sealer })
    const own = new Cookies()
    await save(made.sessions, own, sessionAt(made.clock.now))
    const live = own.stored.get('__session')?.value ?? ''
    const jar = new CookieJar(
      new Map([
        ['__session', Array(10).fill(live)],
        [MARKER, Array(40).fill(cookies.stored.get(MARKER)?.value ?? '')],
      ]),
    )
    await sessions.destroy({ ...own.exchange(), cookies: jar })
    expect(opened).toBe(16)
  })
})

describe('a session of the former library', () => {
  function takingOver(memory?: ProcessMemory) {
    const made = sessionsOf()
    const refusals: string[] = []
    const session = sessionAt(made.clock.now - 100)
    const found: FormerSessionFound = {
      ...session,
      convert: async () => session,
      reportTakenOver: () => {},
      reportNotTakenOver: (reason) => refusals.push(reason),
    }
    const find = async () => found
    const former = () => ({ find, findBeside: find, clear: async () => {}, rememberedUntil: () => 0 })
    const parts = { ...made.engine, former: async () => former(), ...defined({ memory }) }
    return { sessions: createCookieSessionStorage(parts), refusals }
  }

  test('is ended by the marker in every process', async () => {
    const { refusals, sessions } = takingOver()
    const cookies = new Cookies()
    expect(await whoIn(sessions, cookies)).toBe('alice')
    await logOut(sessions, cookies)
    expect(await whoIn(sessions, cookies)).toBeNull()
    expect(refusals).toEqual(['ended'])
  })

  test('is ended in the process of the logout also for a request without the marker', async () => {
    const memory = { hasEnded: () => true, markEnded() {}, wasJustReplaced: () => false, keepMainToken() {} }
    const { refusals, sessions } = takingOver(memory)
    expect(await whoIn(sessions, new Cookies())).toBeNull()
    expect(refusals).toEqual(['ended'])
  })
})

test.each([
  ['another version', utf8('2.client.aaaaaaaaaaaaaaaaaaaaaa.a')],
  ['bytes that are no text', new Uint8Array([0x31, 0x2e, 0xff])],
])('%s is not a marker', (_title, bytes) => {
  expect(decodeMarker(bytes)).toBeNull()
})
