import { AsyncLocalStorage } from 'node:async_hooks'
import type { IdpClientOptions } from '../../src/index.ts'
import { customFetch, IdpClient } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { SECRET } from './engine.ts'
import { reachableMemory } from './reachable-memory.ts'
import { PATIENT } from './timeouts.ts'

/**
 * An application in a process of its own, started with `--expose-gc` by `memory.test.ts`. Prints what a scenario leaves in
 * memory as JSON.
 */

const APP = 'http://localhost:3000'

const reachableBytes = async (): Promise<number> => (await reachableMemory()).heapUsed

function newClient(options: IdpClientOptions = {}): IdpClient {
  return new IdpClient({
    domain: process.env['MEMORY_DOMAIN'],
    clientId: process.env['MEMORY_CLIENT_ID'],
    clientSecret: process.env['MEMORY_CLIENT_SECRET'],
    secret: SECRET,
    appBaseUrl: APP,
    allowInsecureRequests: true,
    httpTimeout: PATIENT,
    logger: () => {},
    ...options,
  })
}

/** The cookies of one browser. */
type Cookies = Map<string, string>

const text = (cookies: Cookies): string => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')

function requestWith(cookies: Cookies, path: string): Request {
  return new Request(new URL(path, APP), { headers: { host: new URL(APP).host, cookie: text(cookies) } })
}

function store(cookies: Cookies, response: Response): Response {
  for (const text of response.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? []
    if (value === '') cookies.delete(name)
    else cookies.set(name, value)
  }
  return response
}

/** A scope of the application's own, as frameworks and tracing libraries have: it leads to the request. */
const application = new AsyncLocalStorage<{ readonly request: Request } | undefined>()

/** Whether requests run in it. */
let isTraced = true

type Handler = (request: Request) => Promise<Response>

interface Visit {
  readonly handler: Handler
  /** Gets request and response. */
  readonly watch?: (...watched: object[]) => void
}

async function send(
  client: IdpClient,
  cookies: Cookies,
  path: string,
  { handler, watch }: Visit = { handler: async () => new Response() },
): Promise<Response> {
  const request = requestWith(cookies, path)
  const response = await application.run(isTraced ? { request } : undefined, async () => {
    const handled = await client.middleware(request, handler)
    watch?.(request, handled)
    return handled
  })
  return store(cookies, response)
}

/** Cookies of the one session at the provider, which signs in without a page. */
const atProvider: Cookies = new Map()

/** Follows the provider's redirects until they lead back to the application. */
async function authorize(from: string): Promise<URL> {
  let url = new URL(from)
  while (url.origin !== APP) {
    const headers = { cookie: text(atProvider) }
    const response = store(atProvider, await fetch(url, { redirect: 'manual', headers }))
    url = new URL(response.headers.get('location') ?? '', url)
  }
  return url
}

/** Returns to the application at once, for a provider whose codes are nonces. */
async function skipProvider(from: string): Promise<URL> {
  const { searchParams } = new URL(from)
  const parameters = { code: searchParams.get('nonce') ?? '', state: searchParams.get('state') ?? '' }
  return new URL(`/auth/callback?${new URLSearchParams(parameters)}`, APP)
}

async function logIn(client: IdpClient, visitProvider = authorize): Promise<Cookies> {
  const cookies: Cookies = new Map()
  const begun = await send(client, cookies, '/auth/login')
  const callback = await visitProvider(begun.headers.get('location') ?? '')
  const { status } = await send(client, cookies, callback.pathname + callback.search)
  if (status !== 302) throw new Error(`the callback responded ${status}`)
  return cookies
}

/** Runs `work` for each number below `count`, so many at a time. */
async function inParallel(count: number, work: (index: number) => Promise<void>, atOnce = 20): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

/** Of 100 requests of so many browsers, how many are reachable when they have been responded to. */
async function reachableAfter(
  client: IdpClient,
  handler: Handler,
  { browserCount = 10, begin = client } = {},
): Promise<number> {
  const watched: WeakRef<object>[] = []
  const browsers = [await logIn(begin)]
  await inParallel(browserCount - 1, async () => void browsers.push(await logIn(begin)))
  const visit = async (index: number): Promise<void> => {
    const watch: Visit['watch'] = (...objects) => {
      watched.push(...objects.map((object) => new WeakRef(object)))
    }
    await send(client, browsers[index % browserCount] ?? new Map(), '/page', { handler, watch })
  }
  // Each browser at once: one that waits for a late response keeps no other from asking.
  await inParallel(100, visit, browserCount)
  await reachableBytes()
  return watched.filter((reference) => reference.deref() !== undefined).length / 2
}

const refreshing =
  (client: IdpClient): Handler =>
  async () => {
    await client.getAccessToken({ refresh: true })
    return new Response('x'.repeat(10_000))
  }

const scenarios: Record<string, () => Promise<number>> = {
  async cookies() {
    const client = newClient()
    return reachableAfter(client, refreshing(client))
  },

  async store() {
    const client = newClient({ sessionStore: memoryStore() })
    return reachableAfter(client, refreshing(client))
  },

  async late() {
    let isHeld = false
    const never = new Promise<never>(() => {})
    const held: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      const isRefresh = String(init?.body ?? '').includes('grant_type=refresh_token')
      return isHeld && isRefresh ? never : response
    }
    const client = newClient({ [customFetch]: held, httpTimeout: 3000 })
    // A late response is read outside the library's own scope; scopes of others cannot be left.
    isTraced = false
    const warmUp = await logIn(client)
    await send(client, warmUp, '/page', { handler: refreshing(client) })
    isHeld = true
    const handler = async (): Promise<Response> => {
      await client.getAccessToken({ refresh: true }).catch(() => {})
      return new Response('x'.repeat(10_000))
    }
    // Logins need the patience that these refreshes must not have.
    return reachableAfter(client, handler, { browserCount: 100, begin: newClient() })
  },

  async fetch() {
    const watched: WeakRef<object>[] = []
    await inParallel(100, async () => {
      const request = requestWith(new Map(), '/auth/login')
      watched.push(new WeakRef(request))
      const own: typeof fetch = async (input, init) => {
        request.signal.throwIfAborted()
        return fetch(input, init)
      }
      const { status } = await newClient({ [customFetch]: own }).middleware(request)
      if (status !== 302) throw new Error(`the login responded ${status}`)
    })
    await reachableBytes()
    return watched.filter((reference) => reference.deref() !== undefined).length
  },

  async users() {
    const client = newClient()
    const visit = async (): Promise<void> => {
      const cookies = await logIn(client, skipProvider)
      await send(client, cookies, '/page', { handler: refreshing(client) })
    }
    await visit()
    // Code is compiled and connections are opened once, not for each user.
    await inParallel(800, visit)
    const before = await reachableBytes()
    await inParallel(5000, visit)
    return (await reachableBytes()) - before
  },
}

const scenario = scenarios[process.argv[2] ?? '']
if (!scenario) throw new Error('no such scenario')
process.stdout.write(JSON.stringify(await scenario()))
process.exit(0)
