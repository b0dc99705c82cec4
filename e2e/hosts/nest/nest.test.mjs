// node --test: what is special in NestJS, without a provider.
import 'reflect-metadata'
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { text as readAll } from 'node:stream/consumers'
import { after, describe, test } from 'node:test'
import { Catch, Controller, Get, Inject, Injectable, Module, Post, UseFilters } from '@nestjs/common'
import { HttpAdapterHost, NestFactory } from '@nestjs/core'
import { IdpClient, IdpModule, IdpSession, RequireAuth, RequireLogin } from 'idp-client/nest'
import { createAdapter, isFastify } from './platform.mjs'
import { dueSession, clientOptions as options } from './support/client.mjs'
import { disconnectWhileSending } from './support/disconnect.mjs'

const cookie = await dueSession()

/** Adds a handler with decorators, as plain calls, so that no compiler is needed. */
function action(controller, name, decorators, handler) {
  Object.defineProperty(controller.prototype, name, { value: handler, configurable: true, writable: true })
  const descriptor = Object.getOwnPropertyDescriptor(controller.prototype, name)
  for (const decorate of decorators) decorate(controller.prototype, name, descriptor)
}

function createController(add) {
  class Pages {
    constructor(idp) {
      this.idp = idp
    }
  }
  add((...args) => action(Pages, ...args), Pages)
  Inject(IdpClient)(Pages, undefined, 0)
  Controller()(Pages)
  return Pages
}

/** Starts an application. Returns its URL. */
async function listen({
  controllers = [],
  imports = [IdpModule.forRoot(options)],
  prepare = () => {},
  ...rest
}) {
  class App {}
  Module({ controllers, imports, ...rest })(App)
  const app = await NestFactory.create(App, await createAdapter(), { logger: false, abortOnError: false })
  after(() => app.close())
  prepare(app)
  await app.listen(0, '127.0.0.1')
  return app.getUrl()
}

/** Starts an application, and returns a function that requests a path of it. */
async function start(given) {
  const base = await listen(given)
  return async (path, init = {}) => {
    const response = await fetch(base + path, {
      redirect: 'manual',
      signal: AbortSignal.timeout(30_000),
      ...init,
    })
    const { headers, status } = response
    return { headers, status, text: await response.text() }
  }
}

const guarded = createController((add) => {
  add('page', [Get('page'), RequireLogin()], () => 'let in')
  add('api', [Get('api'), RequireAuth()], () => 'let in')
})

describe('a guard', () => {
  test('responds itself, whatever filters the application has', async () => {
    class Everything {
      catch(_error, host) {
        host.switchToHttp().getResponse().status(503).send('failed')
      }
    }
    Catch()(Everything)
    const filtered = createController((add, Pages) => {
      add('outside', [Get('outside'), RequireLogin(), UseFilters(Everything)], () => 'let in')
      add('inside', [Get('inside'), UseFilters(Everything)], () => 'let in')
      RequireLogin()(Pages)
    })
    const get = await start({
      controllers: [guarded, filtered],
      prepare: (app) => app.useGlobalFilters(new Everything()),
    })
    for (const path of ['page', 'outside', 'inside']) {
      const page = await get(`/${path}?tab=2`)
      const location = `/auth/login?returnTo=%2F${path}%3Ftab%3D2`
      deepEqual([page.status, page.headers.get('location')], [302, location], path)
    }
    const api = await get('/api')
    equal(api.status, 401)
    equal(JSON.parse(api.text).code, 'NOT_AUTHENTICATED')
    match(api.headers.get('cache-control'), /no-store/)
    equal((await get('/page', { headers: { cookie } })).text, 'let in')
  })

  test('protects all handlers of a controller', async () => {
    const controller = createController((add, Pages) => {
      add('one', [Get('one')], () => 'let in')
      RequireAuth()(Pages)
    })
    const get = await start({ controllers: [controller] })
    equal((await get('/one')).status, 401)
    equal((await get('/one', { headers: { cookie } })).text, 'let in')
  })

  for (const thrown of [undefined, '', new Error('of the application')]) {
    test(`lets no request pass if its option throws ${thrown}`, async () => {
      const returnTo = () => Promise.reject(thrown)
      const controller = createController((add) => {
        add('page', [Get('page'), RequireLogin({ returnTo })], () => 'let in')
      })
      const get = await start({ controllers: [controller] })
      const { status, text } = await get('/page')
      equal(status, 500)
      equal(text.includes('let in'), false)
    })
  }

  test('with an unknown option stops the start', async () => {
    const controller = createController((add) => {
      add('page', [Get('page'), RequireLogin({ role: 'admin' })], () => 'let in')
    })
    await rejects(start({ controllers: [controller] }), {
      code: 'INVALID_CONFIGURATION',
      message: /RequireLogin: role/,
    })
  })

  test('without the module stops the start, with the name of the missing provider', async () => {
    await rejects(start({ controllers: [guarded], imports: [] }), /IdpClient/)
  })
})

