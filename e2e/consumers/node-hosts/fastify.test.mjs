// node --test: what is special in Fastify, without a provider.
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import Fastify from 'fastify'
import { IdpClient } from 'idp-client/fastify'
import { generateCookieHeader } from 'idp-client/testing'

const secret = '0123456789abcdef'.repeat(4)
const carol = { user: { sub: 'carol' } }
const cookies = () => generateCookieHeader(carol, { secret })
/** Cookies whose session is due for a roll. */
const due = () => generateCookieHeader(carol, { secret, now: Math.floor(Date.now() / 1000) - 4000 })

const client = (options = {}) =>
  new IdpClient({
    domain: 'idp.example',
    clientId: 'app',
    clientSecret: 'not a real one',
    secret,
    appBaseUrl: 'https://app.example',
    logger: () => {},
    ...options,
  })

const names = ({ headers }) =>
  [headers['set-cookie'] ?? []].flat().map((line) => line.slice(0, line.indexOf('=')))

const form = (fields) => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  payload: new URLSearchParams(fields).toString(),
})

describe('the plugin', () => {
  test('names the option sessionName if the property of the request exists', async () => {
    const app = Fastify().decorateRequest('idpSession', null)
    await rejects(async () => app.register(client().plugin), {
      code: 'INVALID_CONFIGURATION',
      message: /sessionName/,
    })
  })

  test('passes the session under another name', async () => {
    const idp = client({ sessionName: 'login' })
    const app = Fastify().decorateRequest('idpSession', null)
    await app.register(idp.plugin)
    app.get('/', { preHandler: idp.requireLogin() }, async (request) => request.login.user.sub)
    equal((await app.inject({ url: '/', headers: { cookie: await cookies() } })).body, 'carol')
  })

  test('serves the auth routes of a server below another one, as fastify-cli creates them', async () => {
    const idp = client()
    const app = Fastify()
    app.register(async (below) => {
      await below.register(idp.plugin)
      below.get('/account', { preHandler: idp.requireLogin() }, async () => 'account')
    })
    equal((await app.inject('/auth/profile')).statusCode, 401)
    equal(
      (await app.inject('/account?page=2')).headers.location,
      '/auth/login?returnTo=%2Faccount%3Fpage%3D2',
    )
    equal((await app.inject('/other')).statusCode, 404)
  })

  test('rejects a prefix that is not the base path', async () => {
    const app = Fastify()
    app.register(async (below) => below.register(client().plugin), { prefix: '/app' })
    await rejects(async () => app.ready(), {
      code: 'INVALID_CONFIGURATION',
      message: /FRAMEWORK_PUBLIC_BASE_PATH/,
    })
  })

  test('serves a prefix that is the base path', async () => {
    process.env.FRAMEWORK_PUBLIC_BASE_PATH = '/app'
    const { plugin } = client()
    delete process.env.FRAMEWORK_PUBLIC_BASE_PATH
    for (const prefix of ['/app', '']) {
      const app = Fastify()
      app.register(async (below) => below.register(plugin), { prefix })
      equal((await app.inject('/app/auth/profile')).statusCode, 401)
      equal((await app.inject('/auth/profile')).statusCode, 404)
    }
  })

  test('responds through the hooks and with the headers of the application', async () => {
    const app = Fastify()
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('access-control-allow-origin', 'https://other.example')
    })
    app.addHook('onSend', async (_request, reply) => {
      reply.header('x-sent', 'yes')
    })
    await app.register(client().plugin)
    const { headers, statusCode } = await app.inject('/auth/profile')
    equal(statusCode, 401)
    equal(headers['access-control-allow-origin'], 'https://other.example')
    equal(headers['x-sent'], 'yes')
    match(headers['cache-control'], /no-store/)
  })

  for (const [title, plugins] of [
    ['without a parser of forms', []],
    ['behind @fastify/formbody', [formbody]],
  ]) {
    test(`reads the forms of the provider ${title}`, async () => {
      const app = Fastify()
      for (const plugin of plugins) await app.register(plugin)
      await app.register(client().plugin)
      const callback = await app.inject({ url: '/auth/callback', ...form({ state: 'unknown', code: 'x' }) })
      equal(callback.statusCode, 400)
      match(callback.headers['content-type'], /text\/html/)
      const logout = await app.inject({ url: '/auth/backchannel-logout', ...form({ logout_token: 'x' }) })
      equal(logout.headers['cache-control']?.includes('no-store'), true)
      equal([400, 404, 501].includes(logout.statusCode), true, `responds with ${logout.statusCode}`)
    })
  }

  test('keeps the session of the request in handlers of a request with a body', async () => {
    const idp = client()
    const app = Fastify()
    await app.register(idp.plugin)
    app.post('/orders', async () => (await idp.getSession()).user.sub)
    const order = { method: 'POST', url: '/orders', payload: { item: 1 } }
    equal((await app.inject({ ...order, headers: { cookie: await cookies() } })).body, 'carol')
  })
})

