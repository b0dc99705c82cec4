import { once } from 'node:events'
import { IncomingMessage } from 'node:http'
import { connect, Socket } from 'node:net'
import express from 'express'
import { vi } from 'vitest'
import { IdpClient as ExpressClient } from '../../src/adapters/express/index.ts'
import { IdpClient as NextClient } from '../../src/adapters/next/index.ts'
import type { IdpClientOptions, OnCallbackHook, SessionDataStore } from '../../src/index.ts'
import { IdpClient } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { APP } from '../support/app.ts'
import { SECRET } from '../support/engine.ts'
import { startFront } from '../support/front.ts'
import { serve } from '../support/serve.ts'
import type { Bench, Mistake } from './bench.ts'
import { thrownBy } from './bench.ts'

class LicenseError extends Error {
  override readonly name = 'LicenseError'
}

function throwing(): never {
  throw new LicenseError('alice@example.test has no license')
}

/** A login of an application with these options. */
const loginWith =
  (options: IdpClientOptions): Mistake['make'] =>
  async (bench) => {
    await bench.login(await bench.start(options))
  }

/** A hook that is typed as another library's, which the compiler would have refused. */
const hookOf = (hook: unknown): OnCallbackHook => hook as OnCallbackHook

/** The signature of a library that people come from. */
const ofPeer = hookOf(async (_error: unknown, context: { returnTo: string }, _session: unknown) => ({
  returnTo: context.returnTo,
}))

/** A store that fails from the given operation on, as a driver fails. */
function failing(operation: 'get' | 'set', cause: unknown): SessionDataStore {
  const fail = (): Promise<never> => Promise.reject(cause)
  return {
    ...memoryStore({ name: crypto.randomUUID() }),
    [operation]: fail,
    ...(operation === 'set' ? { update: fail } : {}),
  }
}

const driverError = (code: string): Error =>
  Object.assign(new Error('key (alice@example.test) eyJhbGciOi'), { code, args: ['alice'] })

/** A store over a connection that nobody accepts. */
async function unreachable(): Promise<SessionDataStore> {
  const front = await startFront(() => {})
  await front.stop()
  const ask = async (): Promise<never> => {
    const { port } = new URL(front.url)
    const socket = connect(Number(port), '127.0.0.1')
    await once(socket, 'connect')
    throw new Error('a server listens there')
  }
  return { get: ask, set: ask, delete: ask }
}

class ClientClosedError extends Error {
  override readonly name = 'ClientClosedError'
}

/** The profile route of a browser that has a session. */
async function profileWithBrokenStore(bench: Bench, cause: unknown): Promise<void> {
  const clock = (): number => world.clock.now
  const working = memoryStore({ name: crypto.randomUUID(), clock })
  let isBroken = false
  const sessionStore: SessionDataStore = {
    ...working,
    get: (id) => (isBroken ? Promise.reject(cause) : working.get(id)),
  }
  const world = await bench.start({ sessionStore })
  const browser = world.newBrowser()
  await bench.login(world, { browser })
  isBroken = true
  await browser.send('/auth/profile')
}

