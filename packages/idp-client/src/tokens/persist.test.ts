import { expect, test } from 'vitest'
import { Cookies, engineFor } from '../../test/support/engine.ts'
import { randomToken } from '../crypto/random.ts'
import { freshlyStored } from '../session/model/session.ts'
import { persist } from './persist.ts'
import { closeFamily, openFamily } from './token-family.ts'

function refreshed() {
  const { clock, engine } = engineFor()
  const tokenSet = { accessToken: 'at', expiresAt: clock.now + 60, refreshToken: randomToken() }
  const data = { user: { sub: 'alice' }, tokenSet, internal: { createdAt: clock.now } }
  const session = freshlyStored(data, clock.now)
  return { engine, session, line: openFamily(randomToken(), session) }
}

test('what a refresh brought is written, and kept until it has left', async () => {
  const { engine, line: family, session } = refreshed()
  const exchange = new Cookies().exchange()
  await persist(engine, exchange, { family, session })
  expect(family.pending).toBe(true)
  expect(exchange.cookies.pending().map(({ name }) => name)).toEqual(['__session'])
})

test('[I2] of a session that ended while its token was redeemed nothing is written, nor kept in the process', async () => {
  const { engine, line: family, session } = refreshed()
  closeFamily(family)
  const exchange = new Cookies().exchange()
  await persist(engine, exchange, { family, session })
  expect(family.pending).toBe(false)
  expect(exchange.cookies.pending()).toEqual([])
})
