import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { IdpClient } from '../../src/adapters/node/index.ts'
import { SECRET } from './engine.ts'

/**
 * An application on `node:http` with a proxy at `/api`, in a process of its own, started with `--expose-gc` by
 * `proxy-server.test.ts`. Prints its URL. `/memory` responds with the bytes of the heap, and outside of it, that are reachable.
 */

const collect = (globalThis as { gc?: () => void }).gc

async function reachableBytes(): Promise<number> {
  if (!collect) throw new Error('start this process with --expose-gc')
  // Collections find more once callbacks of the one before have run.
  for (let round = 0; round < 5; round += 1) {
    await turn()
    collect()
  }
  const { arrayBuffers, external, heapUsed } = process.memoryUsage()
  return heapUsed + external + arrayBuffers
}

const idp = new IdpClient({
  domain: 'idp.example',
  clientId: 'app',
  clientSecret: 'client-secret',
  secret: SECRET,
  appBaseUrl: 'http://localhost:3000',
  enableAccessTokenEndpoint: false,
})
idp.proxy({ prefix: '/api', target: process.env['UPSTREAM'] ?? '' })

const server = createServer((request, response) => {
  void idp.middleware(request, response, async () => {
    response.end(request.url === '/memory' ? String(await reachableBytes()) : 'page')
  })
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
