import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { streamedResponse } from '../../http/responses.ts'
import type { NodeResponse } from './response.ts'
import { sendResponse } from './send.ts'

const toBody = (parts: readonly string[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(new TextEncoder().encode(part))
      controller.close()
    },
  })

/** Sends a response, and returns how often it was flushed. */
async function countFlushes(response: Response): Promise<number> {
  let flushes = 0
  const server = createServer((_request, target) => {
    const compressed: NodeResponse = Object.assign(target, { flush: () => void flushes++ })
    void sendResponse(compressed, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const received = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  expect(await received.text()).toBe('onetwo')
  server.closeAllConnections()
  return flushes
}

test('each part of a streamed response passes a compression at once, and other responses as it likes', async () => {
  expect(await countFlushes(streamedResponse(toBody(['one', 'two']), {}))).toBe(2)
  expect(await countFlushes(new Response(toBody(['one', 'two'])))).toBe(0)
})
