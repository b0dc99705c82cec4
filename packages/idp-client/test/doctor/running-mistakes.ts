import { Redis } from 'ioredis'
import { createClient } from 'redis'
import type { IdpClientOptions, SessionDataStore } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { redisStore } from '../../src/stores/redis.ts'
import { startFront } from '../support/front.ts'
import { runNginx } from '../support/nginx.ts'
import type { RedisOptions } from '../support/redis-server.ts'
import { startRedis } from '../support/redis-server.ts'
import { onFreePort } from '../support/service.ts'
import type { Around, Bench, Mistake } from './bench.ts'

/** Examines the running application: its own options, and those that the doctor has. */
function running(
  around?: Around,
  options: IdpClientOptions = {},
  known: IdpClientOptions = options,
): Mistake['make'] {
  return async (bench) => {
    const { url } = await bench.startApplication(options, around)
    return bench.byOptions({ appBaseUrl: url, ...known }, { app: url, probe: false })
  }
}

/** Something in front of the application that responds itself to some requests. */
const instead =
  (respond: (request: Request) => Response | undefined): Around =>
  async (request, next) =>
    respond(request) ?? next()

const isPost = ({ method }: Request): boolean => method === 'POST'

export const application: readonly Mistake[] = [
  {
    mistake: 'an application that does not run',
    code: 'APP_UNREACHABLE',
    async make(bench) {
      const front = await startFront(() => {})
      await front.stop()
      return bench.byVariables({}, ['--app', front.url])
    },
  },
  {
    mistake: 'an application on the Internet without https',
    code: 'APP_URL_INSECURE',
    also: ['APP_UNREACHABLE'],
    make: (bench) => bench.byVariables({}, ['--app', 'http://shop.invalid']),
  },
  {
    mistake: 'https:// for a server on this machine that has none',
    code: 'HTTPS_BASE_URL',
    async make(bench) {
      const { url } = await bench.startApplication()
      return bench.byVariables({}, ['--app', url.replace('http:', 'https:')])
    },
  },
  {
    mistake: 'middleware that is not mounted',
    code: 'LOGIN_ROUTE_NOT_FOUND',
    make: running(instead(() => new Response('not found', { status: 404 }))),
  },
  {
    mistake: 'a proxy.ts that Next.js does not run',
    code: 'PROXY_NOT_REACHED',
    make: running(instead(() => new Response(null, { status: 404, headers: { 'x-powered-by': 'Next.js' } }))),
  },
  {
    mistake: 'an application that throws',
    code: 'APP_FAILED',
    make: running(instead(() => new Response('oops', { status: 500 }))),
  },
  {
    mistake: 'an application that runs without its variables',
    code: 'INVALID_CONFIGURATION',
    make: running(undefined, { secret: undefined }, {}),
  },
  {
    mistake: 'a host that is not in the list of base URLs',
    code: 'BASE_URL_NOT_ALLOWED',
    make: running(undefined, { appBaseUrl: ['https://shop.example.com'] }, {}),
  },
  {
    mistake: 'an application with another client id',
    code: 'APP_CONFIGURED_DIFFERENTLY',
    make: running(undefined, { clientId: 'another-client' }, {}),
  },
  ...['/callback', '/api/auth/callback'].map((callback) => ({
    mistake: `an application whose code sets the callback path ${callback}`,
    code: 'APP_CONFIGURED_DIFFERENTLY' as const,
    make: running(undefined, { routes: { callback } }, {}),
  })),
  {
    mistake: 'localhost and 127.0.0.1',
    code: 'BASE_URL_INTERNAL',
    make: running(undefined, { appBaseUrl: 'http://localhost:3000' }),
  },
  {
    mistake: 'two names of the application',
    code: 'STATE_HOST_MISMATCH',
    make: running(undefined, { appBaseUrl: 'https://www.example.com' }),
  },
  {
    mistake: 'a base path that the application does not know',
    code: 'BASE_PATH_MISSING',
    async make(bench) {
      const { url } = await bench.startApplication({ appBaseUrl: undefined }, async (_request, respond) =>
        respond(),
      )
      // A proxy that removes the path.
      const front = await startFront(async (request, response) => {
        const path = request.url?.replace(/^\/shop/, '') ?? '/'
        const from = await fetch(`${url}${path}`, {
          method: request.method ?? 'GET',
          redirect: 'manual',
        })
        const location = from.headers
          .get('location')
          ?.replaceAll(encodeURIComponent(url), encodeURIComponent(front.url))
        response.writeHead(from.status, {
          'cache-control': from.headers.get('cache-control') ?? '',
          'set-cookie': from.headers.getSetCookie(),
          ...(location === undefined ? {} : { location }),
        })
        response.end(await from.text())
      })
      bench.defer(() => front.stop())
      return bench.byOptions({ appBaseUrl: undefined }, { app: `${front.url}/shop`, probe: false })
    },
  },
  {
    mistake: 'a check of origins that blocks the provider',
    code: 'BACKCHANNEL_LOGOUT_BLOCKED',
    make: running(
      instead((request) =>
        isPost(request) && !request.headers.has('origin')
          ? new Response('Cross-site POST form submissions are forbidden', { status: 403 })
          : undefined,
      ),
    ),
  },
  {
    mistake: 'a check of origins that blocks form_post',
    code: 'FORM_POST_BLOCKED',
    // The application of the test has no https, which form_post needs, so its cookie is another one.
    also: ['COOKIE_CHANGED'],
    async make(bench) {
      const around = instead(({ method, url }) =>
        method === 'POST' && url.endsWith('/callback')
          ? new Response('forbidden', { status: 403 })
          : undefined,
      )
      const { url } = await bench.startApplication({}, around)
      const known = { authorizationParameters: { response_mode: 'form_post' } }
      return bench.byOptions(
        { appBaseUrl: url.replace('http:', 'https:'), ...known },
        { app: url, probe: false },
      )
    },
  },
  {
    mistake: 'no session store for back-channel logout',
    code: 'BACKCHANNEL_LOGOUT_NOT_SUPPORTED',
    async make(bench) {
      const { url } = await bench.startApplication()
      const sessionStore = memoryStore({ name: crypto.randomUUID() })
      return bench.byOptions({ appBaseUrl: url, sessionStore }, { app: url, store: true, probe: false })
    },
  },
]

