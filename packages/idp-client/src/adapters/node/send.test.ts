import { once } from 'node:events'
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
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

test('a response that does not say whether it accepts more gets the rest', async () => {
  const parts: string[] = []
  const write = (part: Uint8Array): void => void parts.push(new TextDecoder().decode(part))
  const target = Object.assign(new ServerResponse(new IncomingMessage(new Socket())), { write })
  await sendResponse(target, new Response(toBody(['one', 'two'])))
  expect(parts).toEqual(['one', 'two'])
  expect(target.writableEnded).toBe(true)
})

test('a client that left before the response gets nothing, and the body is cancelled', async () => {
  const cancel = vi.fn()
  const parts = ['one', 'two', 'three']
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const part = parts.shift()
        if (part === undefined) controller.close()
        else controller.enqueue(new TextEncoder().encode(part))
      },
      cancel,
    },
    { highWaterMark: 0 },
  )
  const target = new ServerResponse(new IncomingMessage(new Socket())).destroy()
  const write = vi.spyOn(target, 'write')
  await sendResponse(target, new Response(body))
  expect(cancel).toHaveBeenCalledOnce()
  expect(write).not.toHaveBeenCalled()
})