describe('cookies', () => {
  async function withCookies(handler) {
    const idp = client()
    const app = Fastify()
    await app.register(cookie)
    await app.register(idp.plugin)
    app.get('/', handler)
    return app.inject({ url: '/', headers: { cookie: await due() } })
  }

  test('stand once beside those of @fastify/cookie', async () => {
    const response = await withCookies(async (_request, reply) => {
      reply.header('cache-control', 'public, max-age=60').setCookie('theirs', '1')
      return 'page'
    })
    deepEqual(names(response).sort(), ['__session', 'theirs'])
    match(response.headers['cache-control'], /no-store/)
  })

  test('are in the head of a stream', async () => {
    const response = await withCookies(async (_request, reply) => {
      reply.header('cache-control', 'public, max-age=60').setCookie('theirs', '1')
      return reply.send(Readable.from(['pa', 'ge']))
    })
    equal(response.body, 'page')
    deepEqual(names(response).sort(), ['__session', 'theirs'])
    match(response.headers['cache-control'], /no-store/)
  })
})

describe('a guard', () => {
  test('names the plugin that is missing', async () => {
    const idp = client()
    const app = Fastify()
    app.get('/', { preHandler: idp.requireLogin() }, async () => 'let in')
    const response = await app.inject({ url: '/', headers: { cookie: await cookies() } })
    equal(response.statusCode, 500)
    equal(response.json().code, 'AMBIENT_REQUEST_MISSING')
    match(response.json().message, /await app\.register\(idp\.plugin\)/)
  })

  for (const thrown of [undefined, null, '', 0, 'text', new Error('of the application')]) {
    test(`lets no request pass if its option throws ${thrown}`, async () => {
      const idp = client()
      const returnTo = () => Promise.reject(thrown)
      const app = Fastify()
      await app.register(idp.plugin)
      app.get('/', { preHandler: idp.requireLogin({ returnTo }) }, async () => 'let in')
      const response = await app.inject('/')
      equal(response.statusCode, 500)
      equal(response.body.includes('let in'), false)
    })
  }

  test('stops the hooks after it, as onRequest and preHandler', async () => {
    const idp = client()
    const later = []
    const app = Fastify()
    app.addHook('onSend', async () => new Promise((resolve) => setImmediate(resolve)))
    await app.register(idp.plugin)
    const guards = { onRequest: idp.requireAuth(), preHandler: idp.requireLogin() }
    for (const [hook, guard] of Object.entries(guards)) {
      const after = async () => void later.push(hook)
      app.get(`/${hook}`, { [hook]: [guard, after] }, async () => 'let in')
    }
    equal((await app.inject('/onRequest')).statusCode, 401)
    equal((await app.inject('/preHandler')).statusCode, 302)
    deepEqual(later, [])
  })
})

test('an operation accepts request and reply in handlers outside the plugin', async () => {
  const idp = client()
  const app = Fastify()
  app.get('/', async (request, reply) => {
    const session = await idp.getSession(request)
    await idp.updateSession({ ...session, seen: true }, request, reply)
    return session.user.sub
  })
  const response = await app.inject({ url: '/', headers: { cookie: await cookies() } })
  equal(response.body, 'carol')
  deepEqual(names(response), ['__session'])
})
