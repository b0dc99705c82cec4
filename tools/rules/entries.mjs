/**
 * How much an entry may exceed the size recorded below before the gate fails: a size is what the gate
 * printed when it was last written, and most changes need not touch it.
 */
export const slack = 0.03

/** Bytes that load with an entry (`./errors`: one sentence and one fix for each of its codes), minified and compressed with gzip. */
export const sizes = {
  // Configuration with its messages, sessions in cookies, guards and routes. Requests to the provider, stores, MFA and other
  // rare features load when they are first used.
  '.': 59_300,
  // The user's state, the paths, and the window that opens in a click. Requests load later.
  './browser': 1_988,
  './react': 2_575,
  './vue': 1_802,
  './svelte': 1_710,
  './solid': 1_790,
  // The session itself comes with the plugin of the module.
  './nuxt/app': 200,
  './errors': 9_438,
  // About 8 kB of each store are the tables of codes and fixes, in a chunk that every application has loaded already. Their own
  // code takes 1.3, 1.8 and 2.4 kB, most of the last is SQL.
  './stores/memory': 10_017,
  './stores/redis': 11_260,
  './stores/postgres': 11_084,
}

/**
 * Maximum number of files that are imported with a host's entry, dependencies included: finding, reading and compiling many small
 * files takes longer than one large file.
 */
export const maxModules = 12

/** Bytes that an entry loads later, when something is first used. */
export const lazySizes = {
  // Requests to the routes, messages of other tabs, tokens, multi-factor authentication, popups. Two files would take a tenth more.
  './browser': 3_499,
  './react': 3_462,
  './vue': 3_498,
  './svelte': 3_498,
  './solid': 3_498,
  './nuxt/app': 0,
  './errors': 0,
  './stores/memory': 0,
  './stores/redis': 0,
  './stores/postgres': 0,
}

/** Maximum of the bytes of a published package, unpacked: nearly all of it is code that readers can read, not minified. */
export const unpackedSizes = {
  'packages/idp-client': 1_700_000,
  'packages/dev-provider': 300_000,
}

/** Everything the library may pull into an application at run time. */
export const dependencies = ['cookie-es', 'jose', 'oauth4webapi']

/** Entries for the browser must not contain these packages, nor any module of Node. */
export const browserEntries = [
  './browser',
  './react',
  './vue',
  './svelte',
  './solid',
  './nuxt/app',
  './errors',
]
export const serverPackages = ['jose', 'oauth4webapi', 'cookie-es']

/** Stores take their driver as an argument: they contain no package at all, and no module of Node. */
export const storeEntries = ['./stores/memory', './stores/redis', './stores/postgres']

/** The hosts: only the entry named may import the package. */
export const hosts = {
  next: './next',
  express: './express',
  fastify: './fastify',
  '@nestjs/common': './nest',
  '@nestjs/core': './nest',
  hono: './hono',
  astro: './astro',
  'astro:actions': './astro',
  '@sveltejs/kit': './sveltekit',
  vue: './vue',
  'solid-js': './solid',
  '#imports': './nuxt/app',
  react: './react',
}

/** Entries that run only while an application is built: on Node, with any of its modules. */
export const buildEntries = ['./astro/integration', './nuxt/module']

/** Modules of Node that may be reached when the package is resolved for Node; none may for other runtimes. */
export const nodeModules = ['node:async_hooks', 'node:buffer', 'node:crypto']
