import { expect, test } from 'vitest'
import { Cookies, engineFor } from '../../test/support/engine.ts'
import { incompressible } from '../../test/support/incompressible.ts'
import { randomToken } from '../crypto/random.ts'
import { freshlyStored } from '../session/model/session.ts'
import { memoryStore } from '../stores/memory.ts'
import { advance, closeFamily, openFamily, tokenKey } from '../tokens/refresh/families.ts'
import { updateSession } from './update-session.ts'

test.each([
  ['later than that of the session', 0, 1],
  ['later than that of another process', 4, 5],
  ['not ahead by more, so that updates again and again do not extend the session', 5, 5],
  ['not earlier than that of a process whose clock is ahead', 30, 30],
])('the time of use of an update is %s', async (_title, before, after) => {
  const { clock, engine } = engineFor()
  const cookies = new Cookies()
  const tokenSet = { accessToken: 'at', expiresAt: clock.now + 60 }
  const data = { user: { sub: 'alice' }, tokenSet, internal: { createdAt: clock.now } }
  const first = cookies.exchange()
  await engine.sessions.save(first, { ...freshlyStored(data, clock.now), usedAt: clock.now + before })
  cookies.take(first)
  const exchange = cookies.exchange()
  await updateSession(engine, exchange, { ...data, theme: 'dark' })
  cookies.take(exchange)
  const saved = await engine.sessions.load(cookies.exchange())
  expect(saved).toMatchObject({ usedAt: clock.now + after, data: { theme: 'dark' } })
})

test.each(['cookies', 'a store'])(
  'with %s, updates of one request at the same time are all kept',
  async (kind) => {
    const sessionStore = memoryStore({ name: crypto.randomUUID(), clock: () => 1_800_000_000 })
    const { clock, engine } = engineFor(kind === 'cookies' ? {} : { sessionStore })
    const cookies = new Cookies()
    const tokenSet = { accessToken: 'at', expiresAt: clock.now + 60 }
    const data = { user: { sub: 'alice' }, tokenSet, internal: { createdAt: clock.now }, seen: true }
    const first = cookies.exchange()
    await engine.sessions.save(first, freshlyStored(data, clock.now))
    cookies.take(first)
    const exchange = cookies.exchange()
    const { seen: _seen, ...unseen } = data
    const changes = [{ ...data, theme: 'dark' }, unseen, { ...data, user: { ...data.user, nickname: 'al' } }]
    await Promise.all(changes.map((changed) => updateSession(engine, exchange, changed)))
    cookies.take(exchange)
    const saved = await engine.sessions.load(cookies.exchange())
    expect(saved?.data).toEqual({ ...unseen, theme: 'dark', user: { sub: 'alice', nickname: 'al' } })
  },
)

test.each([
  ['cookies', 'accessTokens'],
  ['cookies', 'connectionTokenSets'],
  ['a store', 'accessTokens'],
  ['a store', 'connectionTokenSets'],
])('with %s, an update may remove %s with null', async (kind, name) => {
  const sessionStore = memoryStore({ name: crypto.randomUUID(), clock: () => 1_800_000_000 })
  const { clock, engine } = engineFor(kind === 'cookies' ? {} : { sessionStore })
  const cookies = new Cookies()
  const tokenSet = { accessToken: 'at', expiresAt: clock.now + 60 }
  const data = { user: { sub: 'alice' }, tokenSet, internal: { createdAt: clock.now } }
  const further = { accessToken: 'further', audience: 'api', connection: 'files', expiresAt: clock.now + 60 }
  const first = cookies.exchange()
  await engine.sessions.save(first, freshlyStored({ ...data, [name]: [further] }, clock.now))
  cookies.take(first)
  const exchange = cookies.exchange()
  await updateSession(engine, exchange, { ...data, [name]: null, theme: 'dark' })
  cookies.take(exchange)
  const saved = await engine.sessions.load(cookies.exchange())
  expect(saved?.data).toMatchObject({ theme: 'dark' })
  expect(Object(saved?.data)[name] ?? []).toEqual([])
})

