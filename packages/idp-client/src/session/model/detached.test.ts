import { expect, test } from 'vitest'
import { detachedCopy, jsonCopy } from './detached.ts'
import { onFirstRead } from './on-first-read.ts'
import type { SessionData } from './session-data.ts'

test('[C7] a copy shares no object, evaluates getters when they are read, and keeps names like __proto__ as properties', () => {
  const text = `{"user":{"sub":"a","__proto__":{"x":1},"roles":[{"name":"r"}],"none":null},
    "__proto__":{"polluted":true},"tokenSet":{},"internal":{"createdAt":1}}`
  const data = JSON.parse(text) as SessionData
  let made = 0
  onFirstRead(data, 'tokenSet', () => {
    made += 1
    return { accessToken: 't', expiresAt: 1 }
  })
  const copy = detachedCopy(data)
  expect(made).toBe(0)
  expect(JSON.stringify(copy)).toBe(JSON.stringify(data))
  expect(made).toBe(1)
  expect(copy['polluted']).toBeUndefined()
  expect(Object.getPrototypeOf(copy.user)).toBe(Object.prototype)
  copy.tokenSet.accessToken = 'other'
  copy.user.sub = 'other'
  for (const role of copy.user['roles'] as { name: string }[]) role.name = 'other'
  expect(data).toMatchObject({ tokenSet: { accessToken: 't' }, user: { sub: 'a', roles: [{ name: 'r' }] } })
})

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
