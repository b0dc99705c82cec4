// Tests of the adapter with real applications: responses that outer middleware sees, errors, body parsers, mounts.
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { IdpClient, sendResponse } from 'idp-client/koa'
import Koa from 'koa'
import { parseForm } from './parse-form.mjs'
import { clientOptions, dueSession, freshSession } from './support/client.mjs'

const client = (options = {}) => new IdpClient({ ...clientOptions, ...options })

function application() {
  const app = new Koa()
  app.silent = true
  return app
}

/** An application that responds with the codes of errors. */
function failingWithCode() {
  return application().use(async (ctx, next) => {
    try {
      await next()
    } catch ({ code, message }) {
      ctx.status = 500
      ctx.body = { code, message }
    }
  })
}

/** The response of an application to one request. */
async function respond(app, path = '/', init = {}) {
  const server = app.listen(0, '127.0.0.1')
  try {
    await new Promise((resolve) => server.once('listening', resolve))
    const { headers = { cookie: await dueSession() }, ...further } = init
    const url = `http://127.0.0.1:${server.address().port}${path}`
    const response = await fetch(url, { redirect: 'manual', headers, ...further })
    return { status: response.status, headers: response.headers, text: await response.text() }
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

const cookieNames = ({ headers }) => headers.getSetCookie().map((line) => line.split('=', 1)[0])

/** As `koa-mount`. */
async function mountShop(ctx, next) {
  if (!ctx.path.startsWith('/shop/')) return
  ctx.path = ctx.path.slice('/shop'.length)
  await next()
}

const home = (ctx) => {
  ctx.body = 'home'
}
const page = (ctx) => {
  ctx.body = ctx.state.idpSession.user.sub
}

describe('a response with our cookie', () => {
  test('[F2] is not cacheable, whatever outer and inner middleware set', async () => {
    const app = application().use(async (ctx, next) => {
      ctx.set('cache-control', 'public')
      ctx.cookies.set('early', '1')
      await next()
      ctx.set('cache-control', 'public')
      ctx.cookies.set('late', '1')
    })
    const response = await respond(app.use(client().middleware).use(home))
    match(response.headers.get('cache-control'), /no-store/)
    deepEqual(cookieNames(response), ['early', '__session', 'late'])
  })

  test('keeps it if the handler throws, although Koa removes all headers', async () => {
    const app = application().use(client().middleware)
    app.use(() => {
      throw new Error('in the handler')
    })
    const response = await respond(app)
    equal(response.status, 500)
    deepEqual(cookieNames(response), ['__session'])
    match(response.headers.get('cache-control'), /no-store/)
  })
})

describe('a response to an auth route', () => {
  test('is seen by outer middleware, and keeps its headers', async () => {
    const seen = []
    const app = application().use(async (ctx, next) => {
      ctx.set('x-frame-options', 'DENY')
      await next()
      seen.push(ctx.status, ctx.response.get('location'))
    })
    const response = await respond(app.use(client({ logoutStrategy: 'local' }).middleware), '/auth/logout')
    deepEqual(seen, [response.status, response.headers.get('location')])
    equal(response.status, 302)
    equal(response.headers.get('x-frame-options'), 'DENY')
  })

  test('has the status, type and body of an error', async () => {
    const response = await respond(application().use(client().middleware), '/auth/access-token', {
      headers: {},
    })
    equal(response.status, 401)
    match(response.headers.get('content-type'), /application\/json/)
    equal(typeof JSON.parse(response.text), 'object')
  })

  test('reads a form that a body parser has read', async () => {
    const events = []
    const app = application().use(parseForm)
    app.use(client({ logger: (event) => events.push(event) }).middleware)
    const body = new URLSearchParams({ state: 'unknown', code: 'code' })
    const { status } = await respond(app, '/auth/callback', { method: 'POST', body, headers: {} })
    equal(status, 400)
    // The state was read: it belongs to no login.
    equal(events.at(-1).error, 'UNKNOWN_STATE', JSON.stringify(events))
  })

  test('is served below a mount that has removed its prefix', async () => {
    const idp = client({ appBaseUrl: 'https://app.example/shop' })
    const app = application().use(mountShop)
    app.use(idp.middleware).use(idp.requireLogin())
    equal((await respond(app, '/shop/auth/profile', { headers: {} })).status, 401)
    equal((await respond(app, '/auth/profile', { headers: {} })).status, 404)
    const { headers } = await respond(app, '/shop/cart?a=b', { headers: {} })
    equal(headers.get('location'), `/shop/auth/login?returnTo=${encodeURIComponent('/shop/cart?a=b')}`)
  })
})

test('a mount that is not configured is reported, with the variable to set', async () => {
  const events = []
  const app = application().use(mountShop)
  app.use(client({ logger: (event) => events.push(event) }).middleware)
  equal((await respond(app, '/shop/auth/profile', { headers: {} })).status, 401)
  match(JSON.stringify(events), /FRAMEWORK_PUBLIC_BASE_PATH/)
})

test('sendResponse keeps cookies of the application beside those of the response', async () => {
  const app = application().use(async (ctx) => {
    ctx.cookies.set('own', '1')
    const headers = new Headers({ 'content-type': 'text/plain' })
    headers.append('set-cookie', 'first=1')
    headers.append('set-cookie', 'second=1')
    await sendResponse(ctx, new Response('sent', { status: 202, headers }))
  })
  const response = await respond(app)
  deepEqual([response.status, response.text], [202, 'sent'])
  equal(response.headers.get('content-type'), 'text/plain')
  deepEqual(cookieNames(response), ['own', 'first', 'second'])
})

describe('a guard', () => {
  test('sets the session, also behind another guard of the same client', async () => {
    const idp = client()
    const app = application().use(idp.middleware).use(idp.requireLogin()).use(idp.requireAuth()).use(page)
    equal((await respond(app)).text, 'carol')
  })

  test('names the option sessionName if other code has set the property', async () => {
    const idp = client()
    const app = failingWithCode().use(idp.middleware)
    app.use((ctx, next) => {
      ctx.state.idpSession = 'of other code'
      return next()
    })
    const { code, message } = JSON.parse((await respond(app.use(idp.requireLogin()).use(page))).text)
    equal(code, 'INVALID_CONFIGURATION')
    match(message, /option sessionName/)
  })

  test('uses another name', async () => {
    const idp = client({ sessionName: 'session' })
    const app = application().use(idp.middleware).use(idp.requireLogin())
    app.use((ctx) => {
      ctx.body = ctx.state.session.user.sub
    })
    equal((await respond(app)).text, 'carol')
  })

  test('keeps errors out of caches, too, unless they have a header of their own', async () => {
    const idp = client()
    const expected = { '/orders': 'private, no-store', '/public': 'max-age=60' }
    for (const [path, caching] of Object.entries(expected)) {
      const app = application().use(idp.middleware).use(idp.requireLogin())
      app.use((ctx) =>
        ctx.throw(404, 'No order of carol', {
          headers: path === '/public' && { 'cache-control': 'max-age=60' },
        }),
      )
      const { headers, status, text } = await respond(app, path, {
        headers: { cookie: await freshSession() },
      })
      deepEqual([status, text, headers.get('cache-control')], [404, 'No order of carol', caching])
    }
  })

  test('leaves errors usable: the headers of a getter, and the methods of those of an API client', async () => {
    const idp = client()
    class TooMany extends Error {
      status = 429
      get headers() {
        return { 'retry-after': '7' }
      }
    }
    const api = { headers: new Headers({ 'x-request-id': 'of the API' }) }
    const responses = []
    for (const error of [new TooMany('slowly'), Object.assign(new Error('refused'), api)]) {
      const app = application()
      app.use((ctx, next) =>
        next().catch((thrown) => {
          if (thrown.status) throw thrown
          ctx.body = thrown.headers.get('x-request-id')
        }),
      )
      app.use(idp.middleware).use(idp.requireLogin())
      app.use(() => {
        throw error
      })
      const { headers, status, text } = await respond(app, '/', {
        headers: { cookie: await freshSession() },
      })
      responses.push([status, text, headers.get('retry-after'), headers.get('cache-control')])
    }
    deepEqual(responses, [
      [429, 'Too Many Requests', '7', 'private, no-store'],
      [200, 'of the API', null, 'private, no-store'],
    ])
  })

  test('accepts a next that returns no promise, as mocks of tests do', async () => {
    const idp = client()
    const app = application().use(idp.middleware)
    app.use(async (ctx) => {
      await idp.requireLogin()(ctx, () => undefined)
      ctx.body = ctx.state.idpSession.user.sub
    })
    equal((await respond(app, '/', { headers: { cookie: await freshSession() } })).text, 'carol')
  })

  test('rejects the request without the middleware, with the line that mounts it', async () => {
    const idp = client()
    for (const guard of [idp.requireLogin(), idp.requireAuth()]) {
      const response = await respond(failingWithCode().use(guard).use(page))
      const { code, message } = JSON.parse(response.text)
      deepEqual([response.status, code], [500, 'AMBIENT_REQUEST_MISSING'])
      match(message, /app\.use\(idp\.middleware\)/)
    }
  })

  test('rejects the request with the failure page if a required option is missing', async () => {
    const idp = client({ secret: '' })
    const app = failingWithCode().use(idp.middleware).use(idp.requireLogin()).use(page)
    const { status, text } = await respond(app)
    equal(status, 500)
    match(text, /Login is not set up correctly/)
  })
})

describe('the middleware', () => {
  test('reports that it is mounted twice', async () => {
    const idp = client()
    const app = failingWithCode().use(idp.middleware).use(idp.middleware).use(home)
    const { code, message } = JSON.parse((await respond(app)).text)
    equal(code, 'INVALID_CONFIGURATION')
    match(message, /mounted twice.*app\.use\(idp\.middleware\)/)
  })

  test('names its framework if it gets something else', async () => {
    await rejects(
      client().middleware({ req: {}, res: {} }, async () => {}),
      { code: 'INVALID_ARGUMENTS', message: /Koa 2 or 3/ },
    )
  })
})
