import { describe, expect, it, test } from 'vitest'
import { fc } from '../../test/support/fast-check.ts'
import { isIdpError } from '../errors/base.ts'
import {
  chunkNames,
  hasFurtherCookies,
  joinedCookies,
  MAX_CANDIDATES,
  MAX_CHUNKS,
  MAX_COOKIE_BYTES,
  possibleNames,
  splitCookie,
} from './chunks.ts'
import type { CookieAttributes } from './cookie-jar.ts'
import { serializeCookie } from './cookie-text.ts'

const attributes: CookieAttributes = {
  path: '/',
  secure: true,
  sameSite: 'lax',
  httpOnly: true,
  maxAge: 86_400,
}
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const name = '__session'

/** A text of that length as a JWE has: the end differs from value to value. */
function value(length: number, seed: number): string {
  const letters = Array.from({ length }, (_, at) => ALPHABET[(at * 7 + seed * 13 + ((at * seed) >> 3)) % 64])
  return `${letters.join('').slice(0, length - 8)}${String(seed).padStart(8, '0')}`
}

const jarOf = (...sets: readonly (readonly { name: string; value: string }[])[]): Map<string, string> =>
  new Map(sets.flat().map((cookie) => [cookie.name, cookie.value]))
const received = (...jars: readonly ReadonlyMap<string, string>[]) => ({
  all: (key: string) => jars.flatMap((jar) => jar.get(key) ?? []),
})
const joinAll = (...jars: readonly ReadonlyMap<string, string>[]): string[] =>
  [...joinedCookies(name, received(...jars))].map(({ value }) => value)
const join = (cookies: ReadonlyMap<string, string>): string | null => joinAll(cookies)[0] ?? null

describe('splitCookie', () => {
  it('keeps a small value under the plain name', () => {
    expect(splitCookie(name, 'small', attributes)).toEqual([{ name, value: 'small' }])
  })

  it('writes no cookie above 4096 bytes, including an Expires that a host may add', () => {
    const wide: CookieAttributes = {
      ...attributes,
      domain: 'a.rather.long.domain.example',
      path: '/some/path',
    }
    for (const set of [attributes, wide]) {
      for (let length = 3800; length < 9000; length += 37) {
        for (const cookie of splitCookie(name, value(length, 1), set)) {
          const line = `${serializeCookie({ ...cookie, attributes: set })}; Expires=${new Date(0).toUTCString()}`
          expect(line.length).toBeLessThanOrEqual(MAX_COOKIE_BYTES)
        }
      }
    }
  })

  it('uses the plain name for every value that fits', () => {
    const sizes = Array.from({ length: 200 }, (_, at) => 3900 + at)
    const bare = sizes.filter((length) => splitCookie(name, value(length, 2), attributes).length === 1)
    const limit = Math.max(...bare)
    expect(bare).toEqual(sizes.filter((length) => length <= limit))
    const line = serializeCookie({ name, value: value(limit, 2), attributes })
    expect(line.length + '; Expires=Thu, 01 Jan 1970 00:00:00 GMT'.length).toBe(MAX_COOKIE_BYTES)
  })

  it('returns a value of any length unchanged after joining', () => {
    fc.assert(
      fc.property(fc.integer({ min: 8, max: 60_000 }), fc.nat(9999), (length, seed) => {
        const whole = value(length, seed)
        expect(join(jarOf(splitCookie(name, whole, attributes)))).toBe(whole)
      }),
    )
  })

  it('rejects a value that needs more cookies than it would read', () => {
    const [chunk] = splitCookie(name, value(120_000, 1), attributes)
    const most = MAX_CHUNKS * (chunk.value.length - '00000001.32.'.length)
    const largest = splitCookie(name, value(most, 1), attributes)
    expect(largest).toHaveLength(MAX_CHUNKS)
    expect(join(jarOf(largest))).toBe(value(most, 1))
    const refused = (run: () => unknown): boolean => {
      try {
        run()
        return false
      } catch (error) {
        return isIdpError(error, 'INTERNAL_ERROR')
      }
    }
    expect(refused(() => splitCookie(name, value(most + 1, 1), attributes))).toBe(true)
    expect(refused(() => splitCookie(name, 'v', { ...attributes, path: `/${'p'.repeat(4096)}` }))).toBe(true)
  })
})

