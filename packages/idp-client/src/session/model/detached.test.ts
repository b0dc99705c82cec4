import { expect, test } from 'vitest'
import { detachedCopy } from './detached.ts'
import type { SessionData } from './session-data.ts'

test('[C7] a copy shares no object, and keeps names like __proto__ as properties', () => {
  const text = `{"user":{"sub":"a","__proto__":{"x":1},"roles":[{"name":"r"}],"none":null},
    "__proto__":{"polluted":true},"tokenSet":{"accessToken":"t","expiresAt":1},"internal":{"createdAt":1}}`
  const data = JSON.parse(text) as SessionData
  const copy = detachedCopy(data)
  expect(JSON.stringify(copy)).toBe(JSON.stringify(data))
  expect(copy['polluted']).toBeUndefined()
  expect(Object.getPrototypeOf(copy.user)).toBe(Object.prototype)
  copy.tokenSet.accessToken = 'other'
  copy.user.sub = 'other'
  for (const role of copy.user['roles'] as { name: string }[]) role.name = 'other'
  expect(data).toMatchObject({ tokenSet: { accessToken: 't' }, user: { sub: 'a', roles: [{ name: 'r' }] } })
})

test('[C7] a user with hundreds of claims is copied', () => {
  const claims = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`claim_${index}`, [index]]))
  const text = JSON.stringify({ user: { sub: 'a', ...claims }, tokenSet: {}, internal: { createdAt: 1 } })
  const data = JSON.parse(text.replace('claim_7"', '__proto__"')) as SessionData
  const copy = detachedCopy(data)
  expect(JSON.stringify(copy)).toBe(JSON.stringify(data))
  expect(Object.getPrototypeOf(copy.user)).toBe(Object.prototype)
  expect(copy.user['claim_9']).not.toBe(data.user['claim_9'])
})
