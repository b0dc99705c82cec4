import { afterEach, expect, test, vi } from 'vitest'
import { Cookies, engineFor } from '../../../test/support/engine.ts'
import {
  ask,
  familyOf,
  gate,
  inCookies,
  partsFor,
  purpose,
  renewed,
  session,
} from '../../../test/support/redemptions.ts'
import { pause } from '../../lib/pause.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import type { Purpose } from './coordinator.ts'
import { redeemOnce } from './coordinator.ts'
import { hasEnded } from './ended.ts'
import { findFamily, isPending, markPersisted, tokenKey } from './families.ts'
import { createTurn } from './turn.ts'

afterEach(() => vi.useRealTimers())

test('a change that another request saves after a redemption, before it is recorded, is kept', async () => {
  const one = session()
  const { open, opened } = gate()
  let calls = 0
  const parts = {
    ...inCookies,
    clientTag: async () => (++calls > 1 ? opened.then(() => 'client') : 'client'),
  }
  const redemption = ask(purpose(one), parts)
  await expect.poll(() => calls).toBeGreaterThan(1)
  const family = (await familyOf(one)) ?? expect.fail('there is a family')
  family.latest = { ...family.latest, usedAt: 30, data: { ...family.latest.data, theme: 'dark' } }
  open()
  const { data, usedAt } = (await redemption).session
  expect(data).toMatchObject({ theme: 'dark', tokenSet: { accessToken: 'new' } })
  expect(usedAt).toBe(30)
})

test('in cookies, a change of another process is kept by the next redemption of this one', async () => {
  const one = session()
  const keepsToken: Purpose['redeem'] = async (latest) => renewed(latest, one.refreshToken)
  await ask(purpose(one, { redeem: keepsToken }))
  const changed = { ...one, usedAt: 30, data: { ...one.data, theme: 'dark' } }
  const other = purpose(changed, { key: 'other', redeem: keepsToken, isSatisfiedBy: () => false })
  expect((await ask(other)).session.data).toMatchObject({ theme: 'dark', tokenSet: { accessToken: 'new' } })
})

test('a token that was sent without a lock resolves to the family, although another process had redeemed the one before', async () => {
  const one = session()
  const theirs = renewed(one, 'theirs').session
  const parts = partsFor({ store: { read: async () => theirs } })
  const redeem: Purpose['redeem'] = async (latest, token) =>
    token === one.refreshToken
      ? { session: { ...latest, data: { ...latest.data } }, failure: new Error('rejected') }
      : renewed(latest, 'ours')
  await ask(purpose(one, { redeem, isSatisfiedBy: () => false }), parts)
  const family = findFamily(await tokenKey(parts, 'theirs'), one, 0)
  expect(family?.latest.data.tokenSet.refreshToken).toBe('ours')
})

test('[B11] a call that has joined when the response becomes late gets the error, and sends nothing', async () => {
  const one = session()
  const [sent, becomesLate, response] = [gate(), gate(), gate()]
  let redeemed = 0
  const redeem: Purpose['redeem'] = async (latest, token, { onOverdue, onRequest }) => {
    redeemed++
    onRequest()
    sent.open()
    await becomesLate.opened
    onOverdue(new Error('late'))
    await response.opened
    return renewed(latest, `${token}+`)
  }
  const asking = Array.from({ length: 2 }, () => ask(purpose(one, { redeem })))
  await sent.opened
  await pause(100)
  becomesLate.open()
  expect(await Promise.allSettled(asking)).toEqual([
    { status: 'rejected', reason: new Error('late') },
    { status: 'rejected', reason: new Error('late') },
  ])
  response.open()
  expect((await ask(purpose(one, { redeem }))).session.data.tokenSet.accessToken).toBe('new')
  expect(redeemed).toBe(1)
})

