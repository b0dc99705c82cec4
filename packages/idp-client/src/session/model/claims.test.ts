import { expect, test } from 'vitest'
import { subjectTag } from './claims.ts'
import type { SessionData } from './session-data.ts'

test('the tag of a user changes with the sub of the provider, and with that of the application', async () => {
  const tagOf = (issued: string, own: string): Promise<string> => {
    const idToken = `e30.${Buffer.from(JSON.stringify({ sub: issued })).toString('base64url')}.c2ln`
    const tokenSet = { accessToken: 'a', expiresAt: 1, idToken }
    const data: SessionData = { user: { sub: own }, tokenSet, internal: { createdAt: 1 } }
    return subjectTag(data)
  }
  const users = ['a', 'b'].flatMap((issued) => ['a', 'b', 'c'].map((own) => [issued, own] as const))
  const tags = await Promise.all(users.map((user) => tagOf(...user)))
  expect(new Set(tags).size).toBe(users.length)
  expect(await tagOf('a', 'b')).toBe(tags[1])
})
