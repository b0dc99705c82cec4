import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { readCall } from '../src/wire/message.ts'

// Node.js has the property on TLS sockets only, Bun on every socket.
test.each([{}, { encrypted: false }, { encrypted: true }])('a socket with %j', async (properties) => {
  const request = new IncomingMessage(Object.assign(new Socket(), properties))
  request.push(null)
  expect((await readCall(request))?.encrypted).toBe(properties.encrypted ?? false)
})