describe('joinedCookies', () => {
  const first = splitCookie(name, value(9000, 1), attributes)
  const second = splitCookie(name, value(9000, 2), attributes)
  const longer = splitCookie(name, value(13_000, 3), attributes)

  it('prefers a non-empty plain cookie, and ignores an empty one', () => {
    expect(join(jarOf(first, [{ name, value: 'bare' }]))).toBe('bare')
    expect(join(jarOf(first, [{ name, value: '' }]))).toBe(value(9000, 1))
    expect(join(new Map())).toBeNull()
  })

  it('[C1] names the cookies of each value, and reports if there are more than it reads', () => {
    const jar = received(jarOf(first, [{ name, value: 'bare' }]))
    expect([...joinedCookies(name, jar)]).toEqual([
      { value: 'bare', names: [name] },
      { value: value(9000, 1), names: first.map((cookie) => cookie.name) },
    ])
    for (const each of [name, `${name}__0`]) {
      const values = Array.from({ length: MAX_CANDIDATES }, () => 'x')
      const of = (given: readonly string[]) => ({ all: (key: string) => (key === each ? given : []) })
      expect(hasFurtherCookies(name, of(values))).toBe(false)
      expect(hasFurtherCookies(name, of([...values, 'x']))).toBe(true)
    }
  })

  it('never joins parts of two values', () => {
    expect(first).toHaveLength(3)
    for (const at of [0, 1, 2]) {
      const mixed = jarOf(first, second.slice(at, at + 1))
      expect(join(mixed)).toBeNull()
    }
    expect(join(jarOf(longer, first.slice(0, 1)))).toBeNull()
  })

  it('joins the current value after it grew or shrank without a deletion', () => {
    expect(join(jarOf(longer, first))).toBe(value(9000, 1))
    expect(join(jarOf(first, longer))).toBe(value(13_000, 3))
  })

  it('rejects a dropped, reordered, duplicated or altered part', () => {
    const cookies = jarOf(first)
    const [zero = '', one = '', two = ''] = first.map((cookie) => cookie.value)
    const names = first.map((cookie) => cookie.name)
    const set = (...values: (string | undefined)[]): string | null =>
      join(new Map(names.flatMap((key, at) => (values[at] === undefined ? [] : [[key, values[at]]]))))
    expect(set(zero, one, two)).toBe(join(cookies))
    expect(set(undefined, one, two)).toBeNull()
    expect(set(zero, undefined, two)).toBeNull()
    expect(set(zero, one)).toBeNull()
    expect(set(zero, '', two)).toBeNull()
    expect(set(zero, two, one)).toBeNull()
    expect(set(zero, one, one)).toBeNull()
    expect(set(zero, one, two.slice(0, -1))).toBeNull()
    expect(set(zero.replace('.3.', '.2.'), one.replace('.3.', '.2.'), two)).toBeNull()
  })

  it('rejects counts that it does not write', () => {
    for (const count of ['0', '1', '33', '99', '100', '007', '-3', '3e0', '', ' 3', '99999999', '\u0663']) {
      const forged = first.map((cookie) => ({ ...cookie, value: cookie.value.replace('.3.', `.${count}.`) }))
      expect(join(jarOf(forged)), count).toBeNull()
    }
    expect(join(new Map([[`${name}__0`, '00000001.1.x00000001']]))).toBeNull()
  })

  it.each([32, 33, 99])(
    'reads a limited number of cookies, whatever their number and their counts: %i',
    (count) => {
      const looked: string[] = []
      const flood = new Map(
        Array.from({ length: 2000 }, (_, at) => [`${name}__${at}`, `abcdefgh.${count}.x`]),
      )
      flood.set(`${name}__99999999`, `abcdefgh.${count}.x`)
      const all = (key: string): string[] => {
        looked.push(key)
        return received(flood).all(key)
      }
      expect([...joinedCookies(name, { all })]).toEqual([])
      expect(looked.length).toBeLessThanOrEqual(MAX_CHUNKS + 2)
      expect(join(new Map([[`${name}__99999999`, first[0].value]]))).toBeNull()
    },
  )

  it('finds every complete value among cookies of the same names, in the order of the first ones', () => {
    const bare = jarOf([{ name, value: 'bare' }])
    const tossed = jarOf([{ name, value: 'tossed' }])
    expect(joinAll(jarOf(first), jarOf(second))).toEqual([value(9000, 1), value(9000, 2)])
    expect(joinAll(jarOf(second), jarOf(longer), jarOf(first), tossed, bare)).toEqual([
      'tossed',
      'bare',
      ...[value(9000, 2), value(13_000, 3), value(9000, 1)],
    ])
  })

  it('never combines parts of several values, in any order', () => {
    const whole = [value(9000, 1), value(9000, 2), value(13_000, 3)]
    const parts = [first, second, longer].flatMap((set) => set.map((cookie) => jarOf([cookie])))
    fc.assert(
      fc.property(fc.shuffledSubarray(parts), (jars) => {
        const sets = [first, second, longer].map((set) =>
          set.every((cookie) => jars.some((jar) => jar.get(cookie.name) === cookie.value)),
        )
        const expected = whole.filter((_, at) => sets[at])
        expect(joinAll(...jars).sort()).toEqual(expected.sort())
      }),
    )
  })

  it('reads a limited number of values of one name', () => {
    const jars = Array.from({ length: 500 }, (_, at) => jarOf([{ name, value: `v${at}` }]))
    expect(joinAll(...jars)).toHaveLength(16)
  })

  it('never throws for foreign cookies', () => {
    const chunk = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(...first.map((cookie) => cookie.value)),
    )
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 5 }), (chunks) => {
        const joined = join(new Map(chunks.map((text, at) => [`${name}__${at}`, text])))
        expect(joined === null || joined.length >= 0).toBe(true)
      }),
    )
  })
})

test('possibleNames has every cookie of a value of that length, and at most 32 chunks', () => {
  const wide: CookieAttributes = { ...attributes, path: `/${'p'.repeat(1400)}` }
  for (const length of [100, 2600, 9000, 60_000]) {
    const names = splitCookie(name, value(length, 1), wide).map((cookie) => cookie.name)
    expect(possibleNames(name, length)).toEqual(expect.arrayContaining(names))
  }
  expect(possibleNames(name, 2500)).toEqual([name, `${name}__0`])
  expect(possibleNames(name, 1_000_000)).toHaveLength(1 + MAX_CHUNKS)
})

describe('chunkNames', () => {
  it('finds the plain cookie and every chunk, and nothing else', () => {
    const present = [name, `${name}__0`, `${name}__17`, `${name}__99999999`]
    const others = [
      '__sessio',
      `${name}_0`,
      `${name}__`,
      `${name}__x`,
      `${name}__1x`,
      `${name}__-1`,
      `${name}__conn_0`,
      `x${name}__0`,
      `${name}xx0`,
    ]
    expect(chunkNames(name, [...others, ...present])).toEqual(present)
  })

  it('accepts a name with characters that are special in regular expressions', () => {
    expect(chunkNames('a.*+', ['a.*+__0', 'abb__0', 'a.*+'])).toEqual(['a.*+__0', 'a.*+'])
  })
})
