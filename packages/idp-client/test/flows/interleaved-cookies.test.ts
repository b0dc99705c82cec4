import { beforeAll, expect, test } from 'vitest'
import { customClock, customFetch } from '../../src/config/options.ts'
import type { Engine } from '../../src/engine.ts'
import { getAccessToken } from '../../src/flows/get-access-token.ts'
import { touchSession } from '../../src/flows/touch-session.ts'
import { updateSession } from '../../src/flows/update-session.ts'
import type { Exchange } from '../../src/http/exchange.ts'
import { createSession, freshlyStored } from '../../src/session/model/session.ts'
import type { SessionData } from '../../src/session/model/session-data.ts'
import { Cookies, engineFor } from '../support/engine.ts'
import { Choices, interleavedProvider } from '../support/interleaving.ts'
import { ConcurrentProcess } from '../support/processes.ts'

/*
 * Requests that set cookies come in turn, to one of two processes. Requests that can set none overlap with them, and refresh the
 * session. Then nothing is lost.
 */

const SEEDS = 15
const STEPS = 12

async function start(seed: number, rotates: boolean) {
  const choices = new Choices(seed)
  const clock = { now: 1_800_000_000 }
  const { fetch, sent } = interleavedProvider(choices, rotates)
  const saves = { count: 0 }
  const options = {
    [customFetch]: fetch,
    [customClock]: () => clock.now,
    beforeSessionSaved: async (session: SessionData) => {
      await choices.turn()
      saves.count += 1
      return { ...session, saves: saves.count, user: { ...session.user, saves: saves.count } }
    },
  }
  const processes = [new ConcurrentProcess(), new ConcurrentProcess()].map((process) => {
    const { engine } = process.run(() => engineFor(options))
    return <T>(work: (engine: Engine) => T): T => process.run(() => work(engine))
  })
  const cookies = new Cookies()
  /** Sends a request that may set cookies, and receives its response. */
  async function send<T>(at: number, work: (engine: Engine, exchange: Exchange) => T): Promise<void> {
    const exchange = cookies.exchange()
    const run = processes[at] ?? expect.fail('there are two')
    await choices.drive(run(async (engine) => work(engine, exchange)))
    run(() => cookies.take(exchange))
  }
  const tokenSet = { accessToken: 'at 0', expiresAt: clock.now + 600, refreshToken: 'rt' }
  const data = createSession({ claims: { sub: 'alice', saves: 0 }, tokenSet, now: clock.now })
  await send(0, (engine, exchange) =>
    engine.sessions.save(exchange, freshlyStored({ ...data, saves: 0 }, clock.now)),
  )
  return { choices, clock, cookies, processes, saves, send, sent }
}

type World = Awaited<ReturnType<typeof start>>

/** Refreshes the session, in the first process, for a request that has read it before and can set no cookie. */
async function refreshUnwritten({ choices, cookies, processes }: World, options: object): Promise<void> {
  const exchange = { ...cookies.exchange(), canWrite: () => false }
  await processes[0]?.(async (engine) => {
    await engine.sessions.load(exchange)
    await choices.turn()
    await getAccessToken(engine, exchange, options)
  })
}

async function check(seed: number, rotates: boolean): Promise<void> {
  const world = await start(seed, rotates)
  const { choices, clock, saves, send, sent } = world
  const expected: { data: Record<string, unknown>; user: Record<string, unknown> } = { data: {}, user: {} }
  const read = async (engine: Engine, exchange: Exchange) => {
    const session = await engine.sessions.load(exchange)
    expect(session?.data).toMatchObject({ ...expected.data, user: expected.user })
    return session?.data
  }
  const update = async (engine: Engine, exchange: Exchange, isOfUser: boolean) => {
    const { user, ...data } = (await read(engine, exchange)) ?? {}
    const change = { [`update ${choices.next()}`]: true }
    await updateSession(engine, exchange, {
      ...data,
      ...(isOfUser ? {} : change),
      user: { ...user, ...(isOfUser ? change : {}) },
    })
    Object.assign(isOfUser ? expected.user : expected.data, change)
  }
  const refreshes = new Set<Promise<void>>()
  for (let step = 0; step < STEPS; step++) {
    // Of a session with a refresh token that does not rotate, the time of use says which is later.
    clock.now += rotates ? Math.floor(choices.next() * 3) : 1
    const audience = `https://api${step}.example.com/`
    const act = choices.pick<() => unknown>([
      () => refreshes.add(refreshUnwritten(world, { refresh: true })),
      () => refreshes.add(refreshUnwritten(world, { audience })),
      () => send(choices.pick([0, 1]), read),
      () => send(choices.pick([0, 1]), (engine, exchange) => update(engine, exchange, false)),
      () => send(choices.pick([0, 1]), (engine, exchange) => update(engine, exchange, true)),
      () => send(choices.pick([0, 1]), touchSession),
      () => send(0, (engine, exchange) => getAccessToken(engine, exchange, { refresh: true })),
      () => send(0, (engine, exchange) => getAccessToken(engine, exchange, { audience })),
    ])
    await act()
    if (choices.next() < 0.3) await choices.drive(Promise.all(refreshes))
  }
  await choices.drive(Promise.all(refreshes))
  await send(0, async (engine, exchange) => {
    const data = await read(engine, exchange)
    expect(data).toMatchObject({ saves: saves.count, user: { saves: saves.count } })
  })
  if (rotates) expect(new Set(sent).size).toBe(sent.length)
}

// Loads what the library loads at first use.
beforeAll(() => check(0, true))

test.each([
  ['rotate', true],
  ['do not rotate', false],
])(
  'requests of two processes in turn, and refreshes that no cookie gets, lose nothing if refresh tokens %s',
  async (_name, rotates) => {
    for (let seed = 1; seed <= SEEDS; seed++)
      await check(seed, rotates).catch((cause: unknown) => {
        throw new Error(`the interleaving of seed ${seed}`, { cause })
      })
  },
)
