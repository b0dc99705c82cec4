// node --test: what guards and middleware do on every host without a provider.
import { equal, match, notEqual, ok } from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, describe, test } from 'node:test'
import { IdpClient } from 'idp-client/express'
import { generateCookieHeader } from 'idp-client/testing'
import { hosts } from './hosts.mjs'

const secret = '0123456789abcdef'.repeat(4)
const session = { user: { sub: 'carol' } }

async function start(host) {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const base = `http://127.0.0.1:${server.address().port}`
  const options = { domain: 'idp.example', clientId: 'app', clientSecret: 'not a real one', secret }
  server.on('request', await hosts[host](new IdpClient({ ...options, appBaseUrl: base, logger: () => {} })))
  return async (path, headers = {}) => {
    const signal = AbortSignal.timeout(30_000)
    const response = await fetch(base + path, { headers, redirect: 'manual', signal })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
}

for (const host of Object.keys(hosts)) {
  describe(host, async () => {
    const get = await start(host)
    const cookie = await generateCookieHeader(session, { secret })

    test('[F5] the page guard redirects back to the path and query of the request', async () => {
      const { status, headers } = await get('/protected?page=2')
      equal(status, 302)
      equal(headers.get('location'), `/auth/login?returnTo=${encodeURIComponent('/protected?page=2')}`)
    })

    test('[F7] the routes respond', async () => {
      equal((await get('/auth/profile')).status, 401)
      const profile = await get('/auth/profile', { cookie })
      equal(JSON.parse(profile.text).sub, 'carol')
    })

    test('[F8] the application responds behind the middleware, and can read its session there', async () => {
      equal((await get('/')).text, 'public')
      const response = await get('/', { cookie })
      equal(response.status, 200)
      equal(response.text, 'signed in as carol')
      equal((await get('/protected', { cookie })).text, 'signed in as carol')
      equal(JSON.parse((await get('/api/me', { cookie })).text).sub, 'carol')
      equal((await get('/api/me')).status, 401)
    })

    test('a session that is due for a roll is written to the response of the application', async () => {
      const now = Math.floor(Date.now() / 1000) - 4000
      const due = await generateCookieHeader(session, { secret, now })
      const { headers } = await get('/', { cookie: due })
      match(headers.getSetCookie().join(), /^__session=/)
      match(headers.get('cache-control'), /no-store/)
    })

    test('[F4] a guard or handler that throws ends in the error handling of the host', async () => {
      for (const path of ['/broken', '/undecided']) {
        const { status, text } = await get(path, { cookie })
        ok(status >= 500, `${path} responds with ${status}`)
        notEqual(text, 'let in')
      }
    })
  })
}
