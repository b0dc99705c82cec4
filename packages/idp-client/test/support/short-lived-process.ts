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
 * Prints for each host, as JSON, how many bytes are left per request after minor garbage collections. Started by
 * `short-lived.test.ts` with `--expose-gc`, and with room for all requests, so that no other collection runs.
 */

const { gc: collect } = globalThis as { gc?: (options?: { type: 'minor' }) => void }

/** The objects of the framework, and the session that the application read. */
interface Served {
  readonly objects: readonly object[]
  readonly session: unknown
}

type Headers = Readonly<Record<string, string>>

const toRequest = (headers: Headers): Request => new Request(`${APP}/page`, { headers })
const page = async (): Promise<Response> => new Response('page')

const web = new WebClient(clientOptions)
const next = new NextClient(clientOptions)
const svelteKit = new SvelteKitClient(clientOptions)
const astro = new AstroClient(clientOptions)
const node = new NodeClient(clientOptions)

/** Passes a new request to the middleware of each host. */
const hosts: Readonly<Record<string, (headers: Headers) => Promise<Served>>> = {
  async Web(headers) {
    const request = toRequest(headers)
    await web.middleware(request, page)
    return { objects: [request], session: await web.getSession(request) }
  },
  async 'Next.js'(headers) {
    const request = new NextRequest(`${APP}/page`, { headers })
    await next.middleware(request)
    return { objects: [request], session: await next.getSession(request) }
  },
  async SvelteKit(headers) {
    const request = toRequest(headers)
    const locals: { idpSession?: unknown } = {}
    const url = new URL(request.url)
    const event = { request, url, locals, cookies: { set() {} }, isSubRequest: false, setHeaders() {} }
    await svelteKit.handle({ event, resolve: page })
    return { objects: [request, locals], session: locals.idpSession }
  },
  async Astro(headers) {
    const request = toRequest(headers)
    const locals: { idpSession?: unknown } = {}
    await astro.onRequest({ request, url: new URL(request.url), locals, isPrerendered: false }, page)
    return { objects: [request, locals], session: locals.idpSession }
  },
  async 'Node.js'(headers) {
    const incoming = new IncomingMessage(new Socket())
    const given = { url: '/page', method: 'GET', headers: { host: 'app.example', ...headers } }
    const request = Object.assign(incoming, given)
    await node.middleware(request, new ServerResponse(request), page)
    return { objects: [request], session: await node.getSession(request) }
  },
}

const REQUESTS = 300
/** Elements of an array that each object refers to, of 8 bytes. */
const BALLAST = 4000

async function serveMany(host: string, serve: (headers: Headers) => Promise<Served>): Promise<void> {
  const headers = await signedIn()
  for (let count = 0; count < REQUESTS; count++) {
    const { objects, session } = await serve(headers)
    if (!session) throw new Error(`${host} has no session`)
    for (const object of objects) Object.assign(object, { ballast: new Array(BALLAST).fill(count) })
  }
}

const left: Record<string, number> = {}
for (const [host, serve] of Object.entries(hosts)) {
  if (!collect) throw new Error('start this process with --expose-gc')
  await serveMany(host, serve)
  collect()
  const { heapUsed: before } = process.memoryUsage()
  await serveMany(host, serve)
  // The second one frees objects that survived the first one because they were too new.
  collect({ type: 'minor' })
  collect({ type: 'minor' })
  left[host] = (process.memoryUsage().heapUsed - before) / REQUESTS
}
process.stdout.write(JSON.stringify(left))