/** Directives of the page about nginx for the heads of responses. */
export const BUFFERS = 'proxy_buffer_size 16k; proxy_buffers 8 16k; proxy_busy_buffers_size 32k;'

export interface NginxSetup {
  readonly http?: string
  readonly server?: string
  readonly location?: string
  readonly options?: IdpClientOptions
}

/** Examines an application behind nginx. */
export async function behindNginx(
  bench: Bench,
  { http = '', location = '', options = {}, server = '' }: NginxSetup,
) {
  let upstream = ''
  const { stop, url } = await onFreePort(async (port) => {
    const url = `http://127.0.0.1:${port}`
    upstream = (await bench.startApplication({ appBaseUrl: url, ...options })).url
    const block = `server { listen 127.0.0.1:${port}; ${server} location / { proxy_pass ${upstream}; ${location} } }`
    return { url, stop: await runNginx(`${http} ${block}`) }
  })
  bench.defer(stop)
  return bench.byOptions({ appBaseUrl: url, ...options }, { app: url, probe: false })
}

const nginxMistake = (mistake: string, code: Mistake['code'], setup: NginxSetup): Mistake => ({
  mistake,
  code,
  make: (bench) => behindNginx(bench, setup),
})

/** A cache that keeps what it must not keep. */
const CACHE = 'proxy_cache_path cache keys_zone=all:1m;'
const CACHING =
  'proxy_cache all; proxy_cache_valid any 10m; proxy_ignore_headers Cache-Control Expires Set-Cookie;'

export const nginx: readonly Mistake[] = [
  nginxMistake('nginx that does not forward the Host header', 'BASE_URL_INTERNAL', {
    location: BUFFERS,
    options: { appBaseUrl: undefined },
  }),
  nginxMistake('nginx that forwards the wrong protocol', 'FORWARDED_HEADERS_IGNORED', {
    location: `${BUFFERS} proxy_set_header Host $http_host; proxy_set_header X-Forwarded-Proto https;`,
    options: { appBaseUrl: undefined, trustProxy: true },
  }),
  nginxMistake('nginx that removes Set-Cookie', 'SET_COOKIE_LOST', {
    location: `${BUFFERS} proxy_hide_header Set-Cookie;`,
  }),
  nginxMistake('nginx that changes the path of cookies', 'COOKIE_CHANGED', {
    location: `${BUFFERS} proxy_cookie_path / /shop;`,
  }),
  nginxMistake('nginx that removes HttpOnly', 'COOKIE_CHANGED', {
    location: `${BUFFERS} proxy_cookie_flags ~ nohttponly;`,
  }),
  nginxMistake('nginx that removes Cache-Control', 'NO_STORE_LOST', {
    location: `${BUFFERS} proxy_hide_header Cache-Control;`,
  }),
  nginxMistake('nginx that caches responses with cookies', 'RESPONSE_CACHED', {
    http: CACHE,
    location: `${BUFFERS} ${CACHING}`,
  }),
  nginxMistake('nginx with small buffers for requests', 'REQUEST_HEADERS_REFUSED', {
    server: 'large_client_header_buffers 4 4k;',
    location: BUFFERS,
  }),
  nginxMistake('nginx with its own buffers for responses', 'RESPONSE_HEADERS_REFUSED', {}),
  nginxMistake('nginx that allows no POST', 'BACKCHANNEL_LOGOUT_BLOCKED', {
    location: `${BUFFERS} limit_except GET { deny all; }`,
  }),
  nginxMistake('nginx that redirects to another name', 'APP_REDIRECTS', {
    server: 'location /auth/ { return 301 https://www.example.com$request_uri; }',
  }),
  nginxMistake('nginx that forwards to a server that is down', 'PROXY_FAILED', {
    server: 'location /auth/ { proxy_pass http://127.0.0.1:1; }',
  }),
  nginxMistake('nginx that does not forward the auth routes', 'LOGIN_ROUTE_NOT_FOUND', {
    server: 'location /auth/ { return 404; }',
  }),
]

