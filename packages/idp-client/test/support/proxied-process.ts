import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { IdpClient } from '../../src/adapters/node/index.ts'
import { SECRET } from './engine.ts'
import { reachableMemory } from './reachable-memory.ts'

/**
 * An application on `node:http` with a proxy at `/api`, in a process of its own, started with `--expose-gc` by
 * `proxy-server.test.ts`. Prints its URL. `/memory` responds with the bytes of the heap, and outside of it, that are reachable.
 */

async function reachableBytes(): Promise<number> {
  const { arrayBuffers, external, heapUsed } = await reachableMemory()
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
