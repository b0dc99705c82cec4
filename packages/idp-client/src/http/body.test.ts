import { expect, test } from 'vitest'
import { readChunks, readText } from './body.ts'

test('a stream that is too long stays unlocked, so that others can read or cancel it', async () => {
  const { body } = new Response('x'.repeat(300_000))
  await expect(readText(body && readChunks(body))).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  expect(body?.locked).toBe(false)
})

test('a body that breaks off, because the client has left, is an error of the request', async () => {
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new TypeError('aborted')),
  })
  await expect(readText(readChunks(body))).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
})
