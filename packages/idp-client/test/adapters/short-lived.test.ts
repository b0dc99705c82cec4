import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { NextRequest } from 'next/server.js'
import { describe, expect, test } from 'vitest'
import { IdpClient as AstroClient } from '../../src/adapters/astro/index.ts'
import { IdpClient as NextClient } from '../../src/adapters/next/index.ts'
import { IdpClient as NodeClient } from '../../src/adapters/node/index.ts'
import { IdpClient as SvelteKitClient } from '../../src/adapters/sveltekit/index.ts'
import { IdpClient as WebClient } from '../../src/index.ts'
import { APP, clientOptions, signedIn } from './client-options.ts'

setFlagsFromString('--expose-gc')
const collect: (options?: { type: 'minor' }) => void = runInNewContext('gc')
setFlagsFromString('--no-expose-gc')

const page = async (): Promise<Response> => new Response('page')

/** Passes a new request to the middleware, reads the session, and returns the request. */
type Serve = (headers: Record<string, string>) => Promise<object>

const hosts: readonly { readonly name: string; readonly create: () => Serve }[] = [
  {
    name: 'Web',
    create() {
      const idp = new WebClient(clientOptions)
      return async (headers) => {
        const request = new Request(`${APP}/page`, { headers })
        await idp.middleware(request, async () => Response.json(await idp.getSession()))
        return request
      }
    },
  },
  {
    name: 'Next.js',
    create() {
      const idp = new NextClient(clientOptions)
      return async (headers) => {
        const request = new NextRequest(`${APP}/page`, { headers })
        await idp.middleware(request)
        await idp.getSession(request)
        return request
      }
    },
  },
  {
    name: 'SvelteKit',
    create() {
      const idp = new SvelteKitClient(clientOptions)
      return async (headers) => {
        const request = new Request(`${APP}/page`, { headers })
        const cookies = { set() {} }
        const url = new URL(request.url)
        const event = { request, url, locals: {}, cookies, isSubRequest: false, setHeaders() {} }
        await idp.handle({ event, resolve: page })
        return event.locals
      }
    },
  },
  {
    name: 'Astro',
    create() {
      const idp = new AstroClient(clientOptions)
      return async (headers) => {
        const request = new Request(`${APP}/page`, { headers })
        const context = { request, url: new URL(request.url), locals: {}, isPrerendered: false }
        await idp.onRequest(context, page)
        return context.locals
      }
    },
  },
  {
    name: 'Node.js',
    create() {
      const idp = new NodeClient(clientOptions)
      return async (headers) => {
        const socket = new Socket()
        const incoming = new IncomingMessage(socket)
        const request = Object.assign(incoming, {
          url: '/page',
          method: 'GET',
          socket,
          headers: { host: 'app.example', ...headers },
        })
        const response = new ServerResponse(request)
        await idp.middleware(request, response, async () => void (await idp.getSession(request)))
        return request
      }
    },
  },
]

const REQUESTS = 300
/** Elements of an array that each request refers to, of 8 bytes. */
const BALLAST = 1000

async function serveMany(serve: Serve, headers: Record<string, string>): Promise<void> {
  for (let count = 0; count < REQUESTS; count++)
    Object.assign(await serve(headers), { ballast: new Array(BALLAST).fill(count) })
}

// A server that keeps its requests until a major collection copies them in every minor one before.
describe('a minor garbage collection frees requests with a session', () => {
  test.each(hosts)('$name', async ({ create }) => {
    const serve = create()
    const headers = await signedIn()
    await serveMany(serve, headers)
    collect()
    const { heapUsed: before } = process.memoryUsage()
    await serveMany(serve, headers)
    // The second one frees objects that survived the first one because they were too new.
    collect({ type: 'minor' })
    collect({ type: 'minor' })
    expect(process.memoryUsage().heapUsed - before).toBeLessThan((REQUESTS * BALLAST * 8) / 2)
  })
})
