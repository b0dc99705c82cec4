/**
 * The files of each package. `entries` share chunks: what all `hosts` load is one file, and so is what the `leanEntries`
 * take of it. `separate` files are chosen by the `imports` map of the package at run time and therefore stay files of
 * their own. `commands` get a shebang, `clientEntries` must keep their "use client" directive. `selfContained` entries are one file without chunks and without
 * `import()`: platforms that bundle to one file gain nothing from either, and a bundler removes unused code from it. In
 * each, some modules are replaced by smaller ones.
 */
export const packages = {
  'idp-client': {
    folder: 'packages/idp-client',
    entries: {
      index: 'index.ts',
      next: 'adapters/next/index.ts',
      express: 'adapters/express/index.ts',
      fastify: 'adapters/fastify/index.ts',
      node: 'adapters/node/index.ts',
      nuxt: 'adapters/nuxt/index.ts',
      'react-router': 'adapters/react-router/index.ts',
      hono: 'adapters/hono/index.ts',
      koa: 'adapters/koa/index.ts',
      sveltekit: 'adapters/sveltekit/index.ts',
      'tanstack-start': 'adapters/tanstack-start/index.ts',
      edge: 'adapters/edge/index.ts',
      browser: 'browser/index.ts',
      react: 'react/index.ts',
      vue: 'vue/index.ts',
      svelte: 'svelte/index.ts',
      solid: 'solid/index.ts',
      errors: 'errors/index.ts',
      'memory-store': 'stores/memory.ts',
      'redis-store': 'stores/redis.ts',
      'postgres-store': 'stores/postgres.ts',
      testing: 'testing/index.ts',
      cli: 'cli/index.ts',
    },
    separate: {
      'cipher.node': 'crypto/cipher.node.ts',
      'cipher.web': 'crypto/cipher.web.ts',
      'signature.node': 'crypto/signature.node.ts',
      'signature.web': 'crypto/signature.web.ts',
      'async-context.node': 'lib/async-context.node.ts',
      'async-context.web': 'lib/async-context.web.ts',
    },
    external: ['#cipher', '#signature', '#async-context'],
    commands: ['cli'],
    clientEntries: ['react'],
    hosts: [
      'index',
      'next',
      'express',
      'fastify',
      'node',
      'nuxt',
      'react-router',
      'tanstack-start',
      'hono',
      'koa',
      'sveltekit',
    ],
    selfContained: {
      edge: {
        'errors/advice.ts': 'errors/advice.brief.ts',
        'http/failure-wording.ts': 'http/failure-wording.brief.ts',
      },
    },
    leanEntries: [
      'errors',
      'browser',
      'react',
      'vue',
      'svelte',
      'solid',
      'memory-store',
      'redis-store',
      'postgres-store',
    ],
    types: 'packages/idp-client/tsconfig.build.json',
    inputs: [
      'packages/idp-client/package.json',
      'packages/idp-client/tsconfig.build.json',
      'packages/idp-client/tsconfig.next.json',
    ],
  },
  'dev-provider': {
    folder: 'packages/dev-provider',
    entries: { index: 'index.ts', cli: 'cli.ts' },
    separate: {},
    external: [],
    commands: ['cli'],
    clientEntries: [],
    selfContained: {},
    types: 'tsconfig.dev-provider.build.json',
    inputs: [
      'packages/dev-provider/package.json',
      'tsconfig.dev-provider.json',
      'tsconfig.dev-provider.build.json',
    ],
  },
}