test('[B11] a late response with an end at the provider that has passed ends the session, although nobody waits for it', async () => {
  const one = session()
  const response = gate()
  const redeem: Purpose['redeem'] = async (latest, token, { onOverdue, onRequest }) => {
    onRequest()
    onOverdue(new Error('late'))
    await response.opened
    const { data } = renewed(latest, `${token}+`).session
    return { session: { ...latest, data: { ...data, internal: { createdAt: 0, sessionExpiresAt: 0 } } } }
  }
  await expect(ask(purpose(one, { redeem }))).rejects.toThrow('late')
  expect(hasEnded(one)).toBe(false)
  response.open()
  await expect.poll(() => hasEnded(one)).toBe(true)
})

test('[K1] a call that takes the place of a lost one in the queue waits for the redemption before it', async () => {
  const one = session()
  const [started, response] = [gate(), gate()]
  const sent: string[] = []
  const redeem: Purpose['redeem'] = async (latest, token, { onRequest, onResponse }) => {
    onRequest()
    sent.push(token)
    onResponse()
    started.open()
    await response.opened
    return renewed(latest, `${token}+`)
  }
  const first = ask(purpose(one, { redeem }))
  await started.opened
  const family = (await familyOf(one)) ?? expect.fail('there is a family')
  // Its deadline is over.
  const lost = createTurn(family, 'other', -1000, () => new Promise(() => {}))
  family.turns = [...family.turns, lost]
  const second = ask(purpose(one, { key: 'other', redeem, isSatisfiedBy: () => false }))
  await expect.poll(() => lost.redemption.state).toBe('abandoned')
  await pause(50)
  expect(sent).toEqual([one.refreshToken])
  response.open()
  await Promise.all([first, second])
  expect(sent).toEqual([one.refreshToken, `${one.refreshToken}+`])
})

test('[K1] a redemption whose deadline passed while the whole process stood still is not taken over', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const one = session()
  const { open, opened } = gate()
  let redeemed = 0
  const asking = (): Promise<unknown> =>
    ask(
      purpose(one, {
        redeem: async (latest, _token, { onRequest }) => {
          redeemed++
          onRequest()
          await opened
          return renewed(latest, 'next')
        },
      }),
    )
  const first = asking()
  await pause(0)
  vi.setSystemTime(Date.now())
  vi.advanceTimersByTime(5000)
  // Both have waited while nothing ran: the response, and another request.
  setImmediate(open)
  await Promise.all([first, asking()])
  expect(redeemed).toBe(1)
})

test('a token that is being redeemed when its time is over still resolves to its family', async () => {
  const { clock, engine } = engineFor()
  clock.now = 0
  const one = session()
  const parts = {
    ...engine,
    clientTag: () => 'client',
    sessions: { ...engine.sessions, save: async () => true },
  }
  await ask(purpose(one), parts)
  const current = (await familyOf(one, parts))?.latest ?? expect.fail('there is a family')
  const token = `${one.refreshToken}+`
  const next = { ...current, refreshToken: token }
  const { open, opened } = gate()
  const sent: string[] = []
  const asking = (): Promise<unknown> =>
    ask(
      purpose(next, {
        isSatisfiedBy: () => false,
        redeem: async (latest, used) => {
          sent.push(used)
          await opened
          return renewed(latest, 'last')
        },
      }),
      parts,
    )
  markPersisted((await familyOf(next, parts)) ?? expect.fail('there is a family'), 0)
  clock.now = 59
  const first = asking()
  await pause(0)
  clock.now = 60
  const second = asking()
  await pause(0)
  open()
  await Promise.all([first, second])
  expect(sent).toEqual([token])
})

test('with cookies, an update during a forced refresh does not bring back the access token that another process stored', async () => {
  const one = session()
  const keep = { ...renewed(one, one.refreshToken).session, refreshToken: one.refreshToken }
  await ask(purpose(one, { redeem: async () => ({ session: keep }) }))
  const tokenSet = { ...keep.data.tokenSet, accessToken: 'theirs' }
  const theirs = { ...one, usedAt: 30, data: { ...keep.data, tokenSet } }
  const forced = purpose(theirs, {
    key: 'forced',
    isSatisfiedBy: () => false,
    async redeem(latest) {
      const family = (await familyOf(one)) ?? expect.fail('there is a family')
      family.latest = { ...latest, data: { ...latest.data, theme: 'dark' } }
      const renewedSet = { ...latest.data.tokenSet, accessToken: 'ours' }
      return { session: { ...latest, data: { ...latest.data, tokenSet: renewedSet } } }
    },
  })
  expect((await ask(forced)).session.data).toMatchObject({ theme: 'dark', tokenSet: { accessToken: 'ours' } })
})

