import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { IdpClientOptions, SessionDataStore } from '../../src/config/options.ts'
import { customFetch } from '../../src/config/options.ts'
import type { Engine } from '../../src/engine.ts'
import { isIdpError } from '../../src/errors/base.ts'
import { revokeSessions } from '../../src/flows/administer-sessions.ts'
import { frontchannelLogout } from '../../src/flows/frontchannel-logout.ts'
import { getAccessToken, sessionTokens } from '../../src/flows/get-access-token.ts'
import { getConnectionToken } from '../../src/flows/get-connection-token.ts'
import { logout } from '../../src/flows/logout.ts'
import { updateSession } from '../../src/flows/update-session.ts'
import type { Exchange } from '../../src/http/exchange.ts'
import type { MaybePromise } from '../../src/lib/chain.ts'
import { createSession, freshlyStored } from '../../src/session/model/session.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { Cookies, engineFor } from '../support/engine.ts'

/* Requests of one session run at the same time. Every call of the store and of the provider waits until it is chosen. */

const SEEDS = 25
const REQUESTS = 12
const ISSUER = 'https://idp.example.com/'

type Functions = readonly (keyof SessionDataStore)[]
const MINIMAL: Functions = ['get', 'set', 'delete', 'deleteBySubject', 'deleteByLogoutToken']
const storages: readonly (readonly [name: string, functions: Functions | undefined])[] = [
  ['cookies', undefined],
  ['a store with get, set and delete', MINIMAL],
  ['a store with update', [...MINIMAL, 'update']],
  ['a store with update and lock', [...MINIMAL, 'update', 'lock']],
]

// Loads what the library loads at first use: no time passes while the system reads files.
beforeAll(async () => {
  for (const [, functions] of storages) {
    const world = await start(0, functions)
    const run = new Run(world)
    for (const request of [...requests, (_engine: Engine, exchange: Exchange) => run.end(exchange)])
      await world.choices.drive(request(world.engine, world.cookies.exchange(), run))
  }
})
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
  Reflect.deleteProperty(globalThis, Symbol.for('idp-client'))
})

/** Numbers from 0 to 1 that depend on the seed only. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0
    return ((state ^ (state >>> 12)) >>> 0) / 2 ** 32
  }
}

/** The calls that wait until they are chosen. */
class Choices {
  readonly next: () => number
  readonly #waiting: (() => void)[] = []

  constructor(seed: number) {
    this.next = random(seed)
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)] ?? expect.fail('the list is empty')
  }

  readonly turn = (): Promise<void> => new Promise((resolve) => this.#waiting.push(resolve))

  /** Releases one waiting call, or advances the fake timers. */
  async step(): Promise<void> {
    const [chosen] = this.#waiting.splice(Math.floor(this.next() * this.#waiting.length), 1)
    if (chosen) chosen()
    else if (vi.isFakeTimers()) await vi.advanceTimersByTimeAsync(40)
    for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve))
  }

  /** Lets calls continue until the work has ended. */
  async drive<T>(work: MaybePromise<T>): Promise<T> {
    let isRunning = true
    const end = (): void => {
      isRunning = false
    }
    const running = Promise.resolve(work)
    running.then(end, end)
    while (isRunning) await this.step()
    return running
  }
}

/** A provider that rotates refresh tokens, and those that it has received. */
function rotatingProvider({ turn }: Choices) {
  const sent: string[] = []
  let current = 'rt'
  const respond = (url: string, body: unknown): object => {
    if (url.endsWith('/openid-configuration'))
      return {
        issuer: ISSUER,
        authorization_endpoint: `${ISSUER}authorize`,
        token_endpoint: `${ISSUER}token`,
      }
    const form = new URLSearchParams(String(body))
    const isExchange = form.has('subject_token')
    const token = form.get(isExchange ? 'subject_token' : 'refresh_token') ?? ''
    if (!isExchange) sent.push(token)
    if (token !== current) return { error: 'invalid_grant' }
    const access = { access_token: `at ${sent.length}`, token_type: 'Bearer', expires_in: 600 }
    if (isExchange) return access
    current = `${token}+`
    return { ...access, refresh_token: current }
  }
  const fetch: typeof globalThis.fetch = async (input, init) => {
    await turn()
    const body = respond(String(input), init?.body)
    await turn()
    return Response.json(body, { status: 'error' in body ? 400 : 200 })
  }
  return { sent, fetch }
}

/** A store with some functions, before and after each of which it waits. */
function storeWith(functions: Functions, { turn }: Choices): SessionDataStore {
  return new Proxy(memoryStore({ name: crypto.randomUUID(), clock: () => 1_800_000_000 }), {
    get(target, name: keyof SessionDataStore) {
      if (!functions.includes(name)) return undefined
      const call = target[name] as (...given: unknown[]) => Promise<unknown>
      return async (...given: unknown[]): Promise<unknown> => {
        await turn()
        const result = await call(...given)
        await turn()
        return result
      }
    },
  })
}