/** Mistakes in the application: hooks, sessions, what browsers bring back. */
export const application: readonly Mistake[] = [
  { mistake: 'an onCallback that throws', remedy: 'HOOK_FAILED', make: loginWith({ onCallback: throwing }) },
  {
    mistake: 'a beforeSessionSaved that throws',
    remedy: 'HOOK_FAILED',
    make: loginWith({ beforeSessionSaved: throwing }),
  },
  {
    mistake: 'an onCallback that returns nonsense',
    remedy: 'HOOK_RESULT',
    make: loginWith({ onCallback: hookOf(() => 'https://alice.example.test') }),
  },
  {
    mistake: 'a beforeSessionSaved that forgets to return',
    remedy: 'HOOK_RESULT',
    make: loginWith({ beforeSessionSaved: (() => undefined) as never }),
  },
  {
    mistake: 'an onCallback with the three arguments of another library',
    remedy: 'HOOK_SIGNATURE',
    make: (bench) => bench.start({ onCallback: ofPeer }),
  },
  {
    mistake: 'a session that does not fit into its cookies',
    remedy: 'SESSION_TOO_LARGE',
    async make(bench) {
      const world = await bench.start()
      world.provider.tamperIdToken((claims) => {
        claims['groups'] = Array.from({ length: 400 }, () => crypto.randomUUID())
        claims['alice@example.test'] = 'x'.repeat(3000)
      })
      await bench.login(world)
    },
  },
  {
    mistake: 'a session store that does not respond',
    remedy: 'SESSION_STORE_UNREACHABLE',
    make: async (bench) => loginWith({ sessionStore: await unreachable() })(bench),
  },
  {
    mistake: 'a session store without its tables',
    remedy: 'SESSION_STORE_NOT_SET_UP',
    make: loginWith({ sessionStore: failing('set', driverError('42P01')) }),
  },
  {
    mistake: 'a session store whose client is not connected',
    remedy: 'SESSION_STORE_NOT_CONNECTED',
    make: loginWith({ sessionStore: failing('set', new ClientClosedError('closed')) }),
  },
  {
    mistake: 'a session store that fails to write',
    remedy: 'SESSION_STORE_FAILED',
    make: loginWith({ sessionStore: failing('set', driverError('ERR_ODD')) }),
  },
  {
    mistake: 'a session store that fails to read',
    remedy: 'SESSION_STORE_FAILED',
    make: (bench) => profileWithBrokenStore(bench, new Error('key (alice@example.test)')),
  },
  {
    mistake: 'a host that is not in the list of base URLs',
    remedy: 'BASE_URL_NOT_ALLOWED',
    async make(bench) {
      const world = await bench.start({ appBaseUrl: ['https://shop.example.com'] })
      await bench.login(world)
    },
  },
  {
    mistake: 'a proxy that passes on an invalid Host header',
    remedy: 'BASE_URL_UNKNOWN',
    async make(bench) {
      const world = await bench.start({ appBaseUrl: undefined })
      await world.client.middleware(new Request(`${APP}/auth/login`, { headers: { host: 'alice@host' } }))
    },
  },
  {
    mistake: 'a proxy in front, and trustProxy is off',
    remedy: 'FORWARDED_HEADERS_IGNORED',
    async make(bench) {
      const world = await bench.start({ appBaseUrl: undefined, trustProxy: false })
      const headers = {
        host: 'inside:3000',
        'x-forwarded-host': 'alice.example.test',
        'x-forwarded-proto': 'https',
      }
      await world.client.middleware(new Request('http://inside:3000/auth/login', { headers }))
    },
  },
  {
    mistake: 'an https base URL in front of a plain http server',
    remedy: 'HTTPS_BASE_URL',
    async make(bench) {
      const world = await bench.start({ appBaseUrl: 'https://localhost:3000' })
      await bench.login(world)
    },
  },
  {
    mistake: 'an internal address as inferred base URL in production',
    remedy: 'BASE_URL_INTERNAL',
    async make(bench) {
      vi.stubEnv('NODE_ENV', 'production')
      bench.defer(() => vi.unstubAllEnvs())
      const idp = new IdpClient({
        domain: 'idp.example.com',
        clientId: 'app',
        clientSecret: 'client-secret',
        secret: SECRET,
      })
      await idp.middleware(new Request('http://app:3000/auth/profile', { headers: { host: 'app:3000' } }))
    },
  },
  {
    mistake: 'a proxy.ts that Next.js does not run',
    remedy: 'PROXY_NOT_REACHED',
    async make() {
      const idp = new NextClient({
        domain: 'idp.example.com',
        clientId: 'app',
        clientSecret: 'client-secret',
        secret: SECRET,
        appBaseUrl: APP,
      })
      const request = Object.assign(new IncomingMessage(new Socket()), {
        method: 'GET',
        url: '/',
        headers: { host: 'localhost:3000' },
      })
      await idp.getSession(request)
    },
  },
  {
    mistake: 'auth routes below a path that no variable names',
    remedy: 'BASE_PATH_MISSING',
    make() {
      const idp = new ExpressClient({
        domain: 'idp.example.com',
        clientId: 'app',
        clientSecret: 'client-secret',
        secret: SECRET,
        appBaseUrl: 'https://shop.example.com',
      })
      return serve(express().use('/shop', idp.middleware), async (url) => {
        await fetch(`${url}/shop/auth/profile`)
      })
    },
  },
  {
    mistake: 'two applications on one host with one cookie name',
    remedy: 'SESSION_COOKIE_SHARED',
    async make(bench) {
      const world = await bench.start()
      const other = world.another({ secret: 'f'.repeat(63).concat('0'), clientId: 'another' })
      const browser = world.newBrowser()
      await bench.login(world, { browser })
      for (const [name, cookie] of browser.cookies) other.browser.cookies.set(name, cookie)
      await other.browser.send('/page')
    },
  },
  {
    mistake: 'a provider without logout',
    remedy: 'LOGOUT_NOT_OFFERED',
    async make(bench) {
      const world = await bench.start({}, { endSession: false })
      await world.newBrowser().send('/auth/logout')
    },
  },
  {
    mistake: 'a transaction cookie that does not come back',
    remedy: 'UNKNOWN_STATE',
    async make(bench) {
      const { browser, callback } = await bench.callback()
      browser.cookies.clear()
      await browser.send(callback)
    },
  },
  {
    mistake: 'a login that begins on one host and ends on another',
    remedy: 'STATE_HOST_MISMATCH',
    async make(bench) {
      const started = await bench.callback({ appBaseUrl: ['http://localhost:3000', 'http://127.0.0.1:3000'] })
      const { world } = started
      const callback = new URL(started.callback)
      const headers = { host: '127.0.0.1:3000' }
      const url = `http://127.0.0.1:3000${callback.pathname}${callback.search}`
      await world.client.middleware(new Request(url, { headers }))
    },
  },
  {
    mistake: 'a browser on 127.0.0.1 with a base URL on localhost',
    remedy: 'STATE_HOST_MISMATCH',
    async make(bench) {
      const world = await bench.start()
      const login = new Request('http://127.0.0.1:3000/auth/login', { headers: { host: '127.0.0.1:3000' } })
      const started = await world.client.middleware(login)
      const callback = await world.authorize(started.headers.get('location') ?? '')
      await world.newBrowser().send(callback)
    },
  },
  {
    mistake: 'a link to the callback',
    remedy: 'MISSING_STATE',
    async make(bench) {
      const world = await bench.start()
      await world.newBrowser().send('/auth/callback')
    },
  },
  {
    mistake: 'a callback that is opened again',
    remedy: 'REPLAYED_STATE',
    async make(bench) {
      const { browser, callback } = await bench.callback()
      const cookies = new Map(browser.cookies)
      await browser.send(callback)
      browser.cookies.clear()
      for (const [name, cookie] of cookies) browser.cookies.set(name, cookie)
      await browser.send(`${callback}&again=1`)
    },
  },
  {
    mistake: 'a login page that is left open for too long',
    remedy: 'EXPIRED_STATE',
    async make(bench) {
      const { world, browser, callback } = await bench.callback({ transactionCookie: { maxAge: 60 } })
      world.clock.now += 61
      await browser.send(callback)
    },
  },
  {
    mistake: 'an unknown parameter of the login route',
    remedy: 'INVALID_REQUEST',
    async make(bench) {
      const world = await bench.start()
      await world.newBrowser().send('/auth/login?max_age=alice')
    },
  },
  {
    mistake: 'a session that is changed where no cookie can be written',
    remedy: 'SESSION_NOT_WRITABLE',
    async make(bench) {
      const world = await bench.start()
      const browser = world.newBrowser()
      await bench.login(world, { browser })
      const session = await world.client.getSession(browser.request('/'))
      return thrownBy(() =>
        world.client.updateSession(browser.request('/'), undefined as never, session as never),
      )
    },
  },
  {
    mistake: 'an operation outside a request',
    remedy: 'AMBIENT_REQUEST_MISSING',
    async make(bench) {
      const world = await bench.start()
      return thrownBy(() => world.client.getSession())
    },
  },
  {
    mistake: 'a notice of the provider that a session ended, without a store',
    remedy: 'BACKCHANNEL_LOGOUT_NOT_SUPPORTED',
    async make(bench) {
      const world = await bench.start()
      const body = new URLSearchParams({
        logout_token: await world.provider.logoutToken({ sub: 'dev|alice' }),
      })
      await world.newBrowser().send('/auth/backchannel-logout', { method: 'POST', body })
    },
  },
  {
    mistake: 'a front-channel logout of a provider that sends no issuer',
    remedy: 'FRONTCHANNEL_LOGOUT_ERROR',
    async make(bench) {
      const world = await bench.start({
        sessionStore: memoryStore({ name: crypto.randomUUID() }),
        frontChannelLogout: true,
      })
      await world.newBrowser().send('/auth/frontchannel-logout?sid=alice')
    },
  },
  {
    mistake: 'a logout URL that is not registered: the page is that of the provider',
    remedy: null,
    async make(bench) {
      const world = await bench.start()
      const browser = world.newBrowser()
      await bench.login(world, { browser })
      const response = await browser.send('/auth/logout?returnTo=https%3A%2F%2Felsewhere.example.org')
      if (response.status !== 302) throw new Error('the provider decides about the target')
    },
  },
]
