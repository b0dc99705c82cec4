/** Another major version of Node, for frameworks that need it. */
const node = '22.23.3'

const nestVersions = (version, platform = 'express') => ({
  '@nestjs/common': version,
  '@nestjs/core': version,
  [`@nestjs/platform-${platform}`]: version,
})

const nuxt3Config = (modules) => `export default {
  compatibilityDate: '2026-01-01',
  modules: ${JSON.stringify(modules)},
  serverDir: 'server/',
  srcDir: 'app/',
  telemetry: false,
}
`

const reactRouter8Config = "export default { basename: process.env.CONTRACT_BASE_PATH ?? '/' }\n"

// The options of `svelte.config.js` are arguments of the plugin in version 3, and `$lib` is an alias of the application's own.
const svelteKit3Config = `import adapter from '@sveltejs/adapter-node'
import { sveltekit } from '@sveltejs/kit/vite'

export default {
  plugins: [
    sveltekit({
      adapter: adapter(),
      alias: { $lib: 'src/lib' },
      csrf: { trustedOrigins: ['*'] },
      paths: { base: process.env.CONTRACT_BASE_PATH ?? '' },
    }),
  ],
}
`

/** The rows, each without the properties that it shares with the host `of`. Packages have exact versions, but no lockfile. */
const changes = {
  'react-router-8': {
    of: 'react-router',
    title: 'React Router 8',
    versions: {
      'react-router': '8.4.0',
      '@react-router/node': '8.4.0',
      '@react-router/serve': '8.4.0',
      '@react-router/dev': '8.4.0',
    },
    // Version 8 rejects the flag of version 7.
    files: {
      'react-router.config.mjs': reactRouter8Config,
      'react-router.config.ts': reactRouter8Config,
    },
    types: [
      ['node_modules/@react-router/dev/bin.cjs', 'typegen'],
      ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'],
    ],
    build: [['node_modules/@react-router/dev/bin.cjs', 'build']],
    start: ['node_modules/@react-router/serve/bin.cjs', 'build/server/index.js'],
    node,
  },
  'astro-6': {
    of: 'astro',
    title: 'Astro 6',
    versions: { astro: '6.4.8', '@astrojs/node': '10.1.4' },
    types: [['node_modules/astro/bin/astro.mjs', 'check']],
    build: [['node_modules/astro/bin/astro.mjs', 'build']],
    node,
  },
  'astro-7': {
    of: 'astro',
    title: 'Astro 7',
    versions: { astro: '7.3.5', '@astrojs/node': '11.1.6' },
    types: [['node_modules/astro/bin/astro.mjs', 'check']],
    build: [['node_modules/astro/bin/astro.mjs', 'build']],
    node,
  },
  'nuxt-3': {
    of: 'nuxt',
    title: 'Nuxt 3',
    versions: { nuxt: '3.21.11' },
    // The folders of version 4 and one project of TypeScript.
    files: {
      'contract/nuxt.config.mjs': nuxt3Config([]),
      'example/nuxt.config.ts': nuxt3Config(['idp-client/nuxt/module']),
      'tsconfig.json': '{ "extends": "./.nuxt/tsconfig.json" }\n',
    },
    types: [
      ['node_modules/nuxt/bin/nuxt.mjs', 'prepare'],
      ['node_modules/vue-tsc/bin/vue-tsc.js', '--noEmit'],
    ],
  },
  'fastify-4': { of: 'fastify', title: 'Fastify 4', versions: { fastify: '4.29.1' } },
  'nest-10': { of: 'nest', title: 'NestJS 10', versions: nestVersions('10.4.22') },
  'nest-12': { of: 'nest', title: 'NestJS 12', versions: nestVersions('12.5.1') },
  'nest-fastify-10': {
    of: 'nest-fastify',
    title: 'NestJS 10 on Fastify',
    versions: nestVersions('10.4.22', 'fastify'),
  },
  'nest-fastify-12': {
    of: 'nest-fastify',
    title: 'NestJS 12 on Fastify',
    versions: { ...nestVersions('12.5.1', 'fastify'), '@nestjs/platform-fastify': '12.5.0' },
  },
  'sveltekit-3': {
    of: 'sveltekit',
    title: 'SvelteKit 3',
    versions: {
      '@sveltejs/adapter-node': '6.0.1',
      '@sveltejs/kit': '3.2.0',
      '@sveltejs/vite-plugin-svelte': '7.3.1',
      typescript: '6.0.3',
      vite: '8.3.8',
    },
    files: {
      'svelte.config.js': null,
      'tsconfig.json': '{ "extends": "$app/tsconfig", "include": ["src"] }\n',
      'vite.config.js': svelteKit3Config,
    },
    node,
  },
  'koa-2': { of: 'koa', title: 'Koa 2', versions: { koa: '2.11.0', '@types/koa': '2.15.2' } },
  'hono-4.8': { of: 'hono', title: 'Hono 4.8', versions: { hono: '4.8.0' } },
}

/**
 * Returns the rows of other versions of hosts.
 *
 * @param {Record<string, import('./hosts.mjs').Host>} hosts
 * @returns {Record<string, import('./hosts.mjs').Host>}
 */
export function toOtherVersions(hosts) {
  const rows = Object.entries(changes).map(([name, { of, ...changed }]) => {
    const { application = of, guide = of, ...same } = hosts[of]
    return [name, { ...same, application, guide, quick: false, contractOnly: true, ...changed }]
  })
  return Object.fromEntries(rows)
}
