// Tests of the adapter with real applications: merged headers, variables, request bodies, base paths, and exceptions.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Hono } from 'hono'
import { handle } from 'hono/aws-lambda'
import { bodyLimit } from 'hono/body-limit'
import { setCookie } from 'hono/cookie'
import { csrf } from 'hono/csrf'
import { IdpClient } from 'idp-client/hono'
import { base, clientOptions, dueSession } from './support/client.mjs'

const client = (options = {}) => new IdpClient({ ...clientOptions, ...options })

const cookieNames = (response) => response.headers.getSetCookie().map((line) => line.split('=', 1)[0])

function failWithCode(app) {
  app.onError((error, c) => c.json({ code: error.code, message: error.message }, 500))
  return app
}

/** The response of an application to a request with a session that is due. */
async function respond(app, path = '/') {
  return app.request(base + path, { headers: { cookie: await dueSession() } })
}

describe('[F2] a response with our cookie', () => {
  const merging = {
    'the header of an earlier middleware': (c) => c.header('cache-control', 'public'),
    'the response that an earlier middleware began': (c) => c.res.headers.set('cache-control', 'public'),
  }
  for (const [title, early] of Object.entries(merging)) {
    test(`is not cacheable despite ${title}`, async () => {
      const app = new Hono()
      app.use(async (c, next) => {
        early(c)
        await next()
      })
      app.use(client().middleware)
      app.get('/', (c) => c.text('home'))
      const response = await respond(app)
      match(response.headers.get('cache-control'), /no-store/)
      deepEqual(cookieNames(response), ['__session'])
    })
  }

  test('is not cacheable if the handler replaces the response', async () => {
    const app = new Hono().use(client().middleware)
    app.get('/', (c) => {
      c.res.headers.set('cache-control', 'public')
      c.res = new Response('home', { headers: { 'cache-control': 'public' } })
    })
    const response = await respond(app)
    match(response.headers.get('cache-control'), /no-store/)
    deepEqual(cookieNames(response), ['__session'])
    equal(await response.text(), 'home')
  })

  test('keeps it beside the cookies of middleware before and behind ours', async () => {
    const app = new Hono()
    app.use(async (c, next) => {
      c.res.headers.append('set-cookie', 'early=1')
      await next()
      setCookie(c, 'late', '1')
    })
    app.use(client().middleware)
    app.get('/', (c) => {
      setCookie(c, 'own', '1')
      return c.text('home')
    })
    deepEqual(cookieNames(await respond(app)), ['early', 'own', '__session', 'late'])
  })

  test('keeps it if an outer middleware replaces the response', async () => {
    const app = new Hono()
    app.use(async (c, next) => {
      await next()
      c.res = new Response('replaced', { headers: { 'cache-control': 'public' } })
    })
    app.use(client().middleware)
    app.get('/', (c) => c.text('home'))
    const response = await respond(app)
    match(response.headers.get('cache-control'), /no-store/)
    deepEqual(cookieNames(response), ['__session'])
  })

  for (const [place, raise] of [
    ['the handler', true],
    ['an outer middleware', false],
  ]) {
    test(`is the response to an exception in ${place}`, async () => {
      const app = new Hono().onError((_error, c) => c.text('failed', 500))
      app.use(async (_c, next) => {
        await next()
        if (!raise) throw new Error('late')
      })
      app.use(client().middleware)
      app.get('/', (c) => {
        if (raise) throw new Error('in the handler')
        return c.text('home')
      })
      const response = await respond(app)
      deepEqual([response.status, await response.text()], [500, 'failed'])
      deepEqual(cookieNames(response), ['__session'])
      match(response.headers.get('cache-control'), /no-store/)
    })
  }
})

