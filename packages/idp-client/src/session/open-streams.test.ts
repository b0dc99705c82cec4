import { expect, test } from 'vitest'
import { endStreams, endStreamsBy, onSessionEnd } from './open-streams.ts'

test('a response that cannot be ended does not keep the others open, nor fail who ends them', async () => {
  const ended: string[] = []
  const session = {
    sessionKey: 'k',
    usedAt: 1,
    data: { user: { sub: 'a' }, tokenSet: { accessToken: 't', expiresAt: 2 }, internal: { createdAt: 1 } },
  }
  const end = (): void => {
    throw new Error('it belongs to another request')
  }
  const endBy = (time: number) => void ended.push(`by ${time}`)
  const forget = [
    onSessionEnd('tag', session, { end, endBy: end }),
    onSessionEnd('tag', session, { end: () => void ended.push('second'), endBy }),
  ]
  endStreamsBy('k', 9)
  endStreamsBy('other', 8)
  await endStreams(() => true)
  expect(ended).toEqual(['by 9', 'second'])
  for (const each of forget) each()
})