describe('the session of a request', () => {
  const reading = createController((add) => {
    add('parameter', [Get('parameter'), (target, name) => IdpSession()(target, name, 0)], (session) => ({
      sub: session?.user.sub ?? null,
    }))
    add('ambient', [Post('ambient')], async function () {
      const session = await this.idp.getSession()
      return { sub: session?.user.sub ?? null }
    })
  })

  test('is passed to a parameter, without any change by global pipes', async () => {
    const pipe = { transform: (value) => (typeof value === 'object' ? { ...value } : value) }
    const get = await start({ controllers: [reading], prepare: (app) => app.useGlobalPipes(pipe) })
    equal((await get('/parameter', { headers: { cookie } })).text, '{"sub":"carol"}')
    equal((await get('/parameter')).text, '{"sub":null}')
  })

  test('needs no argument in handlers of a request with a body', async () => {
    const get = await start({ controllers: [reading] })
    const headers = { cookie, 'content-type': 'application/json' }
    const { text } = await get('/ambient', { method: 'POST', headers, body: '{"item":1}' })
    equal(text, '{"sub":"carol"}')
  })
})

describe('the module', () => {
  test('serves the auth routes outside a global prefix', async () => {
    const get = await start({ controllers: [guarded], prepare: (app) => app.setGlobalPrefix('v1') })
    equal((await get('/auth/profile')).status, 401)
    equal(JSON.parse((await get('/auth/profile', { headers: { cookie } })).text).sub, 'carol')
    equal((await get('/v1/page')).headers.get('location'), '/auth/login?returnTo=%2Fv1%2Fpage')
  })

  test('reads the forms of the provider in front of body parsers and behind them', async () => {
    const get = await start({})
    const body = new URLSearchParams({ state: 'unknown', code: 'x' })
    const { headers, status } = await get('/auth/callback', { method: 'POST', body })
    equal(status, 400)
    match(headers.get('content-type'), /text\/html/)
  })

  test('that is imported twice stops the start, with the line that is to remain', async () => {
    class Feature {}
    Module({ imports: [IdpModule.forRootAsync({ useFactory: async () => options })] })(Feature)
    await rejects(start({ imports: [IdpModule.forRoot(options), Feature] }), {
      code: 'INVALID_CONFIGURATION',
      message: /imports: \[IdpModule\.forRoot\(\)\] in the root module/,
    })
  })

  test('works in an application without a server', async () => {
    class App {}
    Module({ imports: [IdpModule.forRoot(options)] })(App)
    const app = await NestFactory.createApplicationContext(App, { logger: false, abortOnError: false })
    equal(await app.get(IdpClient).getSession({ headers: {}, method: 'GET', url: '/' }), null)
    await app.close()
  })

  test('is created before the server by Test.createTestingModule', async () => {
    const host = new HttpAdapterHost()
    const module = new IdpModule(new IdpClient(options), host)
    host.httpAdapter = await createAdapter()
    module.configure()
  })

  test('serves several applications of one process', async () => {
    for (const get of [await start({ controllers: [guarded] }), await start({ controllers: [guarded] })])
      equal((await get('/api', { headers: { cookie } })).text, 'let in')
  })

  test('reports a form that other code has read before, with the line that serves the routes', async () => {
    const events = []
    const reading = (app) => {
      const server = app.getHttpAdapter().getInstance()
      if (isFastify) server.addHook('onRequest', async (request) => void (await readAll(request.raw)))
      else {
        server.use(async (request, _response, next) => {
          await readAll(request)
          // The parsers of Express 4 read the body again unless it is marked.
          request._body = true
          next()
        })
      }
    }
    const get = await start({
      imports: [IdpModule.forRoot({ ...options, logger: (event) => events.push(event) })],
      prepare: reading,
    })
    const body = new URLSearchParams({ state: 'state' })
    equal((await get('/auth/callback', { method: 'POST', body })).status, 400)
    match(JSON.stringify(events), /body parser for forms.*IdpModule\.forRoot/)
  })

  test('gets its options from other providers', async () => {
    class Settings {
      all = options
    }
    Injectable()(Settings)
    class SettingsModule {}
    Module({ providers: [Settings], exports: [Settings] })(SettingsModule)
    const imports = [
      IdpModule.forRootAsync({
        imports: [SettingsModule],
        inject: [Settings],
        useFactory: async (settings) => settings.all,
      }),
    ]
    const get = await start({ controllers: [guarded], imports })
    equal((await get('/api', { headers: { cookie } })).text, 'let in')
  })
})

/** Returns what has run when the client disconnects while the first `onSend` hook of Fastify runs for its request. */
async function runWithoutClient(path) {
  const ran = []
  const controller = createController((add) => {
    add('page', [Get('page'), RequireLogin()], () => ran.push('page'))
    add('api', [Get('api'), RequireAuth()], () => ran.push('api'))
  })
  let request
  const prepare = (app) => {
    request = disconnectWhileSending(app.getHttpAdapter().getInstance(), ran)
  }
  const address = await listen({ controllers: [controller], prepare })
  await request(address, path)
  return ran
}

if (isFastify) {
  describe('a client that disconnects while hooks of Fastify send the response', () => {
    for (const path of ['/page', '/api', '/auth/profile']) {
      test(`reaches no handler: ${path}`, async () => deepEqual(await runWithoutClient(path), ['onSend']))
    }
  })
}