test('an update that fails does not prevent one at the same time in the same request', async () => {
  const { clock, engine } = engineFor()
  const cookies = new Cookies()
  const tokenSet = { accessToken: 'at', expiresAt: clock.now + 60 }
  const data = { user: { sub: 'alice' }, tokenSet, internal: { createdAt: clock.now } }
  const exchange = cookies.exchange()
  await engine.sessions.save(exchange, freshlyStored(data, clock.now))
  const tooLarge = updateSession(engine, exchange, { ...data, text: incompressible(9000) })
  const update = updateSession(engine, exchange, { ...data, theme: 'dark' })
  await expect(tooLarge).rejects.toMatchObject({ code: 'SESSION_TOO_LARGE' })
  await update
  expect((await engine.sessions.load(exchange))?.data).toEqual({ ...data, theme: 'dark' })
})

test.each([
  ['rotates', Array.from({ length: 3 }, randomToken)],
  ['does not rotate', Array.from<string>({ length: 3 }).fill(randomToken())],
])(
  'an update of the refreshed session of this process does not restore its tokens after a further refresh that %s',
  async (_which, tokens) => {
    const { clock, engine } = engineFor()
    const cookies = new Cookies()
    const [first = '', second = '', third = ''] = await Promise.all(
      tokens.map((token) => tokenKey(engine, token)),
    )
    const at = (time: number) => {
      const tokenSet = {
        accessToken: `at-${time}`,
        expiresAt: clock.now + 60,
        refreshToken: tokens[time] ?? '',
      }
      const data = { user: { sub: 'alice' }, tokenSet, internal: { createdAt: clock.now } }
      return { ...freshlyStored(data, clock.now), sessionKey: 'a session', usedAt: clock.now + time }
    }
    const login = cookies.exchange()
    await engine.sessions.save(login, at(0))
    cookies.take(login)
    const family = openFamily(first, at(0))
    advance(family, at(1), [...new Set([first, second])], clock.now)
    const exchange = cookies.exchange()
    const { data } = (await engine.sessions.load(exchange)) ?? expect.fail('there is a session')
    expect(data.tokenSet.accessToken).toBe('at-1')
    advance(family, at(2), [...new Set([second, third])], clock.now)
    data['theme'] = 'dark'
    await updateSession(engine, exchange, data)
    cookies.take(exchange)
    const saved = await engine.sessions.load(cookies.exchange())
    expect(saved?.data).toMatchObject({ theme: 'dark', tokenSet: { accessToken: 'at-2' } })
    closeFamily(family)
  },
)

test.each([
  ['the user of the update, if it changes the user', { user: { sub: 'alice', nickname: 'al' } }, 'al'],
  ['the user of the refresh, if the update does not change the user', { theme: 'dark' }, 'ally'],
])(
  'a refresh that completes while the cookie of an update is created: the session has %s',
  async (_which, changes, nickname) => {
    let isStaged = false
    for (let turns = 0; !isStaged; turns++) {
      const { clock, engine } = engineFor()
      const cookies = new Cookies()
      const at = (refreshToken: string, name: string) => {
        const tokenSet = { accessToken: 'at', expiresAt: clock.now + 60, refreshToken }
        const user = { sub: 'alice', nickname: name }
        const data = { user, tokenSet, internal: { createdAt: clock.now } }
        return { ...freshlyStored(data, clock.now), sessionKey: 'a session' }
      }
      const tokens = [randomToken(), randomToken()] as const
      const [first, second] = [await tokenKey(engine, tokens[0]), await tokenKey(engine, tokens[1])]
      const [before, after] = [at(tokens[0], 'alice'), at(tokens[1], 'ally')]
      const login = cookies.exchange()
      await engine.sessions.save(login, before)
      cookies.take(login)
      const family = openFamily(first, before)
      const exchange = cookies.exchange()
      const { data } = (await engine.sessions.load(exchange)) ?? expect.fail('there is a session')
      const update = updateSession(engine, exchange, { ...data, ...changes })
      for (let turn = 0; turn < turns; turn++) await null
      isStaged = exchange.cookies.isPending
      advance(family, after, [first, second], clock.now)
      await update
      cookies.take(exchange)
      const saved = await engine.sessions.load(cookies.exchange())
      const { tokenSet } = after.data
      expect(saved?.data, `${turns}`).toMatchObject({ user: { nickname }, tokenSet })
      closeFamily(family)
    }
  },
)
