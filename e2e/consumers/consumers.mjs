import { deepEqual } from 'node:assert/strict'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readText } from '../../tools/lib/files.mjs'
import { findSection, parseFences, parseSteps } from '../../tools/lib/markdown.mjs'
import { freePort } from '../../tools/lib/ports.mjs'
import { fromRoot, must } from '../../tools/lib/run.mjs'
import { running } from '../../tools/lib/server-process.mjs'
import { expectClosed, expectDenied, expectLogin } from '../support/app-visit.mjs'
import { startConnectProxy } from '../support/connect-proxy.mjs'
import { expectTwoRealms } from '../support/edge-visit.mjs'
import { startNginx } from '../support/nginx-front.mjs'

const nextPaths = { pages: ['/protected', '/legacy'], apis: ['/api/me', '/api/legacy'] }
const guidePaths = { ...nextPaths, greeting: '/' }
const nodePaths = { pages: ['/protected'], apis: ['/api/me'] }

/** Our variables, all of them absent: neither a build nor a start may inherit them from a shell. */
const noVariables = Object.fromEntries(
  ['IDP_DOMAIN', 'IDP_CLIENT_ID', 'IDP_CLIENT_SECRET', 'IDP_SECRET', 'APP_BASE_URL'].map((name) => [
    name,
    undefined,
  ]),
)

const quiet = { NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: undefined }

/** The same application with the middleware on the edge runtime, in place of the route handler or the proxy. */
const onEdge = (paths) => [
  ['builds with middleware.ts on the edge runtime', buildOnEdge],
  ['a user logs in and out there', (context) => serve(context, nextStart, loginSteps(paths))],
  [
    'middleware and server refresh one session in turn',
    (context) => serve(context, nextStart, expectTwoRealms),
  ],
]

/**
 * The consumers, those that take longest first. Each is copied from folders, and has `files` of the documentation written over
 * them. Its steps are `[title, work(context)]`; the context has `folder`, where the consumer is installed, and `provider`, a
 * development provider that serves https.
 */
export const consumers = {
  'next-15': {
    ...nextConsumer('next-15', onEdge(guidePaths), guidePaths),
    files: filesOfGuide('Next.js 16', 'Next.js 15'),
  },
  'next-16': nextConsumer('next-16', [
    ['every guard denies without variables', denyWithoutVariables],
    ['a user logs in and out behind nginx', (context) => behindNginx(context, (base) => base)],
    ['the same without a base URL', (context) => behindNginx(context, () => undefined)],
    ...onEdge(nextPaths),
  ]),
  'next-14': {
    ...nextConsumer('next-14', onEdge(guidePaths), guidePaths),
    files: filesOfGuide('Next.js 16', 'Next.js 14'),
  },
  jest: {
    copies: ['jest'],
    devProvider: true,
    steps: [
      ['tests pass with a transform', ({ folder }) => jest(folder, 'jest.config.cjs')],
      [
        'tests pass with native modules',
        ({ folder }) => jest(folder, 'jest.native.config.cjs', { NODE_OPTIONS: '--experimental-vm-modules' }),
      ],
    ],
  },
  node: {
    copies: ['node'],
    devProvider: true,
    steps: [
      ['types resolve as in Node', ({ folder }) => tsc(folder, 'tsconfig.json')],
      ['types resolve as in bundlers', ({ folder }) => tsc(folder, 'tsconfig.bundler.json')],
      ['every entry loads by require', ({ folder }) => requireEntries(folder)],
      ['the command prints a secret', ({ folder }) => secretCommand(folder)],
      ['the doctor reports as its schema says', doctorReports],
      ['the packed development provider responds', startPackedProvider],
      ['a user logs in and out', (context) => serve(context, ['server.mjs'], loginSteps(nodePaths))],
      ['the same while the provider is reached by a corporate proxy', throughProxy],
    ],
  },
  'node-hosts': {
    copies: ['node-hosts'],
    steps: [
      ['types resolve beside those of Express 4', ({ folder }) => tsc(folder, 'tsconfig.json')],
      [
        'guards and middleware work on every host',
        ({ folder }) => mustNode(folder, ['--test'], { NODE_ENV: 'test' }),
      ],
      // Newer versions and other frameworks have the contract of e2e/hosts/hosts.test.mjs.
      [
        'a user logs in and out on Express 4.18',
        (context) => serve(context, ['server.mjs', 'express-4.18'], loginSteps(nodePaths)),
      ],
    ],
  },
  'ui-frameworks': {
    copies: ['ui-frameworks'],
    steps: [
      ['types resolve beside those of Vue, Svelte and Solid', ({ folder }) => tsc(folder, 'tsconfig.json')],
      [
        'useUser follows the user in each of them',
        // Solid has another build for servers; the channel to other tabs would keep the process alive.
        ({ folder }) =>
          mustNode(folder, ['--conditions=browser', '--test', '--test-force-exit', 'use-user.test.mjs']),
      ],
    ],
  },
  worker: {
    copies: ['worker'],
    steps: [
      ['types resolve as in bundlers', ({ folder }) => tsc(folder, 'tsconfig.json')],
      [
        'a user logs in and out in workerd',
        (context) => serve(context, ['server.mjs'], loginSteps(nodePaths)),
      ],
    ],
  },
}

function nextConsumer(name, more = [], paths = nextPaths) {
  return {
    copies: ['next-app', name],
    steps: [
      ['builds without any of our variables, types included', buildNext],
      ['a user logs in and out', (context) => serve(context, nextStart, loginSteps(paths))],
      ...more,
    ],
  }
}

