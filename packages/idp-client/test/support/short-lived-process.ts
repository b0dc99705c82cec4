import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { NextRequest } from 'next/server.js'
import { IdpClient as AstroClient } from '../../src/adapters/astro/index.ts'
import { IdpClient as NextClient } from '../../src/adapters/next/index.ts'
import { IdpClient as NodeClient } from '../../src/adapters/node/index.ts'
import { IdpClient as SvelteKitClient } from '../../src/adapters/sveltekit/index.ts'
import { IdpClient as WebClient } from '../../src/index.ts'
import { APP, clientOptions, signedIn } from '../adapters/client-options.ts'

/**
 * Prints for each host, as JSON, how many bytes are left per request after minor garbage collections. Started by `short-lived.test.ts`
 * with `--expose-gc`, and with room for all requests, so that no other collection runs.
 */

const { gc: collect } = globalThis as { gc?: (options?: { type: 'minor' }) => void }

const page = async (): Promise<Response> => new Response('page')

/** Passes a new request to the middleware, reads the session, and returns the objects of the framework. */
type Serve = (headers: Record<string, string>) => Promise<readonly object[]>

const hosts: readonly { readonly name: string; readonly create: () => Serve }[] = [
  {
    name: 'Web',
    create() {
      const idp = new WebClient(clientOptions)
      return async (headers) => {
        const request = new Request(`${APP}/page`, { headers })
        await idp.middleware(request, async () => Response.json(await idp.getSession()))
        return [request]
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
        return [request]
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
        return [request, event.locals]
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
        return [request, context.locals]
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
        return [request]
      }
    },
  },
]

const REQUESTS = 300
/** Elements of an array that each object refers to, of 8 bytes. */
const BALLAST = 4000

async function serveMany(serve: Serve, headers: Record<string, string>): Promise<void> {
  for (let count = 0; count < REQUESTS; count++)
    for (const object of await serve(headers))
      Object.assign(object, { ballast: new Array(BALLAST).fill(count) })
}

async function leftBy(serve: Serve): Promise<number> {
  if (!collect) throw new Error('start this process with --expose-gc')
  const headers = await signedIn()
  await serveMany(serve, headers)
  collect()
  const { heapUsed: before } = process.memoryUsage()
  await serveMany(serve, headers)
  // The second one frees objects that survived the first one because they were too new.
  collect({ type: 'minor' })
  collect({ type: 'minor' })
  return (process.memoryUsage().heapUsed - before) / REQUESTS
}

const left: Record<string, number> = {}
for (const { create, name } of hosts) left[name] = await leftBy(create())
process.stdout.write(JSON.stringify(left))
