import { expect, test } from 'vitest'
import { endStreams, onSessionEnd } from './open-streams.ts'

test('a response that cannot be ended does not keep the others open, nor fail who ends them', async () => {
  const ended: string[] = []
  const session = {
    sessionKey: 'k',
    usedAt: 1,
    data: { user: { sub: 'a' }, tokenSet: { accessToken: 't', expiresAt: 2 }, internal: { createdAt: 1 } },
  }
  const forget = [
    onSessionEnd('tag', session, () => {
      throw new Error('it belongs to another request')
    }),
    onSessionEnd('tag', session, () => ended.push('second')),
  ]
  await endStreams(() => true)
  expect(ended).toEqual(['second'])
  for (const each of forget) each()
})