describe('a response to an auth route', () => {
  test('keeps headers and cookies of earlier middleware, but not their caching', async () => {
    for (const early of ['header', 'response']) {
      const app = new Hono()
      app.use(async (c, next) => {
        if (early === 'response') c.res.headers.set('x-frame-options', 'DENY')
        else c.header('x-frame-options', 'DENY')
        c.header('cache-control', 'public')
        setCookie(c, 'early', '1')
        await next()
      })
      app.use(client({ logoutStrategy: 'local' }).middleware)
      const response = await respond(app, '/auth/logout')
      equal(response.headers.get('x-frame-options'), 'DENY')
      match(response.headers.get('cache-control'), /no-store/)
      for (const name of ['early', '__session']) ok(cookieNames(response).includes(name), name)
    }
  })

  test('is served below a base path', async () => {
    const idp = client({ appBaseUrl: `${base}/app` })
    const inner = new Hono().use(idp.middleware)
    const routed = new Hono().route('/app', inner)
    const based = new Hono().basePath('/app').use(idp.middleware)
    for (const app of [routed, based]) {
      equal((await app.request(`${base}/app/auth/profile`)).status, 401)
      equal((await app.request(`${base}/auth/profile`)).status, 404)
    }
  })

  test('below a base path that is not configured is reported, with the variable to set', async () => {
    const events = []
    const app = new Hono().basePath('/app').use(client({ logger: (event) => events.push(event) }).middleware)
    equal((await app.request(`${base}/app/auth/profile`)).status, 401)
    match(JSON.stringify(events), /FRAMEWORK_PUBLIC_BASE_PATH/)
  })

  test('accepts the form of another site in front of csrf()', async () => {
    const app = new Hono().use(client().middleware, csrf())
    const init = {
      method: 'POST',
      body: new URLSearchParams({ a: 'b' }),
      headers: { origin: 'https://idp.example' },
    }
    equal((await app.request(`${base}/auth/callback`, init)).status, 400)
    equal((await app.request(`${base}/orders`, init)).status, 403)
  })

  for (const [method, read] of [
    ['parseBody', (c) => c.req.parseBody()],
    ['text', (c) => c.req.text()],
    ['formData', (c) => c.req.formData()],
  ]) {
    test(`reads a form that c.req.${method} has read`, async () => {
      const events = []
      const app = new Hono()
      app.use(async (c, next) => {
        await read(c)
        await next()
      })
      app.use(client({ logger: (event) => events.push(event) }).middleware)
      const body = new URLSearchParams({ state: 'unknown', code: 'code' })
      const response = await app.request(`${base}/auth/callback`, { method: 'POST', body })
      equal(response.status, 400)
      // The state was read: it belongs to no login.
      equal(events.at(-1).error, 'UNKNOWN_STATE', JSON.stringify(events))
    })
  }
})

describe('a guard', () => {
  const page = (c) => c.text(c.var.idpSession.user.sub)

  test('sets the session, also behind another guard of the same client', async () => {
    const idp = client()
    const app = new Hono().use(idp.middleware)
    app.use(idp.requireLogin())
    app.get('/', idp.requireAuth(), page)
    equal(await (await respond(app)).text(), 'carol')
  })

  test('redirects to a login that returns to the path and query', async () => {
    const idp = client()
    const app = new Hono().use(idp.middleware)
    app.get('/orders', idp.requireLogin(), page)
    const response = await app.request(`${base}/orders?page=2`)
    deepEqual(
      [response.status, response.headers.get('location')],
      [302, '/auth/login?returnTo=%2Forders%3Fpage%3D2'],
    )
  })

  test('names the option sessionName if other code has set the variable', async () => {
    const idp = client()
    const app = failWithCode(new Hono()).use(idp.middleware)
    app.use(async (c, next) => {
      c.set('idpSession', 'of other code')
      await next()
    })
    app.get('/', idp.requireLogin(), page)
    const response = await respond(app)
    equal(response.status, 500)
    const { code, message } = await response.json()
    equal(code, 'INVALID_CONFIGURATION')
    match(message, /option sessionName/)
  })

  test('uses another name', async () => {
    const idp = client({ sessionName: 'session' })
    const app = new Hono().use(idp.middleware)
    app.get('/', idp.requireLogin(), (c) => c.text(c.var.session.user.sub))
    equal(await (await respond(app)).text(), 'carol')
  })

  test('rejects the request without the middleware, with the line that mounts it', async () => {
    const idp = client()
    for (const guard of [idp.requireLogin(), idp.requireAuth()]) {
      const response = await respond(failWithCode(new Hono()).get('/', guard, page))
      const { code, message } = await response.json()
      deepEqual([response.status, code], [500, 'AMBIENT_REQUEST_MISSING'])
      match(message, /app\.use\(idp\.middleware\)/)
    }
  })

  test('rejects the request with the failure page if a required option is missing', async () => {
    const idp = client({ secret: '' })
    const app = failWithCode(new Hono()).use(idp.middleware)
    app.get('/', idp.requireLogin(), page)
    const response = await respond(app)
    equal(response.status, 500)
    match(await response.text(), /Login is not set up correctly/)
  })

  test('finds the middleware although another one has replaced the request', async () => {
    const idp = client()
    const app = new Hono().use(idp.middleware)
    app.use(bodyLimit({ maxSize: 1000 }))
    app.post('/', idp.requireAuth(), async (c) => {
      await idp.updateSession({ ...c.var.idpSession, body: await c.req.text() }, c)
      return c.text('updated')
    })
    const headers = { cookie: await dueSession() }
    const response = await app.request(base, { method: 'POST', body: 'text', headers })
    equal(await response.text(), 'updated')
    deepEqual(cookieNames(response), ['__session'])
  })
})

