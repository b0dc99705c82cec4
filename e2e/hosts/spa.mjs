// The single-page application of examples/spa with its API, in Chromium: as it is built, and with the development server of Vite.
import { join } from 'node:path'
import { freePort } from '../../tools/lib/ports.mjs'
import { running as runProgram } from '../../tools/lib/server-process.mjs'
import { startChromium } from '../fixtures/support/chromium.ts'
import { Host, secret } from './host.mjs'
import { visitSpa } from './spa/visit.mjs'

const vite = 'node_modules/vite/bin/vite.js'
const tsc = 'node_modules/typescript/bin/tsc'

const api = { audience: 'https://orders.example.test/', scopes: ['read:orders', 'write:orders'] }

/** Runs `work` with the address of the API. */
const serveApi = (host, { provider }, work) =>
  host.serve('example', (base) => ({ ...provider.env, ORDERS_API_PORT: new URL(base).port }), work, [
    'api-server.mjs',
  ])

/** Returns the variables of the server for the address of the application and that of the API. */
function configure(provider, base, apiUrl) {
  provider.registerApp(base)
  provider.addApi(api)
  return { ...provider.env, APP_BASE_URL: base, IDP_SECRET: secret, ORDERS_API_URL: apiUrl }
}

/** Runs `work` with the address of the application, as it is built. */
const serveBuild = (host, running, work) =>
  serveApi(host, running, (apiUrl) =>
    host.serve('example', (base) => configure(running.provider, base, apiUrl), work),
  )

/** Runs `work` with the address of Vite's development server, which the application has in the browser. */
async function serveDevelopment(host, running, work) {
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  const folder = join(host.folder, 'example')
  const args = [join(host.folder, vite), '--host', '127.0.0.1', '--port', String(port), '--strictPort']
  const ofVite = (serverUrl) => ({ args, base, folder, env: { SERVER_URL: serverUrl } })
  await serveApi(host, running, (apiUrl) =>
    host.serve(
      'example',
      () => ({ ...configure(running.provider, base, apiUrl), NODE_ENV: 'development' }),
      (serverUrl) => runProgram(ofVite(serverUrl), () => work(base)),
    ),
  )
}

async function visitIn(running, base) {
  const { browser, provider } = running
  if (browser) return visitSpa(browser, base, provider)
  const own = await startChromium({ provider })
  try {
    await visitSpa(own, base, provider)
  } finally {
    await own.close()
  }
}

/**
 * Returns the steps: titles with what they run.
 *
 * @param {{ quick: boolean, running: () => object }} options `running` returns the provider, the packed library and the browser,
 *   if there is one
 */
export function toSpaSteps({ quick, running }) {
  const host = new Host('spa', { application: 'spa', start: ['server.mjs'] })
  const steps = {
    installs: () => host.install(running().tarball),
    builds: () => host.run([[vite, 'build']], 'example'),
    'a user orders, uploads and watches, and no token reaches the browser': () =>
      serveBuild(host, running(), (base) => visitIn(running(), base)),
  }
  const further = {
    'its types resolve': () => host.run([[tsc]], 'example'),
    'the same with the development server of Vite': () =>
      serveDevelopment(host, running(), (base) => visitIn(running(), base)),
  }
  return Object.entries(quick ? steps : { ...steps, ...further })
}
