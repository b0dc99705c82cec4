/** A version of Node.js for frameworks that need it. */
export const node22 = '22.23.3'

/**
 * Arguments of Node that check the types of an application and of its packages. The declarations that come with TypeScript are not
 * checked, which would take a quarter of the time.
 */
export const tsc = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json', '--skipDefaultLibCheck']

const nestVersions = (version, platform = 'express') => ({
  '@nestjs/common': version,
  '@nestjs/core': version,
  [`@nestjs/platform-${platform}`]: version,
})

const astro = (version, adapter) => ({
  of: 'astro',
  title: `Astro ${version.split('.')[0]}`,
  versions: { astro: version, '@astrojs/node': adapter },
  types: [['node_modules/astro/bin/astro.mjs', 'check']],
  build: [['node_modules/astro/bin/astro.mjs', 'build']],
  node: node22,
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

/** Other versions of frameworks, each without the properties that it shares with `of`. Packages have exact versions, but no lockfile. */
export const otherVersions = {
  'react-router-8': {
    of: 'react-router',
    title: 'React Router 8',
    versions: Object.fromEntries(
      ['react-router', '@react-router/node', '@react-router/serve', '@react-router/dev'].map((name) => [
        name,
        '8.4.0',
      ]),
    ),
    // Version 8 rejects the flag of version 7.
    files: { 'react-router.config.mjs': reactRouter8Config, 'react-router.config.ts': reactRouter8Config },
    types: [['node_modules/@react-router/dev/bin.cjs', 'typegen'], tsc],
    build: [['node_modules/@react-router/dev/bin.cjs', 'build']],
    start: ['node_modules/@react-router/serve/bin.cjs', 'build/server/index.js'],
    node: node22,
  },
  'astro-6': astro('6.4.8', '10.1.4'),
  'astro-7': astro('7.3.5', '11.1.6'),
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
    node: node22,
  },
  'koa-2': { of: 'koa', title: 'Koa 2', versions: { koa: '2.11.0', '@types/koa': '2.15.2' } },
  'hono-4.8': { of: 'hono', title: 'Hono 4.8', versions: { hono: '4.8.0' } },
}