test('AWS Lambda gets each cookie of a response', async () => {
  const idp = client({ processLasts: false })
  const app = new Hono().use(idp.middleware)
  app.get('/account', idp.requireLogin(), (c) => {
    setCookie(c, 'own', '1')
    return c.json(c.var.idpSession.user)
  })
  const cookie = await dueSession()
  const { statusCode, cookies, body } = await handle(app)({
    version: '2.0',
    rawPath: '/account',
    rawQueryString: '',
    headers: { host: 'app.example' },
    cookies: [cookie],
    isBase64Encoded: false,
    requestContext: { domainName: 'app.example', http: { method: 'GET', path: '/account' } },
  })
  deepEqual([statusCode, JSON.parse(body).sub], [200, 'carol'])
  deepEqual(
    cookies.map((line) => line.split('=', 1)[0]),
    ['own', '__session'],
  )
})

describe('the middleware', () => {
  test('reports that it is mounted twice', async () => {
    const idp = client()
    const app = failWithCode(new Hono()).use(idp.middleware, idp.middleware)
    app.get('/', (c) => c.text('home'))
    const { code, message } = await (await respond(app)).json()
    equal(code, 'INVALID_CONFIGURATION')
    match(message, /mounted twice.*app\.use\(idp\.middleware\)/)
  })

  test('sends no body on that was read before, and says so', async () => {
    const idp = client()
    idp.proxy({ prefix: '/orders', target: 'http://127.0.0.1:1', fetch: () => ok(false, 'nothing is sent') })
    const app = new Hono()
    app.use(async (c, next) => {
      await c.req.parseBody()
      await next()
    })
    app.use(idp.middleware)
    const headers = { cookie: await dueSession(), origin: base, 'sec-fetch-site': 'same-origin' }
    const body = new URLSearchParams({ a: '1' })
    const response = await app.request(`${base}/orders`, { method: 'POST', body, headers })
    equal(response.status, 500)
    equal((await response.json()).code, 'PROXY_BODY_CONSUMED')
  })

  test('names the line to mount first if the body was read from the raw request', async () => {
    const events = []
    const app = new Hono()
    app.use(async (c, next) => {
      await c.req.raw.text()
      await next()
    })
    app.use(client({ logger: (event) => events.push(event) }).middleware)
    const body = new URLSearchParams({ state: 'state' })
    equal((await app.request(`${base}/auth/callback`, { method: 'POST', body })).status, 400)
    match(JSON.stringify(events), /Mount the middleware first: app\.use\(idp\.middleware\)/)
  })

  test('names its framework if it gets something else', async () => {
    await rejects(
      client().middleware(new Request(base), async () => {}),
      { code: 'INVALID_ARGUMENTS', message: /app\.use\(idp\.middleware\)/ },
    )
  })

  test('names the version of Hono that it needs', async () => {
    const context = {
      newResponse() {},
      req: { raw: new Request(base), matchedRoutes: [{ path: '/*' }], routeIndex: 0 },
    }
    await rejects(
      client().middleware(context, async () => {}),
      { code: 'INVALID_ARGUMENTS', message: /Hono 4\.8/ },
    )
  })

  test('lets operations write with the request alone', async () => {
    const idp = client()
    const app = new Hono().use(idp.middleware)
    app.get('/', async (c) => {
      await idp.updateSession({ ...(await idp.getSession(c.req.raw)), value: 1 }, c.req.raw)
      return c.text('updated')
    })
    deepEqual(cookieNames(await respond(app)), ['__session'])
  })

  test('leaves an unfinished response to Hono', async () => {
    const app = new Hono().onError((error, c) => c.text(error.message, 500))
    app.use(client().middleware)
    app.get('/', () => undefined)
    match(await (await respond(app)).text(), /not finalized/)
  })
})
