import { describe, expect, test } from 'vitest'
import { Cookies, engineFor } from '../../test/support/engine.ts'
import { fc, runsDividedBy } from '../../test/support/fast-check.ts'
import type { IdpClientOptions, SessionDataStore } from '../config/options.ts'
import type { Engine } from '../engine.ts'
import type { Exchange } from '../http/exchange.ts'
import { requestCookies } from '../http/host-state.ts'
import type { LogEvent } from '../log/log.ts'
import { createCookieSessionStorage } from './cookie/in-cookie.ts'
import { freshlyStored } from './model/session.ts'
import type { SessionData } from './model/session-data.ts'
import type { StoredSession } from './model/stored-session.ts'

const NAME = '__session'
const NOW = 1_800_000_000
const OTHER_SECRET = 'another secret of thirty-two characters'

/** A store that counts reads; records are JSON. */
class CountingStore implements SessionDataStore {
  readonly records = new Map<string, string>()
  reads = 0

  async get(id: string): Promise<SessionData | null> {
    this.reads++
    const text = this.records.get(id)
    return text === undefined ? null : JSON.parse(text)
  }

  async set(id: string, session: SessionData): Promise<void> {
    this.records.set(id, JSON.stringify(session))
  }

  async delete(id: string): Promise<void> {
    this.records.delete(id)
  }
}

interface World {
  readonly engine: Engine
  readonly clock: { now: number }
  readonly store: CountingStore | undefined
}

const events: LogEvent[] = []

function worldOf(isStored: boolean): World {
  const store = isStored ? new CountingStore() : undefined
  const options: IdpClientOptions = {
    ...(store ? { sessionStore: store } : {}),
    logger: (event) => events.push(event),
  }
  return { ...engineFor(options), store }
}

function sessionOf(sub: string, createdAt = NOW, size = 0): StoredSession {
  const user = { sub, note: Buffer.alloc(size, 'abcdefghij').toString() }
  const tokenSet = { accessToken: 'at', expiresAt: createdAt + 60, refreshToken: `rt-${sub}` }
  return freshlyStored({ user, tokenSet, internal: { createdAt } }, createdAt)
}

type Jar = Map<string, string[]>

/** The cookies that the storage writes for a session, by name. */
async function cookiesFor(engine: Engine, session: StoredSession): Promise<Map<string, string>> {
  const browser = new Cookies()
  const exchange = browser.exchange()
  await engine.sessions.save(exchange, session)
  browser.take(exchange)
  return new Map([...browser.stored].map(([name, { value }]) => [name, value]))
}

function exchangeWith(...sets: readonly ReadonlyMap<string, string>[]): Exchange {
  const jar: Jar = new Map()
  for (const [name, value] of sets.flatMap((set) => [...set]))
    jar.set(name, [...(jar.get(name) ?? []), value])
  return { ...new Cookies().exchange(), ...requestCookies(jar) }
}

/** The kind of one value of the cookie. */
type Kind = 'live' | 'large' | 'ended' | 'cut' | 'another-secret' | 'another-client' | 'empty' | 'garbage'

interface Given {
  readonly kind: Kind
  readonly session: StoredSession
  readonly cookies: ReadonlyMap<string, string>
}

const OWN_DEAD: ReadonlySet<Kind> = new Set(['ended', 'cut'])

async function make({ engine, store }: World, kind: Kind, index: number): Promise<Given> {
  const sub = `${kind}-${index}`
  // An ended session is one that was kept for too long, or whose record is gone.
  const createdAt = kind === 'ended' && !store ? NOW - 400_000 : NOW - 10 + (index % 10)
  const session = sessionOf(sub, createdAt, kind === 'large' ? 3500 : 0)
  const bare = (value: string): Given => ({ kind, session, cookies: new Map([[NAME, value]]) })
  if (kind === 'empty') return bare('')
  if (kind === 'garbage') return bare('garbage')
  const options = store ? { sessionStore: store } : {}
  if (kind === 'another-secret' || kind === 'another-client') {
    const changed = kind === 'another-secret' ? { secret: OTHER_SECRET } : { clientId: 'other' }
    const { engine: other } = engineFor({ ...options, ...changed })
    return { kind, session, cookies: await cookiesFor(other, session) }
  }
  const before = new Set(store?.records.keys())
  // Browsers take no cookie whose time is over, so this one was written while sessions lasted longer.
  const lasting = engineFor({ session: { absoluteDuration: 10_000_000, rolling: false } })
  const cookies = await cookiesFor(kind === 'ended' && !store ? lasting.engine : engine, session)
  if (kind === 'ended') {
    for (const id of [...(store?.records.keys() ?? [])]) if (!before.has(id)) store?.records.delete(id)
  }
  return kind === 'cut' ? bare((cookies.get(NAME) ?? '').slice(0, -3)) : { kind, session, cookies }
}

