import { expect, test } from 'vitest'
import { Cookies, engineFor } from '../../test/support/engine.ts'
import { freshlyStored } from '../session/model/session.ts'
import { updateSession } from './update-session.ts'

test('an update keeps the later time of use of a process whose clock is ahead', async () => {
  const { clock, engine } = engineFor()
  const cookies = new Cookies()
  const tokenSet = { accessToken: 'at', expiresAt: clock.now + 60 }
  const data = { user: { sub: 'alice' }, tokenSet, internal: { createdAt: clock.now } }
  const first = cookies.exchange()
  await engine.sessions.save(first, { ...freshlyStored(data, clock.now), usedAt: clock.now + 5 })
  cookies.take(first)
  const exchange = cookies.exchange()
  await updateSession(engine, exchange, { ...data, theme: 'dark' })
  cookies.take(exchange)
  const saved = await engine.sessions.load(cookies.exchange())
  expect(saved).toMatchObject({ usedAt: clock.now + 5, data: { theme: 'dark' } })
})
