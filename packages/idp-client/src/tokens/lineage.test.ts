import { expect, test } from 'vitest'
import { randomToken } from '../crypto/random.ts'
import type { StoredSession } from '../session/stored-session.ts'
import { advance, closeLine, findLine, openLine } from './lineage.ts'

function session(handle: string, refreshToken: string): StoredSession {
  const tokenSet = { accessToken: 'at', expiresAt: 0, refreshToken }
  return { data: { user: { sub: 'alice' }, tokenSet, internal: { createdAt: 0 } }, handle, usedAt: 0 }
}

test('[U1c] older tokens of a session lead to what it has become, for a minute', () => {
  const [handle, from, to] = [randomToken(), randomToken(), randomToken()]
  const [before, after] = [session(handle, 'rt-1'), session(handle, 'rt-2')]
  const line = openLine(from, before)
  advance(line, after, { from, to }, 1000)
  expect(findLine(from, before, 1059)?.latest).toBe(after)
  expect(findLine(to, after, 1059)?.latest).toBe(after)
  expect(findLine(from, session(randomToken(), 'rt-1'), 1059)).toBeUndefined()
  expect(findLine(from, before, 1060)).toBeUndefined()
})

test('[I2] a session that has ended stays ended, also when its refresh completes later', () => {
  const [handle, from, to] = [randomToken(), randomToken(), randomToken()]
  const [before, after] = [session(handle, 'rt-1'), session(handle, 'rt-2')]
  const line = openLine(from, before)
  closeLine(line)
  advance(line, after, { from, to }, 1000)
  expect(findLine(from, before, 1001)).toBeUndefined()
  expect(findLine(to, after, 1001)).toBeUndefined()
  expect(line.latest).toBe(before)
})