/** Examines a session store in a Redis server with these settings. */
function inRedis(
  { password, ...settings }: RedisOptions & { readonly password?: string },
  prepare: (client: Redis) => Promise<unknown> = async () => {},
): Mistake['make'] {
  return async (bench) => {
    const server = await startRedis(settings)
    bench.defer(() => server.stop())
    const client = new Redis(server.port, '127.0.0.1', password ? { password } : {})
    client.on('error', () => {})
    bench.defer(() => client.disconnect())
    if (password) bench.secrets.push(password)
    await prepare(client)
    return bench.byOptions({ sessionStore: redisStore(client) }, { store: true, probe: false })
  }
}

export const redis: readonly Mistake[] = [
  {
    mistake: 'Redis that is down',
    code: 'SESSION_STORE_UNREACHABLE',
    async make(bench) {
      const server = await startRedis()
      await server.stop()
      const client = new Redis(server.port, '127.0.0.1', { maxRetriesPerRequest: 1 })
      client.on('error', () => {})
      bench.defer(() => client.disconnect())
      return bench.byOptions({ sessionStore: redisStore(client) }, { store: true, probe: false })
    },
  },
  {
    mistake: 'Redis that demands a password',
    code: 'SESSION_STORE_NOT_SET_UP',
    make: inRedis({ settings: { requirepass: 'the-right-one-7f3a' } }),
  },
  {
    mistake: 'a wrong password for Redis',
    code: 'SESSION_STORE_NOT_SET_UP',
    make: inRedis({ settings: { requirepass: 'the-right-one-7f3a' }, password: 'the-wrong-one-9b2c' }),
  },
  {
    mistake: 'Redis that is full',
    code: 'SESSION_STORE_FAILED',
    make: inRedis({ settings: { maxmemory: '1' } }),
  },
  {
    mistake: 'reads from a replica that has not received the write',
    code: 'SESSION_STORE_LOST_RECORD',
    async make(bench) {
      const servers = await Promise.all([startRedis(), startRedis()])
      const [primary, replica] = servers.map(({ port }) => new Redis(port, '127.0.0.1'))
      bench.defer(async () => {
        for (const client of [primary, replica]) client?.disconnect()
        await Promise.all(servers.map((server) => server.stop()))
      })
      const sessionStore = redisStore(async ([name = '', ...args]) =>
        (name === 'GET' ? replica : primary)?.call(name, ...args),
      )
      return bench.byOptions({ sessionStore }, { store: true, probe: false })
    },
  },
  {
    mistake: 'a replica of Redis, which nobody can write to',
    code: 'SESSION_STORE_FAILED',
    make: inRedis({}, (client) => client.replicaof('127.0.0.1', 1)),
  },
  {
    mistake: 'a store whose client is not connected',
    code: 'SESSION_STORE_NOT_CONNECTED',
    make: (bench) =>
      bench.byOptions(
        { sessionStore: redisStore(createClient({ disableOfflineQueue: true })) },
        { store: true, probe: false },
      ),
  },
  {
    mistake: 'a store with the update of another library',
    code: 'SESSION_STORE_UPDATE',
    make: (bench) => {
      const update: unknown = async () => true
      const sessionStore = { ...memoryStore({ name: crypto.randomUUID() }), update } as SessionDataStore
      return bench.byOptions({ sessionStore }, { store: true, probe: false })
    },
  },
  {
    mistake: 'a session store whose clock is ahead',
    code: 'SESSION_STORE_CLOCK',
    make: (bench) =>
      bench.byOptions(
        {
          sessionStore: memoryStore({
            name: crypto.randomUUID(),
            clock: () => Math.floor(Date.now() / 1000) + 3600,
          }),
        },
        { store: true, probe: false },
      ),
  },
]