test('a token that was consumed long ago does not resolve to its family, although a redemption is running', async () => {
  const one = session()
  const { open, opened } = gate()
  await ask(purpose(one))
  const family = (await familyOf(one)) ?? expect.fail('there is a family')
  markPersisted(family, 0)
  const next = { ...family.latest, refreshToken: `${one.refreshToken}+` }
  const running = ask(
    purpose(next, {
      isSatisfiedBy: () => false,
      redeem: async (latest) => {
        await opened
        return renewed(latest, 'last')
      },
    }),
  )
  await pause(0)
  const key = await tokenKey(inCookies, one.refreshToken)
  expect(findFamily(key, one, 1000)).toBeUndefined()
  open()
  await running
})

test('a redemption that fails while another call waits for the store leaves that call in a family that later ones find', async () => {
  const one = session()
  const parts = partsFor({ store: {} })
  const store = (await parts.sessions.distributed?.()) ?? expect.fail('sessions are in a store')
  const [failing, loading, responding] = [gate(), gate(), gate()]
  const reset: Purpose['redeem'] = () => failing.opened.then(() => Promise.reject(new Error('reset')))
  const first = ask(purpose(one, { redeem: reset }), parts)
  const sessions = { ...parts.sessions, distributed: () => loading.opened.then(() => store) }
  await pause(0)
  const sent: string[] = []
  const redeem: Purpose['redeem'] = async (latest, token) => {
    sent.push(token)
    await responding.opened
    return renewed(latest, 'next')
  }
  const second = ask(purpose(one, { redeem }), { ...parts, sessions })
  await pause(0)
  failing.open()
  await expect(first).rejects.toThrow('reset')
  loading.open()
  await pause(0)
  const third = ask(purpose(one, { redeem }), parts)
  await pause(0)
  responding.open()
  await Promise.all([second, third])
  expect(sent).toEqual([one.refreshToken])
})

test('a token that requests read from the store before its write has ended is sent once', async () => {
  const one = session()
  const [writing, responding] = [gate(), gate()]
  const persist = async (_found: StoredSession, changed: StoredSession) => {
    await writing.opened
    return { session: changed, isWritten: true }
  }
  const parts = partsFor({ store: { persist } })
  const sent: string[] = []
  const redeem: Purpose['redeem'] = async (latest, token) => {
    if (sent.push(token) > 1) await responding.opened
    return renewed(latest, `${token}+`)
  }
  const first = ask(purpose(one, { redeem }), parts)
  await pause(0)
  const token = `${one.refreshToken}+`
  const next = { ...renewed(one, token).session, refreshToken: token }
  const request = (key: string): Promise<unknown> =>
    ask(purpose(next, { key, redeem, isSatisfiedBy: () => false }), parts)
  const second = request('second')
  await pause(0)
  writing.open()
  await first
  const third = request('third')
  await pause(0)
  responding.open()
  await Promise.all([second, third])
  expect(sent).toEqual([one.refreshToken, token, `${token}+`])
})

test('the session of a refresh is written, and stays pending until a response carries it', async () => {
  const { clock, engine } = engineFor()
  clock.now = 0
  const one = session()
  const cookies = new Cookies()
  const login = cookies.exchange()
  await engine.sessions.save(login, one)
  cookies.take(login)
  const exchange = cookies.exchange()
  await redeemOnce(engine, exchange, purpose(one))
  const family =
    findFamily(await tokenKey(engine, one.refreshToken), one, 0) ?? expect.fail('there is a family')
  expect(isPending(family)).toBe(true)
  expect(exchange.cookies.pending().map(({ name }) => name)).toEqual(['__session'])
  exchange.cookies.flush({ set: () => {} })
  expect(isPending(family)).toBe(false)
})
