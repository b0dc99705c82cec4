import { adapters } from '../hosts.mjs'

/**
 * How much an entry may exceed the size recorded below before the gate fails: a size is what the gate
 * printed when it was last written, and most changes need not touch it.
 */
export const slack = 0.03

/**
 * The entries of the library, by the name of their file in `dist`.
 *
 * @typedef {object} Entry
 * @property {string} source below the source folder
 * @property {'host' | 'browser' | 'store' | 'build'} [kind] what all hosts load is one file. Entries for browsers contain no server
 *   package, stores no package at all, since their driver is an argument, and neither a module of Node. Those for a build run only
 *   while an application is built, on Node.
 * @property {number} [bytes] that load with it, minified and compressed with gzip
 * @property {number} [lazyBytes] that it loads later, when something is first used
 * @property {string[]} [imports] packages of its host, which no other entry may import
 * @property {boolean} [untyped] whether only generated code imports it, so that it has no declarations
 *
 * @type {Record<string, Entry>}
 */
export const entries = {
  // Configuration with its messages, sessions in cookies, guards and routes. Requests to the provider, stores, MFA and other
  // rare features load when they are first used.
  index: { source: 'index.ts', kind: 'host', bytes: 72_949 },
  ...Object.fromEntries(
    Object.entries(adapters).map(([name, { imports = [], importsTypes = [] }]) => [
      name,
      { source: `adapters/${name}/index.ts`, kind: 'host', imports: [...imports, ...importsTypes] },
    ]),
  ),
  'astro-integration': { source: 'adapters/astro-integration/integration.ts', kind: 'build' },
  'nuxt-module': { source: 'adapters/nuxt-module/module.ts', kind: 'build' },
  'nuxt-client': { source: 'adapters/nuxt-module/default-client.ts' },
  'nuxt-mount': { source: 'adapters/nuxt-module/mount.ts', untyped: true },
  // The session itself comes with the plugin of the module.
  'nuxt-app': { source: 'nuxt/index.ts', kind: 'browser', bytes: 200, lazyBytes: 0, imports: ['#imports'] },
  'nuxt-plugin': { source: 'nuxt/plugin.ts', kind: 'browser' },
  'nuxt-login': { source: 'nuxt/login.ts', kind: 'browser', untyped: true },
  // The user's state, the paths, and the window that opens in a click. Requests to the routes, messages of other tabs, tokens,
  // multi-factor authentication and popups load later; two files would take a tenth more.
  browser: { source: 'browser/index.ts', kind: 'browser', bytes: 2_447, lazyBytes: 3_689 },
  react: { source: 'react/index.ts', kind: 'browser', bytes: 3_019, lazyBytes: 3_650, imports: ['react'] },
  vue: { source: 'vue/index.ts', kind: 'browser', bytes: 1_890, lazyBytes: 3_689, imports: ['vue'] },
  svelte: { source: 'svelte/index.ts', kind: 'browser', bytes: 1_794, lazyBytes: 3_689 },
  solid: { source: 'solid/index.ts', kind: 'browser', bytes: 1_875, lazyBytes: 3_689, imports: ['solid-js'] },
  // One sentence and one fix for each of its codes.
  errors: { source: 'errors/index.ts', kind: 'browser', bytes: 11_757, lazyBytes: 0 },
  // About 8 kB of each store are the tables of codes and fixes, in a chunk that every application has loaded already. Their own
  // code takes 1.3, 1.8 and 2.4 kB, most of the last is SQL.
  'memory-store': { source: 'stores/memory.ts', kind: 'store', bytes: 11_987, lazyBytes: 0 },
  'redis-store': { source: 'stores/redis.ts', kind: 'store', bytes: 13_273, lazyBytes: 0 },
  'postgres-store': { source: 'stores/postgres.ts', kind: 'store', bytes: 13_180, lazyBytes: 0 },
  // Runs where sessions of a former library are read; a host loads it only if the application imports it.
  'take-over': { source: 'take-over/index.ts' },
  testing: { source: 'testing/index.ts' },
  'testing-browser': { source: 'testing/browser/index.ts', kind: 'browser', bytes: 997, lazyBytes: 0 },
  // Playwright passes its own fixtures; the provider is loaded when a test uses it.
  playwright: { source: 'playwright/index.ts', imports: ['idp-dev-provider'] },
  cli: { source: 'cli/index.ts' },
}

/** Names of the entries of some kinds. */
export const entriesOf = (...kinds) =>
  Object.keys(entries).filter((name) => kinds.includes(entries[name].kind))

/**
 * Maximum number of files that are imported with a host's entry, dependencies included: finding, reading and compiling many small
 * files takes longer than one large file.
 */
export const maxModules = 12

/** Maximum of the bytes of a published package, unpacked: nearly all of it is code that readers can read, not minified. */
export const unpackedSizes = {
  'packages/idp-client': 1_550_000,
  'packages/dev-provider': 360_000,
  'packages/create-idp-app': 60_000,
}

/** Everything the library may pull into an application at run time. */
export const dependencies = ['cookie-es', 'jose', 'oauth4webapi']

/** Modules of Node that may be reached when the package is resolved for Node; none may for other runtimes. */
export const nodeModules = ['node:async_hooks', 'node:buffer', 'node:crypto']