async function start(seed: number, functions: Functions | undefined) {
  const choices = new Choices(seed)
  const { fetch, sent } = rotatingProvider(choices)
  const saves = { count: 0 }
  const options: IdpClientOptions = {
    [customFetch]: fetch,
    logoutStrategy: 'local',
    beforeSessionSaved: async (session) => {
      await choices.turn()
      return { ...session, saves: ++saves.count }
    },
  }
  const store = functions && { sessionStore: storeWith(functions, choices), frontChannelLogout: true }
  const { clock, engine } = engineFor({ ...options, ...store })
  const cookies = new Cookies()
  const tokenSet = { accessToken: 'at 0', expiresAt: clock.now + 600, refreshToken: 'rt' }
  const data = createSession({ claims: { sub: 'alice', sid: 's1' }, tokenSet, now: clock.now })
  const login = cookies.exchange()
  await choices.drive(engine.sessions.save(login, freshlyStored(data, clock.now)))
  cookies.take(login)
  return { choices, cookies, engine, saves, sent, isInStore: functions !== undefined }
}

type World = Awaited<ReturnType<typeof start>>

/** The requests of one run, and what they have been promised. */
class Run {
  readonly #world: World
  readonly #updates = new Set<string>()
  #hasEnded = false
  mayEnd = false

  constructor(world: World) {
    this.#world = world
  }

  /** Reads the session; it has every update that was saved before. */
  async read(exchange: Exchange): Promise<void> {
    const saved = this.#world.isInStore ? [...this.#updates] : []
    const hasEnded = this.#hasEnded
    const session = await this.#world.engine.sessions.load(exchange)
    if (hasEnded) expect(session).toBeNull()
    else if (!this.mayEnd)
      expect(Object.keys(session?.data ?? {})).toEqual(expect.arrayContaining(['user', ...saved]))
  }

  async update(exchange: Exchange): Promise<void> {
    const { engine } = this.#world
    const session = await engine.sessions.load(exchange)
    const name = `update ${this.#world.choices.next()}`
    await updateSession(engine, exchange, { ...session?.data, [name]: true })
    this.#updates.add(name)
  }

  async end(exchange: Exchange): Promise<void> {
    const { choices, engine, isInStore } = this.#world
    this.mayEnd = true
    const ends = [
      () => logout(engine, exchange, { federated: false, correlationId: '' }),
      () => revokeSessions(engine, 'alice'),
      () => frontchannelLogout(engine, { iss: ISSUER, sid: 's1', correlationId: '' }),
    ]
    await choices.pick(isInStore ? ends : ends.slice(0, 1))()
    this.#hasEnded = true
  }
}

type Request = (engine: Engine, exchange: Exchange, run: Run) => unknown

const requests: readonly Request[] = [
  (_engine, exchange, run) => run.read(exchange),
  (_engine, exchange, run) => run.update(exchange),
  (engine, exchange) => getAccessToken(engine, exchange),
  (engine, exchange) => getAccessToken(engine, exchange, { refresh: true }),
  (engine, exchange) => getAccessToken(engine, exchange, { audience: 'https://api.example.com/' }),
  (engine, exchange) =>
    getAccessToken(engine, exchange, { audience: 'https://other.example.com/', refresh: true }),
  (engine, exchange) =>
    getConnectionToken(engine, exchange, { connection: 'github' }, sessionTokens(engine, exchange)),
  (engine, exchange, run) =>
    Promise.all([getAccessToken(engine, exchange, { refresh: true }), run.update(exchange)]),
  // Of a request that can set no cookie.
  (engine, exchange) => getAccessToken(engine, { ...exchange, canWrite: () => false }, { refresh: true }),
]

/** Sends requests that overlap, and responds to each. Only those of an ended session may fail. */
async function overlap(world: World, run: Run, mayEnd: boolean): Promise<void> {
  const { choices, cookies, engine } = world
  const running = new Set<Promise<void>>()
  const send = async (request: Request): Promise<void> => {
    const exchange = cookies.exchange()
    try {
      await request(engine, exchange, run)
    } catch (error) {
      if (!run.mayEnd || !isIdpError(error)) throw error
    }
    cookies.take(exchange)
  }
  for (let left = REQUESTS; left > 0 || running.size > 0; ) {
    if (left > 0 && choices.next() < 0.4) {
      left--
      const isEnd = mayEnd && left === Math.floor(REQUESTS / 3)
      const sending = send(isEnd ? (_engine, exchange) => run.end(exchange) : choices.pick(requests))
      running.add(sending)
      sending.then(
        () => running.delete(sending),
        () => {},
      )
    } else await choices.step()
    await Promise.race([...running, Promise.resolve()])
  }
}

async function check(seed: number, functions: Functions | undefined): Promise<void> {
  const world = await start(seed, functions)
  const { choices, cookies, engine, saves, sent } = world
  const run = new Run(world)
  const mayEnd = seed % 2 === 0
  await overlap(world, run, mayEnd)
  await choices.drive(run.read(cookies.exchange()))
  if (mayEnd) return
  const exchange = cookies.exchange()
  await choices.drive(getAccessToken(engine, exchange, { refresh: true }))
  cookies.take(exchange)
  const session = await choices.drive(engine.sessions.load(cookies.exchange()))
  expect(session?.data['saves']).toBe(saves.count)
  expect(new Set(sent).size).toBe(sent.length)
}

test.each(storages)(
  'with %s, overlapping requests keep the session, its updates and its tokens, and an end of it',
  async (_name, functions) => {
    for (let seed = 1; seed <= SEEDS; seed++)
      await check(seed, functions).catch((cause: unknown) => {
        throw new Error(`the interleaving of seed ${seed}`, { cause })
      })
  },
)
