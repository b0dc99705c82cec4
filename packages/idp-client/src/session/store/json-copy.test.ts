import { expect, test } from 'vitest'
import type { SessionData } from '../model/session-data.ts'
import { jsonCopy } from './json-copy.ts'

test('[C7] a session of a store is copied as JSON has it, whatever types the store returns', () => {
  const session = (user: object): SessionData =>
    ({
      user: { sub: 'a', ...user },
      tokenSet: { accessToken: 't', expiresAt: 1 },
      internal: { createdAt: 1 },
    }) as SessionData
  const plain = session({ roles: [{ name: 'r' }], none: null, on: true, ['__proto__']: { x: 1 } })
  const other = session({
    at: new Date(0),
    score: Number.NaN,
    missing: undefined,
    list: [undefined, () => 1],
    // biome-ignore lint/suspicious/noSparseArray: a store may return one
    holes: [1, , 2],
    own: { toJSON: () => 'text' },
    map: Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true } }),
    bare: Object.assign(Object.create(null), { a: 1 }),
  })
  for (const data of [plain, other]) {
    const copy = jsonCopy(data)
    expect(JSON.stringify(copy)).toBe(JSON.stringify(data))
    expect(copy).toEqual(JSON.parse(JSON.stringify(data)))
    copy.user.sub = 'other'
    expect(data.user.sub).toBe('a')
  }
})
