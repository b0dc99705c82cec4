// The servers of examples/mcp, and the client of the official MCP SDK, which finds the provider of each by its URL.
import { fork } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../tools/lib/ports.mjs'
import { must } from '../../tools/lib/run.mjs'
import { startHttpsFront } from '../support/https-front.ts'
import { frontIdentity } from '../support/server-keys.ts'
import { Host, secret } from './host.mjs'

const next = 'node_modules/next/dist/bin/next'

/** The servers by framework: `quick` ones need no build and no further runtime. */
const servers = {
  Express: { folder: 'example', start: ['express.mjs'], quick: true },
  Hono: { folder: 'example', start: ['hono.mjs'], quick: true },
  'Next.js': { folder: 'example/next', build: [[next, 'build']], start: [next, 'start', '-H', '127.0.0.1'] },
  Workers: { folder: 'example/workers', start: ['../../contract/runtime.mjs'] },
}

/** The user logs in by Chromium; without a browser by requests, with the same redirect. */
async function logIn({ browser, provider }, url) {
  if (!browser) {
    const { location } = await provider.login(url, { user: 'alice' })
    return fetch(location)
  }
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    await page.goto(url)
    await page.getByRole('button', { name: /alice/i }).click()
    await page.getByText('You can close this page.').waitFor()
  } finally {
    await context.close()
  }
}

/** Returns the variables of a program on the machine of the user, which trusts the provider and the server. */
async function toUserEnv(host, { ca }) {
  const file = join(host.folder, 'authorities.pem')
  writeFileSync(file, [ca, (await frontIdentity()).ca].join('\n'))
  return { ...process.env, NODE_EXTRA_CA_CERTS: file }
}

/** Runs the client until it has called all tools. */
async function runClient(host, context, url) {
  const { provider } = context
  const redirectUri = `http://127.0.0.1:${await freePort()}/callback`
  const client = { redirectUris: [redirectUri], tokenEndpointAuthMethod: 'none' }
  const { clientId } = await provider.addClient(client)
  const env = await toUserEnv(host, provider)
  const program = join(host.folder, 'contract/client.mjs')
  await new Promise((resolve, reject) => {
    const child = fork(program, [url, clientId, redirectUri], { env, execArgv: [], silent: true })
    const output = []
    child.stderr.on('data', (chunk) => output.push(chunk))
    child.on('message', (page) =>
      logIn(context, page).catch((error) => {
        child.kill()
        reject(error)
      }),
    )
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`the client failed (exit ${code})\n${output.join('')}`)),
    )
  })
}

async function expectRefusals(host, { provider }, url) {
  const sign = (aud, claims) => provider.signAccessToken({ sub: 'dev|alice', aud, ...claims })
  const tokens = await Promise.all([
    sign(url, { scope: 'mcp:read' }),
    sign('https://api.example.test/', { scope: 'mcp:read mcp:write' }),
    sign(url, { scope: 'mcp:read', client_id: undefined }),
  ])
  const args = [join(host.folder, 'contract/refusals.mjs'), url, provider.issuer, ...tokens]
  await must(process.execPath, args, { env: await toUserEnv(host, provider) })
}

/** Runs `work` with the URL of a server in production, behind a proxy that ends TLS. The provider knows it as an API. */
async function serve(host, { folder, start }, { provider }, work) {
  const front = await startHttpsFront()
  const toEnv = () => ({ ...provider.env, APP_BASE_URL: front.url, IDP_SECRET: secret })
  const url = `${front.url}/mcp`
  provider.addApi({ audience: url, scopes: ['mcp:read', 'mcp:write'] })
  try {
    await host.serve(
      folder,
      toEnv,
      (base) => {
        front.forwardTo(base)
        return work(url)
      },
      start,
    )
  } finally {
    await front.stop()
  }
}

/**
 * Returns the steps: titles with what they run.
 *
 * @param {{ quick: boolean, running: () => object }} options `running` returns the provider, the packed library and the browser,
 *   if there is one
 */
export function toMcpSteps({ quick, running }) {
  const host = new Host('mcp', { application: 'mcp' })
  const chosen = Object.entries(servers).filter(([, server]) => !quick || server.quick)
  const ofServer = ([name, { build = [], ...server }]) => [
    ...(build.length > 0 ? [[`${name} builds`, () => host.run(build, server.folder)]] : []),
    [
      `${name}: discovery, login, a tool, and a further scope for another tool`,
      () => serve(host, server, running(), (url) => runClient(host, running(), url)),
    ],
    [
      `${name}: metadata, and requests that are refused`,
      () => serve(host, server, running(), (url) => expectRefusals(host, running(), url)),
    ],
  ]
  return [['installs', () => host.install(running().tarball)], ...chosen.flatMap(ofServer)]
}