const kinds = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constant<Kind>('ended') },
    { weight: 2, arbitrary: fc.constant<Kind>('live') },
    {
      weight: 4,
      arbitrary: fc.constantFrom<Kind>(
        'large',
        'cut',
        'another-secret',
        'another-client',
        'empty',
        'garbage',
      ),
    },
  ),
  { minLength: 1, maxLength: 12 },
)

const isLive = ({ kind }: Given): boolean => kind === 'live' || kind === 'large'
const isBare = ({ cookies }: Given): boolean => cookies.has(NAME)

/** In the order in which cookies are tried: bare ones first, then those in chunks. */
const inOrder = (all: readonly Given[]): Given[] => [
  ...all.filter(isBare),
  ...all.filter((one) => !isBare(one)),
]

describe.each([
  ['in cookies', false],
  ['in a store', true],
])('several cookies of one name, sessions %s', (_name, isStored) => {
  async function given(all: readonly Kind[]): Promise<World & { readonly all: Given[] }> {
    const world = worldOf(isStored)
    const made: Given[] = []
    for (const [index, kind] of all.entries()) made.push(await make(world, kind, index))
    if (world.store) world.store.reads = 0
    return { ...world, all: made }
  }

  const request = (all: readonly Given[]): Exchange => exchangeWith(...all.map(({ cookies }) => cookies))
  /** Those that name a session of this client. */
  const references = (all: readonly Given[]): Given[] =>
    inOrder(all).filter((one) => isLive(one) || one.kind === 'ended')

  test('[C1] in every order: a live session is found, and nothing is deleted while there is one', async () => {
    await fc.assert(
      fc.asyncProperty(kinds, async (list) => {
        const { all, engine, store } = await given(list)
        const exchange = request(all)
        const tried = store ? references(all).slice(0, 5) : inOrder(all)
        const expected = tried.find(isLive)
        const found = await engine.sessions.load(exchange)
        expect(found?.data.user.sub).toBe(expected?.session.data.user.sub)
        const swept = await engine.sessions.sweep(exchange)
        const isUntried = !expected && store !== undefined && references(all).length > 5
        const hasOwnDead = all.some(({ kind }) => OWN_DEAD.has(kind))
        expect(swept).toBe(!expected && !isUntried && hasOwnDead)
        expect(exchange.cookies.pending().length > 0).toBe(swept)
        if (!store) return
        const reads = expected ? tried.indexOf(expected) + 1 : tried.length
        expect(store.reads).toBe(reads)
      }),
      { numRuns: runsDividedBy(2) },
    )
  })

  test('[C1] in every order: after a logout no cookie of the request is a session', async () => {
    await fc.assert(
      fc.asyncProperty(kinds, fc.boolean(), async (list, isSaved) => {
        const { all, engine, store } = await given(list)
        const exchange = request(all)
        const found = await engine.sessions.load(exchange)
        // The middleware has recorded the use of the session before; with cookies, the others are not found after that.
        if (isStored && isSaved && found) await engine.sessions.save(exchange, found)
        await engine.sessions.destroy(exchange)
        if (store) expect([...store.records.values()].join()).not.toMatch(/"sub":"(?:live|large)-/)
        for (const one of all) expect(await engine.sessions.load(request([one]))).toBeNull()
        expect(await engine.sessions.load(request(all))).toBeNull()
        const cleared = exchange.cookies.pending().filter(({ attributes }) => attributes.maxAge === 0)
        const names = new Set(all.flatMap(({ cookies }) => [...cookies.keys()]))
        expect(new Set(cleared.map(({ name }) => name))).toEqual(names)
      }),
      { numRuns: runsDividedBy(2) },
    )
  })

  test('[C1] in every order: a login takes precedence over the cookies of the request', async () => {
    await fc.assert(
      fc.asyncProperty(kinds, fc.nat(12), async (list, at) => {
        const { all, clock, engine } = await given(list)
        clock.now += 1
        const exchange = request(all)
        const begun = sessionOf('begun', clock.now)
        expect(await engine.sessions.save(exchange, begun)).toBe(true)
        const cookies = new Map(
          exchange.cookies
            .pending()
            .filter(({ attributes }) => attributes.maxAge !== 0)
            .map(({ name, value }) => [name, value]),
        )
        // Where the others have another path, they stay; the new one comes anywhere among them.
        const sets = all.map((one) => one.cookies)
        sets.splice(at, 0, cookies)
        const next = exchangeWith(...sets)
        expect((await engine.sessions.load(next))?.data.user.sub).toBe('begun')
        expect(await engine.sessions.sweep(next)).toBe(false)
      }),
      { numRuns: runsDividedBy(2) },
    )
  })
})

test.each([
  ['cookies', 'before'],
  ['a store', 'before'],
  ['a store', 'during'],
])(
  'with %s, a change is dropped whose session a login of the same request replaces %s its write',
  async (storage, when) => {
    const { engine, store } = worldOf(storage === 'a store')
    const found = sessionOf('alice')
    const browser = new Cookies()
    const exchange = exchangeWith(await cookiesFor(engine, found))
    await engine.sessions.load(exchange)
    const changed = { ...found, data: { ...found.data, theme: 'dark' } }
    const change = () => engine.sessions.save(exchange, changed, { found })
    const changing = when === 'during' ? change() : undefined
    await engine.sessions.save(exchange, sessionOf('bob'))
    expect(await (changing ?? change())).toBe(false)
    browser.take(exchange)
    for (const request of [exchange, browser.exchange()])
      expect((await engine.sessions.load(request))?.data.user.sub).toBe('bob')
    if (store) expect(store.records.size).toBe(1)
  },
)

test('with a store, a request whose change is dropped because another one has logged out has no session', async () => {
  const { engine } = worldOf(true)
  const found = sessionOf('alice')
  const sent = await cookiesFor(engine, found)
  const exchange = exchangeWith(sent)
  await engine.sessions.load(exchange)
  await engine.sessions.destroy(exchangeWith(sent))
  expect(await engine.sessions.save(exchange, { ...found, fromLink: true }, { found })).toBe(false)
  expect(await engine.sessions.load(exchange)).toBeNull()
})

describe('cookies of one request', () => {
  test('[C1] another process recognizes by the marker that all of them ended, also those of the same second', async () => {
    const { engine } = worldOf(false)
    const one = await cookiesFor(engine, sessionOf('one'))
    const other = await cookiesFor(engine, sessionOf('other', NOW, 3500))
    for (const sets of [
      [one, other],
      [other, one],
    ]) {
      const exchange = exchangeWith(...sets)
      const first = createCookieSessionStorage(engine)
      await first.destroy(exchange)
      const marker = new Map(
        exchange.cookies
          .pending()
          .filter(({ attributes }) => attributes.maxAge !== 0)
          .map(({ name, value }) => [name, value]),
      )
      expect([...marker.keys()]).toEqual([`${NAME}__ended`])
      for (const late of [one, other]) {
        expect(await createCookieSessionStorage(engine).load(exchangeWith(late))).not.toBeNull()
        expect(await createCookieSessionStorage(engine).load(exchangeWith(late, marker))).toBeNull()
      }
    }
  })

  test('[C1] a session that ended in this process hides no other, and nothing is deleted for a late request', async () => {
    const { engine } = worldOf(false)
    const [one, other] = [sessionOf('one'), sessionOf('other')]
    const late = await cookiesFor(engine, one)
    await engine.sessions.destroy(exchangeWith(late))
    const live = await cookiesFor(engine, other)
    for (const sets of [
      [late, live],
      [live, late],
    ]) {
      expect((await engine.sessions.load(exchangeWith(...sets)))?.data.user.sub).toBe('other')
    }
    const exchange = exchangeWith(late)
    expect(await engine.sessions.sweep(exchange)).toBe(false)
    expect(exchange.cookies.pending()).toEqual([])
  })

  test('[C1] five references are tried, one notice reports the others, and a logout deletes sixteen', async () => {
    const world = worldOf(true)
    const made: Given[] = []
    for (let index = 0; index < 16; index++)
      made.push(await make(world, index < 15 ? 'ended' : 'live', index))
    const { engine, store } = world
    const live = made.at(-1)
    if (!store || !live) throw new Error('there is a store and a session')
    const cookies = made.map((one) => one.cookies)
    store.reads = 0
    for (let times = 0; times < 2; times++) {
      const exchange = exchangeWith(...cookies)
      expect(await engine.sessions.load(exchange)).toBeNull()
      expect(await engine.sessions.sweep(exchange)).toBe(false)
      expect(exchange.cookies.pending()).toEqual([])
    }
    expect(store.reads).toBe(10)
    // Of all that this process did before, too.
    const told = events.filter(
      (event) => 'message' in event && event.message.includes('more than 5 sessions'),
    )
    expect(told).toEqual([expect.objectContaining({ code: 'NOTICE' })])
    expect(JSON.stringify(told)).toContain('session.cookie.name')
    await engine.sessions.destroy(exchangeWith(...cookies))
    expect(store.records.size).toBe(0)
    expect(await engine.sessions.load(exchangeWith(live.cookies))).toBeNull()
  })

  test('[C1] of several sessions in a store, only the one that the request uses is written', async () => {
    const { engine, store } = worldOf(true)
    const [used, other] = [sessionOf('used'), sessionOf('other')]
    const sets = [await cookiesFor(engine, used), await cookiesFor(engine, other)]
    const before = new Map(store?.records)
    const exchange = exchangeWith(...sets)
    expect((await engine.sessions.load(exchange))?.sessionKey).toBe(used.sessionKey)
    const changed = { ...other, data: { ...other.data, note: 'changed' } }
    expect(await engine.sessions.save(exchange, changed, { found: other })).toBe(false)
    expect(store?.records).toEqual(before)
  })

  test('[C1] of more references than sixteen, those of the latest cookies are tried', async () => {
    const { clock, ...world } = worldOf(true)
    const made: Given[] = []
    for (let index = 0; index < 17; index++) {
      clock.now += 1
      made.push(await make({ ...world, clock }, index < 16 ? 'ended' : 'live', index))
    }
    const found = await world.engine.sessions.load(exchangeWith(...made.map((one) => one.cookies)))
    expect(found?.data.user.sub).toBe('live-16')
  })

  test('[C1] of more than sixteen sessions in a store, a logout ends sixteen', async () => {
    const world = worldOf(true)
    const made: Given[] = []
    for (let index = 0; index < 18; index++) made.push(await make(world, 'live', index))
    await world.engine.sessions.destroy(exchangeWith(...made.map(({ cookies }) => cookies)))
    expect(world.store?.records.size).toBe(2)
  })

  test('[C1] more than sixteen cookies of the name, all dead, stay and are reported once', async () => {
    const world = worldOf(false)
    const made: Given[] = []
    for (let index = 0; index < 17; index++) made.push(await make(world, 'ended', index))
    const sweep = async (count: number) => {
      const exchange = exchangeWith(...made.slice(0, count).map(({ cookies }) => cookies))
      const swept = await world.engine.sessions.sweep(exchange)
      return [swept, exchange.cookies.pending().length]
    }
    expect(await sweep(16)).toEqual([true, 1])
    expect(await sweep(17)).toEqual([false, 0])
    expect(await sweep(17)).toEqual([false, 0])
    const notices = events.filter((event) => 'message' in event && event.message.includes('more cookies'))
    expect(notices).toHaveLength(1)
  })

  test('[C1] the same session in several cookies is read once', async () => {
    const { engine, store } = worldOf(true)
    const cookies = await cookiesFor(engine, sessionOf('alice'))
    if (store) store.records.clear()
    expect(await engine.sessions.load(exchangeWith(cookies, cookies, cookies))).toBeNull()
    expect(store?.reads).toBe(1)
  })
})
