import { describe, expect, test } from 'vitest'
import { Cookies, engineFor } from '../../test/support/engine.ts'
import { bindDeferred, bindRequest, WebRequestView } from '../adapters/web/binding.ts'
import type { IdpClientOptions } from '../config/options.ts'
import type { Engine } from '../engine.ts'
import { updateSession } from '../flows/update-session.ts'
import type { Exchange } from '../http/exchange.ts'
import { memoryStore } from '../stores/memory.ts'
import { createSession, freshlyStored } from './model/session.ts'
import { sessionSlot } from './session-slot.ts'

const KINDS: readonly (readonly [string, () => IdpClientOptions])[] = [
  ['in cookies', () => ({})],
  ['in a store', () => ({ sessionStore: memoryStore() })],
]

async function save({ config, sessions }: Engine, exchange: Exchange, sub: string): Promise<void> {
  const now = config.clock()
  const tokenSet = { accessToken: `token of ${sub}`, expiresAt: now + 60 }
  await sessions.save(exchange, freshlyStored(createSession({ claims: { sub }, tokenSet, now }), now))
}

async function signedIn(engine: Engine, sub = 'alice', cookies = new Cookies()): Promise<Cookies> {
  const exchange = cookies.exchange()
  await save(engine, exchange, sub)
  cookies.take(exchange)
  return cookies
}

const whoIn = async ({ sessions }: Engine, exchange: Exchange): Promise<string | undefined> =>
  (await sessions.load(exchange))?.data.user.sub

describe.each(KINDS)('the session of a request, %s', (_kind, options) => {
  test('is the same for every exchange of the request', async () => {
    const { engine } = engineFor(options())
    const exchange = (await signedIn(engine)).exchange()
    const reading = { ...exchange, canWrite: () => false }
    const found = await engine.sessions.load(reading)
    expect(await engine.sessions.load(exchange)).toBe(found)
    await save(engine, exchange, 'bob')
    expect(await whoIn(engine, reading)).toBe('bob')
    await engine.sessions.destroy({ ...exchange })
    expect(await whoIn(engine, reading)).toBeUndefined()
  })

  test('is not that of another request', async () => {
    const { engine } = engineFor(options())
    const [alice, bob] = [await signedIn(engine), await signedIn(engine, 'bob')]
    const [first, second, others] = [alice.exchange(), alice.exchange(), bob.exchange()]
    const anonymous = new Cookies().exchange()
    const known = await engine.sessions.load(second)
    const found = await engine.sessions.load(first)
    await updateSession(engine, first, { ...found?.data, note: 'of the first request' })
    expect(await engine.sessions.load(second)).toBe(known)
    expect(known?.data).not.toHaveProperty('note')
    expect(await whoIn(engine, others)).toBe('bob')
    expect((await engine.sessions.load(others))?.data).not.toHaveProperty('note')
    expect(await whoIn(engine, anonymous)).toBeUndefined()
    const slots = [first, second, others, anonymous].map((each) => sessionSlot(each, engine.config))
    expect(new Set(slots).size).toBe(4)
    const objects = slots.map((slot) =>
      Object.values(slot).filter((value) => typeof value === 'object' && value),
    )
    expect(new Set(objects.flat()).size).toBe(objects.flat().length)
  })

  test('is not that of another client in the same request', async () => {
    const { engine } = engineFor(options())
    const { engine: other } = engineFor({
      ...options(),
      clientId: 'other',
      session: { cookie: { name: '__other' } },
    })
    const { engine: rival } = engineFor({ ...options(), clientId: 'rival' })
    const exchange = (await signedIn(other, 'bob', await signedIn(engine))).exchange()
    expect(await whoIn(engine, exchange)).toBe('alice')
    expect(await whoIn(other, exchange)).toBe('bob')
    expect(await whoIn(rival, exchange)).toBeUndefined()
    await other.sessions.destroy(exchange)
    expect(await whoIn(other, exchange)).toBeUndefined()
    expect(await whoIn(engine, exchange)).toBe('alice')
  })
})

describe("the slots of a host's request", () => {
  const { config } = engineFor().engine

  test('are the same for every binding', () => {
    const request = new Request('https://app.example.com/')
    const slot = sessionSlot(bindRequest(request).exchange, config)
    expect(sessionSlot(bindRequest(request, new Headers()).exchange, config)).toBe(slot)
    expect(sessionSlot(bindDeferred(request, new WebRequestView(request)).exchange, config)).toBe(slot)
  })

  test('are not those of an equal request', () => {
    const slots = [1, 2].map(() =>
      sessionSlot(bindRequest(new Request('https://app.example.com/')).exchange, config),
    )
    expect(slots[0]).not.toBe(slots[1])
  })
})
