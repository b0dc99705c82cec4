import { expect, test } from 'vitest'
import { engineFor } from '../../test/support/engine.ts'
import { freshlyStored } from '../session/model/session.ts'
import { replacementToken } from './replacement.ts'

test('a token replaces a refused one for the same request only, and is not refreshed itself for any', async () => {
  const { clock, engine } = engineFor()
  const { now } = clock
  const session = freshlyStored(
    {
      user: { sub: 'alice' },
      tokenSet: { accessToken: 'refused', expiresAt: now },
      internal: { createdAt: now },
    },
    now,
  )
  const names: string[] = []
  const replace = async (
    token: string,
    want: { audience?: string; scope?: string; mergeScopes?: boolean },
  ) => {
    const refresh = async () => {
      names.push(JSON.stringify(want))
      return { token: `for ${JSON.stringify(want)}` }
    }
    return (await replacementToken(engine, session, { token, want }, refresh))?.token
  }
  const wants = [{}, { scope: 'read' }, { scope: 'read', mergeScopes: false }, { audience: 'read' }]
  const expected = wants.map((want) => `for ${JSON.stringify(want)}`)
  expect(await Promise.all(wants.map((want) => replace('refused', want)))).toEqual(expected)
  for (const want of wants) expect(await replace('refused', want)).toBe(`for ${JSON.stringify(want)}`)
  expect(names).toHaveLength(wants.length)
  expect(await replace('for {}', { scope: 'read' })).toBeUndefined()
  expect(names).toHaveLength(wants.length)
  clock.now += 60
  await replace('refused', {})
  expect(names).toHaveLength(wants.length + 1)
})
