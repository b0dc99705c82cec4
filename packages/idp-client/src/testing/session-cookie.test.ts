import { describe, expect, test } from 'vitest'
import { createSealer } from '../crypto/seal.ts'
import { joinedCookies } from '../http/chunks.ts'
import { CookieJar } from '../http/cookie-jar.ts'
import { parseCookies } from '../http/cookie-text.ts'
import { decodeSession } from '../session/cookie/codec.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { generateCookieHeader, generateSessionCookie, generateSessionCookies } from './session-cookie.ts'

const secret = 'the secret of the application under test'
const now = 1_800_000_000
const user = { sub: 'alice', name: 'Alice' }

async function open(value: string | null, with_ = secret): Promise<StoredSession | null> {
  const bytes = value === null ? null : await createSealer([with_]).open('session', value)
  return bytes && decodeSession(bytes)
}

describe('generateSessionCookie', () => {
  test('seals the session like the application, with defaults for everything else', async () => {
    const stored = await open(await generateSessionCookie({ user }, { secret, now }))
    expect(stored?.data).toEqual({
      user,
      tokenSet: { accessToken: 'test-access-token', expiresAt: now + 3600, token_type: 'Bearer' },
      internal: { createdAt: now },
    })
    expect(stored?.usedAt).toBe(now)
    expect(stored?.clientTag).toBeUndefined()
  })

  test('keeps all given values', async () => {
    const session = {
      user,
      tokenSet: { accessToken: 'a', expiresAt: 1, refreshToken: 'r' },
      internal: { createdAt: now - 100, sid: 's' },
      theme: 'dark',
    }
    const stored = await open(await generateSessionCookie(session, { secret, now }))
    expect(stored?.data).toEqual(session)
  })

  test('uses the current time by default', async () => {
    const before = Math.floor(Date.now() / 1000)
    const stored = await open(await generateSessionCookie({ user }, { secret }))
    expect(stored?.usedAt).toBeGreaterThanOrEqual(before)
  })

  test('removes whitespace around the secret, as the application does', async () => {
    for (const given of [`${secret}\n`, [` ${secret}\r\n`, 'an older secret that only opens things']])
      expect(await open(await generateSessionCookie({ user }, { secret: given, now }))).not.toBeNull()
  })

  test('encrypts with the first of several secrets', async () => {
    const other = 'an older secret that only opens things'
    const value = await generateSessionCookie({ user }, { secret: [secret, other], now })
    expect(await open(value)).not.toBeNull()
    expect(await open(value, other)).toBeNull()
  })

  test.each([['short'], [[]], ['']])('rejects the secret %j', async (wrong) => {
    await expect(generateSessionCookie({ user }, { secret: wrong })).rejects.toMatchObject({
      name: 'InvalidConfigurationError',
      code: 'INVALID_CONFIGURATION',
    })
  })
})

describe('generateSessionCookies', () => {
  test("returns one cookie if it is sufficient, with the name of the application's cookie", async () => {
    const cookies = await generateSessionCookies({ user }, { secret, now, name: 'app' })
    expect(cookies.map(({ name }) => name)).toEqual(['app'])
    expect((await open(cookies[0]?.value ?? null))?.data.user).toEqual(user)
  })

  test('splits a large session into cookies that browsers accept', async () => {
    const large = { user, notes: Array.from({ length: 500 }, (_, index) => `${index * 7919}`).join(' ') }
    const cookies = await generateSessionCookies({ ...large, more: 'x'.repeat(3000) }, { secret, now })
    expect(cookies.length).toBeGreaterThan(1)
    for (const { name, value } of cookies) expect(name.length + 1 + value.length).toBeLessThanOrEqual(4096)
    const jar = new CookieJar(new Map(cookies.map(({ name, value }) => [name, value])))
    const [{ value } = { value: null }, ...more] = joinedCookies('__session', jar)
    expect(more).toEqual([])
    const stored = await open(value)
    expect(stored?.data['notes']).toBe(large.notes)
  })
})

test('generateCookieHeader is parsed by the application', async () => {
  const header = await generateCookieHeader({ user, filler: 'y'.repeat(5000) }, { secret, now })
  const cookies = parseCookies(header)
  expect(cookies.size).toBe(2)
  const jar = new CookieJar(cookies)
  const [{ value } = { value: null }] = joinedCookies('__session', jar)
  expect((await open(value))?.data.user).toEqual(user)
})
