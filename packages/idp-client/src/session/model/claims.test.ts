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
  const tags = [await tagOf('a', 'a'), await tagOf('a', 'b'), await tagOf('b', 'a'), await tagOf('b', 'b')]
  expect(new Set(tags).size).toBe(4)
  expect(await tagOf('a', 'b')).toBe(tags[1])
})
