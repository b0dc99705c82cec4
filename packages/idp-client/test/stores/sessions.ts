import { expect, vi } from 'vitest'
import type { SessionDataStore } from '../../src/config/options.ts'
import type { SessionData, StoredInternalData } from '../../src/session/model/session-data.ts'

/** Seconds since the epoch, by the clock that real servers go by. */
export const inSeconds = (seconds: number): { expiresAt: number } => ({
  expiresAt: Math.floor(Date.now() / 1000) + seconds,
})

/** Calls `once` twice with a name for a minute, in a process whose clock is ten minutes behind that of the server. */
export async function onceByLateClock(store: Pick<Required<SessionDataStore>, 'once'>): Promise<boolean[]> {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 600_000 })
  try {
    const minute = inSeconds(60)
    return [await store.once('name', minute), await store.once('name', minute)]
  } finally {
    vi.useRealTimers()
  }
}

export const later: { expiresAt: number } = inSeconds(3600)

export function sessionOf(sub: string, internal: Partial<StoredInternalData> = {}): SessionData {
  const whole: StoredInternalData = { createdAt: 1_735_689_600, sub, ...internal }
  return { user: { sub }, tokenSet: { accessToken: 'token', expiresAt: 4_102_444_800 }, internal: whole }
}

export const counted = (session: SessionData): SessionData => ({
  ...session,
  count: Number(session['count'] ?? 0) + 1,
})

/** Texts that mean something to a database or are hard to keep; no two are the same. */
const hostile: readonly string[] = [
  '{}',
  '}{',
  '{a}',
  '*',
  '?',
  '[a-z]',
  '%',
  '_',
  "'",
  "''",
  "' or 1=1 --",
  '"',
  '\\',
  '\\"',
  '$1',
  '$$',
  ';',
  ' ',
  '\n',
  '\r\n',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udbff',
  '\ufffd',
  'null',
  'undefined',
  '__proto__',
  'Ä',
  'A\u0308',
  '👩‍👩‍👧‍👦',
  'x'.repeat(2000),
  'x'.repeat(2001),
  'é'.repeat(1000),
]

/** The library's ids are plain; every other well-formed text without U+0000 has to do as well. */
const isId = (text: string): boolean => text.isWellFormed() && !text.includes('\u0000')

/** Sessions of users, sids and ids made of such texts never meet. */
export async function expectNoMeeting(store: Required<SessionDataStore>): Promise<void> {
  const people = hostile.map((text, index) => ({ text, id: isId(text) ? text : `id ${index}` }))
  for (const { id, text } of people) await store.set(id, sessionOf(text, { sid: text }), later)
  for (const { id, text } of people) {
    expect((await store.get(id))?.user.sub).toBe(text)
    expect((await store.listBySubject(text)).map((record) => record.id)).toEqual([id])
    expect([await store.once(text, later), await store.once(text, later)]).toEqual([true, false])
    expect([await store.lock(id, 60_000), await store.lock(id, 60_000)]).toEqual([expect.anything(), null])
  }
  for (const [index, { text }] of people.entries()) {
    await store.deleteByLogoutToken(index % 2 === 0 ? { sid: text } : { sub: text })
    const left = await Promise.all(people.map(async ({ id }) => (await store.get(id)) !== null))
    expect(left).toEqual(people.map((_, at) => at > index))
  }
}
