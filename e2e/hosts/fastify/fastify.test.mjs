// node --test: wrong mounting, and responses of the adapter that a hook of the application delays, or that fail.
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { afterEach, describe, test } from 'node:test'
import Fastify from 'fastify'
import { customFetch, IdpClient } from 'idp-client/fastify'
import { clientOptions } from './support/client.mjs'
import { disconnectWhileSending } from './support/disconnect.mjs'

const client = (options = {}) => new IdpClient({ ...clientOptions, ...options })

describe('wrong mounting', () => {
  const line = /app\.register\(idp\.plugin\)/

  for (const guard of ['requireAuth', 'requireLogin']) {
    test(`rejects ${guard} outside the plugin, with the line that registers it`, async () => {
      const app = Fastify()
      app.get('/orders', { preHandler: client()[guard]() }, async () => 'let in')
      const response = await app.inject('/orders')
      equal(response.statusCode, 500)
      equal(response.json().code, 'AMBIENT_REQUEST_MISSING')
      match(response.json().message, line)
    })
  }

  test('stops the start if the plugin is registered twice', async () => {
    const idp = client()
    const app = Fastify()
    await app.register(idp.plugin)
    await rejects(async () => app.register(idp.plugin), {
      code: 'INVALID_CONFIGURATION',
      message: /register idp\.plugin once/,
    })
  })

  const prefixes = {
    'of its own': (app, plugin) => app.register(plugin, { prefix: '/shop' }),
    'of its server': (app, plugin) => app.register((scope) => scope.register(plugin), { prefix: '/shop' }),
  }
  for (const [title, register] of Object.entries(prefixes)) {
    test(`stops the start if the plugin has a prefix ${title} that is not configured`, async () => {
      await rejects(async () => register(Fastify(), client().plugin), {
        code: 'INVALID_CONFIGURATION',
        message: /FRAMEWORK_PUBLIC_BASE_PATH/,
      })
    })
  }

  test('reports a form that a hook has read before, with the line to register first', async () => {
    const events = []
    const app = Fastify()
    app.addHook('onRequest', async (request) => {
      await text(request.raw)
    })
    await app.register(client({ logger: (event) => events.push(event) }).plugin)
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const response = await app.inject({ method: 'POST', url: '/auth/callback', headers, body: 'state=s' })
    equal(response.statusCode, 400)
    match(JSON.stringify(events), line)
  })
})

describe('the plugin of a server below another one, which handles unknown paths', () => {
  const serve = async (url, options = {}) => {
    const idp = client({ domain: 'id.internal.example', ...options })
    idp.resource({ audience: 'https://api.example.com/mcp', metadata: true })
    idp.proxy({ prefix: '/api/orders', target: 'https://orders.example.com' })
    const app = Fastify()
    app.register((scope) => scope.register(idp.plugin))
    return app.inject(url)
  }

  test('serves the metadata of an API', async () => {
    const issuer = 'https://id.internal.example'
    const fetch = async () => Response.json({ issuer, jwks_uri: `${issuer}/jwks` })
    const response = await serve('/.well-known/oauth-protected-resource/mcp', { [customFetch]: fetch })
    equal(response.statusCode, 200)
    deepEqual(response.json().authorization_servers, [issuer])
  })

  for (const path of ['/api/orders', '/api/orders/1/items?open=1']) {
    test(`serves the proxy at ${path}`, async () => {
      const response = await serve({ url: path, headers: { 'sec-fetch-site': 'same-origin' } })
      equal(response.headers['idp-client-error'], '1')
      equal(response.json().code, 'NOT_AUTHENTICATED')
    })
  }

  test('leaves other paths to it', async () => {
    for (const path of ['/.well-known/oauth-protected-resource', '/api/orders2'])
      equal((await serve(path)).statusCode, 404)
  })
})

/** Returns what has run when the client disconnects while the first `onSend` hook of its request runs. */
async function runWithoutClient(path, addRoute) {
  const ran = []
  const note = (name) => async () => {
    ran.push(name)
    return {}
  }
  const idp = client()
  const app = Fastify()
  await app.register(idp.plugin)
  const request = disconnectWhileSending(app, ran)
  addRoute(app, idp, note)
  await request(await app.listen({ host: '127.0.0.1', port: 0 }), path)
  await app.close()
  return ran
}

describe('a client that disconnects while the response is sent', () => {
  for (const hook of ['onRequest', 'preHandler']) {
    for (const guard of ['requireAuth', 'requireLogin']) {
      test(`does not pass ${guard} as ${hook}`, async () => {
        const ran = await runWithoutClient('/orders', (app, idp, note) => {
          app.get('/orders', { [hook]: [idp[guard](), note('later hook')] }, note('handler'))
        })
        deepEqual(ran, ['onSend'])
      })
    }
  }

  test('does not pass a hook that calls a guard', async () => {
    const ran = await runWithoutClient('/orders', (app, idp, note) => {
      const guard = idp.requireAuth()
      const preHandler = async (request, reply) => {
        await guard(request, reply)
      }
      app.get('/orders', { preHandler }, note('handler'))
    })
    deepEqual(ran, ['onSend'])
  })

  test('does not pass the plugin at an auth route', async () => {
    const ran = await runWithoutClient('/auth/profile', (app, _idp, note) => {
      app.addHook('onRequest', note('later hook'))
    })
    deepEqual(ran, ['onSend'])
  })
})

for (const path of ['/orders', '/auth/profile']) {
  test(`a response that cannot be sent is an error of ${path}`, async () => {
    const idp = client()
    const app = Fastify()
    app.addHook('onRequest', async (_request, reply) => {
      const { header } = reply
      reply.header = () => {
        reply.header = header
        throw new Error('of the application')
      }
    })
    await app.register(idp.plugin)
    app.get('/orders', { preHandler: idp.requireAuth() }, async () => 'let in')
    const response = await app.inject(path)
    equal(response.statusCode, 500)
    equal(response.json().message, 'of the application')
  })
}

describe('an error that Fastify handles', () => {
  const { NODE_ENV } = process.env
  const setNodeEnv = (value) => {
    if (value === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = value
  }
  afterEach(() => setNodeEnv(NODE_ENV))

  for (const [nodeEnv, isDevelopment] of [
    ['production', false],
    [undefined, false],
    ['development', true],
  ]) {
    test(`says what failed with NODE_ENV ${nodeEnv}, and not with the status of the provider`, async () => {
      setNodeEnv(nodeEnv)
      const fetch = async () => new Response('not here', { status: 404 })
      const idp = client({ [customFetch]: fetch, domain: 'id.internal.example' })
      const app = Fastify()
      await app.register(idp.plugin)
      app.get('/', () => idp.startInteractiveLogin())
      const { body, headers, statusCode } = await app.inject('/')
      equal(statusCode, 502)
      equal(headers['cache-control']?.includes('public') ?? false, false)
      const { code, message } = JSON.parse(body)
      equal(code, 'DISCOVERY_ERROR')
      match(
        message,
        /^The provider's metadata could not be loaded or is not usable\. Correct the path in domain/,
      )
      equal(body.includes('internal.example'), isDevelopment)
    })
  }
})
