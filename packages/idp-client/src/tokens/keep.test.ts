import { expect, test } from 'vitest'
import { Cookies, engineFor } from '../../test/support/engine.ts'
import { randomToken } from '../crypto/random.ts'
import { freshlyStored } from '../session/session.ts'
import { keep } from './keep.ts'
import { closeLine, openLine } from './lineage.ts'

function refreshed() {
  const { clock, engine } = engineFor()
  const tokenSet = { accessToken: 'at', expiresAt: clock.now + 60, refreshToken: randomToken() }
  const data = { user: { sub: 'alice' }, tokenSet, internal: { createdAt: clock.now } }
  const session = freshlyStored(data, clock.now)
  return { engine, session, line: openLine(randomToken(), session) }
}

test('what a refresh brought is written, and kept until it has left', async () => {
  const { engine, line, session } = refreshed()
  const exchange = new Cookies().exchange()
  await keep(engine, exchange, { line, session })
  expect(line.unwritten).toBe(true)
  expect(exchange.cookies.pending().map(({ name }) => name)).toEqual(['__session'])
})

test('[I2] of a session that ended while its token was redeemed nothing is written, nor kept in the process', async () => {
  const { engine, line, session } = refreshed()
  closeLine(line)
  const exchange = new Cookies().exchange()
  await keep(engine, exchange, { line, session })
  expect(line.unwritten).toBe(false)
  expect(exchange.cookies.pending()).toEqual([])
})
