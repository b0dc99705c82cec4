// Tests of functions that Nitro caches, in the production build: its names of functions are those of development.
import { equal, match } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { generateCookieHeader } from 'idp-client/testing'

const secret = 'a5f1c3e8b7d94e20a5f1c3e8b7d94e20a5f1c3e8b7d94e20a5f1c3e8b7d94e20'
let server
let base

before(async () => {
  server = spawn(process.execPath, ['.output/server/index.mjs'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      NODE_ENV: 'development',
      HOST: '127.0.0.1',
      PORT: '0',
      APP_BASE_URL: 'http://localhost',
      IDP_DOMAIN: 'idp.example.com',
      IDP_CLIENT_ID: 'client',
      IDP_CLIENT_SECRET: 'client-secret',
      IDP_SECRET: secret,
    },
  })
  for (let output = ''; base === undefined; ) {
    const [chunk] = await once(server.stdout, 'data')
    output += chunk
    const port = /:(\d+)/.exec(output)?.[1]
    if (port) base = `http://127.0.0.1:${port}`
  }
})

after(() => server.kill())

for (const path of ['cached-function', 'cached-function-later']) {
  test(`[O3] /${path}: the session of a user does not become the result of a cached function`, async () => {
    const cookie = await generateCookieHeader({ user: { sub: 'carol' } }, { secret })
    const known = await fetch(`${base}/whoami`, { headers: { cookie } })
    match(await known.text(), /carol/)
    const response = await fetch(`${base}/${path}`, { headers: { cookie } })
    const text = await response.text()
    equal(response.status, 500, text)
    match(text, /AMBIENT_REQUEST_MISSING/)
    match(await (await fetch(`${base}/${path}?session=before`, { headers: { cookie } })).text(), /carol/)
  })
}

test('server middleware with a guard protects every path at which Nuxt shows the page', async () => {
  for (const path of ['/account', '/ACCOUNT', '/Account/', '/%61ccount', '/%41CCOUNT?a=b']) {
    const { headers, status } = await fetch(base + path, { redirect: 'manual' })
    equal(status, 302, path)
    match(headers.get('location'), /^\/auth\/login\?/, path)
  }
})
