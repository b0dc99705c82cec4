// npm run demo [-- --check] [--dpop] [--store memory]: the example application, its API and a development provider, from a
// fresh clone.
import { existsSync, readdirSync } from 'node:fs'
import { parseArgs, parseEnv } from 'node:util'
import { withProgress } from './lib/progress.mjs'
import { bin, fromRoot, isMain, must, runNode } from './lib/run.mjs'
import { setup } from './setup.mjs'

const example = 'examples/next'

/** Returns the variables that bind the tokens of this run to a new key pair. */
async function dpopVariables() {
  const lines = await must(process.execPath, [fromRoot('packages/idp-client/dist/cli.js'), 'dpop-keys'])
  return { ...parseEnv(lines), DEMO_DPOP: '1' }
}

/**
 * Starts all three. The provider is on 127.0.0.1 and the application on localhost, because a browser keeps
 * one set of cookies per host name, whatever the port.
 */
async function start({ dpop, store }) {
  const { freePort } = await import('./lib/ports.mjs')
  const { startServer } = await import('./lib/server-process.mjs')
  const { startDevProvider } = await import('../packages/dev-provider/dist/index.js')
  const url = `http://localhost:${await freePort(3000)}`
  const provider = await startDevProvider({
    host: '127.0.0.1',
    port: await freePort(4400),
    allowLoopbackRedirects: false,
    apps: [url],
    // Sessions in cookies cannot be ended from outside.
    appOptions: { backChannelLogout: store !== 'cookie' },
  })
  const apiUrl = `http://127.0.0.1:${await freePort(4500)}`
  const variables = { ...provider.env, APP_BASE_URL: url, SESSION_STORE: store, NODE_ENV: undefined }
  if (dpop) Object.assign(variables, await dpopVariables())
  const api = startServer(['api-server.mjs'], {
    cwd: fromRoot(example),
    // An API needs no secrets to verify tokens.
    env: {
      IDP_DOMAIN: provider.issuer,
      APP_BASE_URL: url,
      ORDERS_API_URL: apiUrl,
      ORDERS_API_PORT: new URL(apiUrl).port,
    },
    show: (line, stream) => print('api', line, stream),
  })
  const server = startServer([bin.next, 'dev', '-H', '127.0.0.1', '-p', new URL(url).port], {
    cwd: fromRoot(example),
    env: { ...variables, ORDERS_API_URL: apiUrl, NEXT_TELEMETRY_DISABLED: '1' },
    show: (line, stream) => {
      // Next prints the address that it is bound to, where cookies of localhost would be missing.
      if (!/^- (?:Local|Network):/.test(line)) print('next', line, stream)
    },
  })
  const stop = async () => {
    await Promise.all([server.stop(), api.stop()])
    await provider.stop()
  }
  return { url, apiUrl, provider, server, api, stop }
}

function print(program, line, stream) {
  const text = line.replaceAll('\u001b[?25h', '').trimEnd()
  if (text !== '') console[stream === 'stderr' ? 'error' : 'log'](`${program}: ${text}`)
}

/** Waits for the first page and checks that a login starts at the provider and that the API refuses anonymous calls. */
async function firstResponse({ url, apiUrl, provider, server, api }) {
  const { untilResponds } = await import('./lib/server-process.mjs')
  console.log('\nStarting the application. Next.js compiles the first page, which can take half a minute.')
  const status = await withProgress('next: compiles the first page', () => untilResponds(url, server))
  if (status !== 200) throw new Error(`${url} responds with ${status}`)
  const login = await fetch(`${url}/auth/login`, { redirect: 'manual' })
  const location = login.headers.get('location') ?? ''
  if (!location.startsWith(provider.issuer))
    throw new Error(`the login of ${url} responds with ${login.status}`)
  const refused = await untilResponds(`${apiUrl}/orders`, api)
  if (refused !== 401) throw new Error(`${apiUrl} responds with ${refused} without a token`)
}

/** Requests every other page once, so that Next has compiled it before a user opens it. */
async function compilePages(url) {
  const app = fromRoot(`${example}/app`)
  const names = readdirSync(app).filter((name) => existsSync(`${app}/${name}/page.tsx`))
  for (const name of [...names, 'legacy']) {
    const response = await fetch(`${url}/${name}`, { redirect: 'manual' })
    await response.arrayBuffer()
  }
  console.log('All pages are compiled.')
}

async function demo({ check, ...options }) {
  if (!(await setup())) return 1
  const built = await runNode([fromRoot('tools/build.mjs')], { show: true })
  if (built.code !== 0) return built.code
  const running = await start(options)
  const interrupted = new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => resolve('interrupted'))
  })
  try {
    await Promise.race([firstResponse(running), interrupted])
    const { issuer } = running.provider
    console.log(`\nOpen ${running.url} and log in as alice, bob or mallory.`)
    console.log(`Codes and messages for the users' devices: ${issuer}/dev/inbox`)
    console.log(`Every request to the provider, with its errors: ${issuer}/dev`)
    if (check) return 0
    console.log('Ctrl-C stops everything.\n')
    // A page that fails here fails in the browser, too, and Next prints the reason.
    compilePages(running.url).catch(() => {})
    const end = await Promise.race([interrupted, running.server.ended, running.api.ended])
    return end === 'interrupted' ? 0 : 1
  } finally {
    await running.stop()
  }
}

if (isMain(import.meta)) {
  const { values } = parseArgs({
    options: { check: { type: 'boolean' }, dpop: { type: 'boolean' }, store: { type: 'string' } },
  })
  const {
    check,
    dpop = process.env.DEMO_DPOP === '1',
    store = process.env.SESSION_STORE || 'cookie',
  } = values
  process.exitCode = await demo({ check, dpop, store }).catch((error) => {
    console.error(error instanceof Error ? error.message : error)
    return 1
  })
}