/** The files that sections of the quick start print; a later section has no proxy beside its own files. */
function filesOfGuide(...sections) {
  const guide = readText('docs/guides/quick-start.md')
  const steps = sections.flatMap((section) => parseSteps(findSection(guide, section)))
  return steps.filter(({ kind, path }) => kind === 'file' && path !== 'proxy.ts')
}

async function buildOnEdge(context) {
  cpSync(fromRoot('e2e/consumers/next-edge'), context.folder, { recursive: true })
  for (const path of ['app/auth', 'proxy.ts'])
    rmSync(join(context.folder, path), { recursive: true, force: true })
  await buildNext(context, { OMIT_TRACES: '1' })
}

const loginSteps = (paths) => async (base, provider) => {
  await expectDenied(base, paths)
  await expectLogin(base, paths, provider)
}

const nextStart = ['node_modules/next/dist/bin/next', 'start', '-H', '127.0.0.1']

function buildNext({ folder }, variables = {}) {
  const env = { ...noVariables, ...quiet, ...variables }
  return mustNode(folder, ['node_modules/next/dist/bin/next', 'build'], env)
}

async function serve({ folder, provider }, args, work) {
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  const env = {
    ...provider.env,
    ...quiet,
    APP_BASE_URL: base,
    PORT: String(port),
  }
  await running({ folder, args, env, base }, (output) => work(base, provider, output))
}

/** The client of the page about networks, where the only way to the provider is a proxy. */
async function throughProxy({ folder, provider }) {
  const page = 'docs/guides/deploy/network.md'
  const { code } = parseFences(readText(page)).find(({ language }) => language === 'js')
  mkdirSync(join(folder, 'lib'), { recursive: true })
  writeFileSync(join(folder, 'lib/idp.js'), code)
  const proxy = await startConnectProxy()
  try {
    const context = { folder, provider: { ...provider, env: { ...provider.env, HTTPS_PROXY: proxy.url } } }
    await serve(context, ['proxied.mjs'], (base) => loginSteps(nodePaths)(base, provider))
    const { host } = new URL(provider.issuer)
    if (!proxy.tunnels.includes(host)) throw new Error(`no request to ${host} went through the proxy`)
  } finally {
    await proxy.stop()
  }
}

/** nginx as the page about it configures it; `toBaseUrl` gives the value of APP_BASE_URL. */
async function behindNginx({ folder, provider }, toBaseUrl) {
  const [port, upstream] = [await freePort(), await freePort()]
  const base = `https://127.0.0.1:${port}`
  const env = { ...provider.env, ...quiet, APP_BASE_URL: toBaseUrl(base), PORT: String(upstream) }
  await running({ folder, args: nextStart, env, base: `http://127.0.0.1:${upstream}` }, async () => {
    const { ca, stop } = await startNginx({ port, upstream })
    try {
      await expectDenied(base, nextPaths, ca)
      // bob is in 60 groups: his session needs several cookies.
      for (const user of ['alice', 'bob']) await expectLogin(base, nextPaths, provider, { ca, user })
    } finally {
      await stop()
    }
  })
}

async function denyWithoutVariables({ folder }) {
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  const env = { ...noVariables, ...quiet, PORT: String(port) }
  await running({ folder, args: nextStart, env, base }, () => expectClosed(base, nextPaths))
}

/** Checks the types of a consumer and of its packages, but not the declarations that come with TypeScript. */
const tsc = (folder, project) =>
  mustNode(folder, ['node_modules/typescript/bin/tsc', '-p', project, '--skipDefaultLibCheck'])

const jest = (folder, config, env) =>
  mustNode(folder, ['node_modules/jest/bin/jest.js', '--config', config], env)

function requireEntries(folder) {
  const entries = [
    'idp-client',
    'idp-client/express',
    'idp-client/browser',
    'idp-client/react',
    'idp-client/errors',
    'idp-client/stores/memory',
    'idp-client/stores/redis',
    'idp-client/stores/postgres',
    'idp-client/take-over',
    'idp-client/testing',
    'idp-client/testing/browser',
    'idp-client/playwright',
  ]
  const code = `for (const entry of ${JSON.stringify(entries)}) if (Object.keys(require(entry)).length === 0) throw new Error(entry)`
  return mustNode(folder, ['--eval', code])
}

async function secretCommand(folder) {
  const output = await mustNode(folder, [join('node_modules', 'idp-client', 'dist', 'cli.js'), 'secret'])
  if (!/\b[0-9a-f]{64}\b/.test(output))
    throw new Error(`idp-client secret printed no secret of 64 hex digits`)
}

async function doctorReports({ folder, provider }) {
  const variables = { ...provider.env, ...quiet, APP_BASE_URL: 'http://127.0.0.1:3000' }
  provider.registerApp(variables.APP_BASE_URL)
  await mustNode(folder, ['doctor.mjs', fromRoot('docs/reference/doctor.schema.json')], variables)
}

async function startPackedProvider({ folder }) {
  const port = await freePort()
  const args = [join('node_modules', 'idp-dev-provider', 'dist', 'cli.js'), '--port', String(port)]
  const base = `http://localhost:${port}`
  await running({ folder, args, env: quiet, base }, async () => {
    const response = await fetch(`${base}/.well-known/openid-configuration`)
    deepEqual((await response.json()).issuer, base)
  })
}

const mustNode = (folder, args, env = {}) => must(process.execPath, args, { cwd: folder, env })
