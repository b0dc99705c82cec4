import { expect, test } from 'vitest'
import { readChunks, readText } from './body.ts'

test('a stream that is too long stays unlocked, so that others can read or cancel it', async () => {
  const { body } = new Response('x'.repeat(300_000))
  await expect(readText(body && readChunks(body))).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  expect(body?.locked).toBe(false)
})
