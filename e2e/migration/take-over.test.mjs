// Part of the project `migration`: users log in to the former packages, and an application with the built library takes their sessions
// over, with the same cookies on another port. express-openid-connect is the application before the migration; the others are handlers
// of the packages without Next.js around them, since to build three applications takes minutes.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, test } from 'vitest'
import { startDevProvider } from '../../packages/dev-provider/dist/index.js'
import { freePort } from '../../tools/lib/ports.mjs'
import { fromRoot } from '../../tools/lib/run.mjs'
import { startServer, untilResponds } from '../../tools/lib/server-process.mjs'
import { selectNames } from '../support/applications.mjs'
import { migrations } from './migrations.mjs'
import { prepareFormerPackages } from './take-over/former-packages.mjs'
import { until } from './take-over/until.mjs'
import { User } from './take-over/user.mjs'

const names = selectNames(Object.keys(migrations))

let programs
beforeAll(async () => {
  programs = await prepareFormerPackages()
})

/** One application, in a process of its own. */
async function start(path, { cwd, env, provider }) {
  const base = `http://127.0.0.1:${await freePort()}`
  const server = startServer([path], {
    cwd,
    env: {
      ...(typeof env === 'function' ? env(base) : env),
      NODE_ENV: 'production',
      NODE_EXTRA_CA_CERTS: provider.env.NODE_EXTRA_CA_CERTS,
      APP_BASE_URL: base,
      PORT: new URL(base).port,
    },
  })
  await untilResponds(`${base}/`, server)
  return { base, output: server.output, stop: () => server.stop() }
}

describe.each(names)('sessions of %s', (name) => {
  const servers = []
  let provider
  let former
  const after = {}

  beforeAll(async () => {
    provider = await startDevProvider({ https: true })
    const { env } = migrations[name].before
    const own = {
      ...provider.env,
      IDP_SECRET: randomBytes(32).toString('hex'),
      FORMER: name,
      FORMER_SECRET: provider.env.IDP_SECRET,
      UNTIL: until,
    }
    const program = fromRoot('e2e/migration/take-over/after.mjs')
    const all = [
      start(`${name}.mjs`, { cwd: programs, env: (base) => env(provider, base), provider }),
      start(program, { cwd: fromRoot('.'), env: own, provider }),
      start(program, { cwd: fromRoot('.'), env: { ...own, STORE: '1' }, provider }),
    ]
    servers.push(...(await Promise.all(all)))
    former = servers[0].base
    after.cookies = servers[1].base
    after.store = servers[2].base
  })
  afterEach(({ task }) => {
    if (task.result?.state !== 'fail') return
    for (const { output } of servers) if (output() !== '') process.stderr.write(output().slice(-2000))
  })
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()))
    await provider?.stop()
  })

  async function followBack(user, base, location) {
    const { pathname, search } = new URL(location)
    const back = await user.visit(`${base}${pathname}${search}`)
    equal(Math.floor(back.status / 100), 3, `callback responds ${back.status}: ${back.text.slice(0, 300)}`)
  }

  /** Logs alice in to the former application. */
  async function logIn() {
    const user = new User(former)
    const { location } = await provider.login(await migrations[name].before.login(user), { user: 'alice' })
    await followBack(user, former, location)
    await expectUser(user, former)
    return user
  }

  async function expectUser(user, base) {
    const { status, text } = await user.request(`${base}/api/orders`)
    equal(status, 200, text.slice(0, 300))
    equal(JSON.parse(text).sub, 'dev|alice')
  }

  async function expectPage(user, base) {
    const { status, text } = await user.visit(`${base}/orders`)
    equal(status, 200, text.slice(0, 300))
    match(text, /signed in as dev\|alice/)
  }

  /** Returns the events since the last call that say how sessions were converted. */
  async function takeEvents(base) {
    const events = JSON.parse((await new User(base).request('/events')).text)
    return events.filter((code) => /^beforeSessionSaved$|TAKEN_OVER/.test(code))
  }

  describe.each(['cookies', 'store'])('taken over in %s', (storage) => {
    test('stay signed in', async () => {
      const base = after[storage]
      await takeEvents(base)
      const user = await logIn()
      await expectPage(user, base)
      const isFormer = (key) => key === 'appSession' || key.includes('next-auth.session-token')
      deepEqual(user.cookieNames().filter(isFormer), [])
      equal(
        (await user.request(`${former}/api/orders`)).status,
        401,
        'the former application on the other port',
      )
      await expectUser(user, base)
      deepEqual(await takeEvents(base), ['beforeSessionSaved', 'SESSION_TAKEN_OVER'])
    })

    test('refresh with the former refresh token', async () => {
      const base = after[storage]
      const user = await logIn()
      provider.clearRequests()
      // The former refresh token, and the one that replaced it.
      for (const count of [1, 2]) {
        const { status, text } = await user.request(`${base}/api/refresh`)
        equal(status, 200, text.slice(0, 300))
        equal(provider.count('token'), count)
      }
      const redeemed = provider.requests('token')
      deepEqual(
        redeemed.map(({ body, status }) => [body.grant_type, status]),
        [
          ['refresh_token', 200],
          ['refresh_token', 200],
        ],
      )
      equal(new Set(redeemed.map(({ body }) => body.refresh_token)).size, 2)
      equal(provider.count('authorize'), 0, 'no login')
      await expectPage(user, base)
    })

    test('step up', async () => {
      const base = after[storage]
      const user = await logIn()
      const { status, location } = await user.visit(`${base}/vault`)
      equal(Math.floor(status / 100), 3)
      const login = await user.visit(new URL(location, base).href)
      const { searchParams } = new URL(login.location)
      equal(searchParams.get('acr_values'), 'urn:example:second-level')
      const stepped = await provider.login(login.location, { user: 'alice' })
      await followBack(user, base, stepped.location)
      const { status: vault, text } = await user.visit(`${base}/vault`)
      equal(vault, 200, text.slice(0, 300))
      match(text, /signed in as dev\|alice/)
    })

    test('log out for good', async () => {
      const base = after[storage]
      const user = await logIn()
      const copied = await user.cookieHeader()
      await expectPage(user, base)
      const { status, location } = await user.visit(`${base}/auth/logout`)
      equal(status, 302)
      ok(location.startsWith(provider.issuer), location)
      equal((await user.request(`${base}/api/orders`)).status, 401)
      const own = await user.cookieHeader()
      const cookie = own === '' ? copied : `${own}; ${copied}`
      const again = await user.request(`${base}/api/orders`, { headers: { cookie } })
      equal(again.status, 401, 'the former cookie after the logout')
      equal(Math.floor((await user.visit(`${base}/orders`, { headers: { cookie } })).status / 100), 3)
      equal((await user.request(`${base}/api/orders`)).status, 401)
      if (storage === 'store') {
        const elsewhere = await new User(base).request('/api/orders', { headers: { cookie: copied } })
        equal(elsewhere.status, 401, 'a copy of the former cookie in another browser')
      }
    })

    test('are converted once by 50 requests at the same time', async () => {
      const base = after[storage]
      const cookie = await (await logIn()).cookieHeader()
      await takeEvents(base)
      const users = Array.from({ length: 50 }, () => new User(base))
      const responses = await Promise.all(
        users.map((user) => user.visit(`${base}/orders`, { headers: { cookie } })),
      )
      for (const { status, text } of responses) equal(`${status} ${text}`, '200 signed in as dev|alice')
      deepEqual(await takeEvents(base), ['beforeSessionSaved', 'SESSION_TAKEN_OVER'])
      for (const user of users) await expectUser(user, base)
    })
  })
})
