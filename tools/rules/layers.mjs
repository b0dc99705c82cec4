import { adapters } from '../hosts.mjs'
import { entries } from './entries.mjs'

/** Modules that the entries of all hosts re-export: symbols of options, claim filters, creation of keys. */
const publicValues = ['config/options.ts', 'crypto/keys.ts', 'session/model/claims.ts']

const foundation = ['lib', 'errors', 'log', 'http', 'crypto']

const sessions = ['session', 'session/model', 'session/cookie', 'session/store']

/** The layers that operations consist of. */
const operationLayers = [...foundation, 'config', 'oidc', 'oidc/vendor', ...sessions, 'transaction', 'tokens']

const hostLayers = [
  'lib',
  'errors',
  'log',
  'http',
  'config/framework-base.ts',
  'engine',
  'root',
  'routes',
  'guards',
  'proxy',
  'flows',
  'host-client',
]
const hostTypes = ['config', ...sessions, 'tokens']

/**
 * The allowed imports of each folder of packages/idp-client/src. `values` may be imported for use at run
 * time and as types; `types` only by `import type`. A folder may always import itself, except that
 * flows may not import each other. A path longer than a folder allows that one file.
 */
export const layers = {
  lib: { values: [] },
  errors: { values: ['lib'] },
  log: { values: ['lib', 'errors'] },
  http: { values: ['lib', 'errors'] },
  crypto: { values: ['lib', 'errors'] },
  'session/model': { values: ['lib', 'errors', 'crypto'], types: ['log'] },
  config: {
    values: ['lib', 'errors', 'log', 'crypto/keys.ts'],
    types: ['http', 'session/model', 'take-over/take-over.ts'],
  },
  oidc: { values: ['lib', 'errors', 'log', 'crypto'], types: ['config'] },
  'oidc/vendor': { values: ['lib', 'errors', 'oidc'], types: ['config'] },
  session: { values: [...foundation, 'session/model'], types: ['config'] },
  'session/cookie': { values: [...foundation, 'session/model', 'session'], types: ['config'] },
  'session/store': {
    values: [...foundation, 'session/model', 'session/cookie', 'session'],
    types: ['config'],
  },
  transaction: {
    values: [...foundation, 'session/model/authentication.ts', 'session/model/scope.ts'],
    types: ['config', 'session', 'session/model'],
  },
  tokens: { values: [...foundation, ...sessions], types: ['config'] },
  flows: { values: operationLayers, types: ['engine.ts'], siblings: false },
  callback: { values: operationLayers, types: ['engine.ts'] },
  routes: {
    values: ['lib', 'errors', 'log', 'http', 'callback', 'flows'],
    types: ['config', 'engine.ts', ...sessions, 'tokens', 'transaction'],
  },
  guards: { values: [...operationLayers, 'flows', 'routes'], types: ['engine.ts'] },
  proxy: { values: [...operationLayers, 'flows', 'routes', 'guards'], types: ['engine.ts'] },
  former: {
    values: [...foundation, 'oidc', 'session', 'session/model'],
    types: ['config', 'take-over/take-over.ts'],
  },
  engine: { values: [...operationLayers, 'former'] },
  root: {
    values: [
      'lib',
      'errors',
      'log',
      'http',
      'engine',
      'config',
      'flows',
      'routes',
      'guards/resource.ts',
      'proxy/proxy.ts',
    ],
    types: [...sessions, 'tokens', 'oidc', 'proxy'],
  },
  'host-client': { values: ['lib', 'errors', 'engine', 'guards', 'root'], types: ['http', 'config'] },
  'adapters/web': { values: hostLayers, types: hostTypes },
  ...Object.fromEntries(
    Object.entries(adapters).map(([name, { on }]) => [
      `adapters/${name}`,
      { values: [...hostLayers, ...on.map((base) => `adapters/${base}`), 'public'], types: hostTypes },
    ]),
  ),
  'adapters/build-time': { values: ['errors'] },
  'adapters/astro-integration': {
    values: ['errors', 'adapters/build-time'],
    types: ['config', 'adapters/web'],
  },
  'adapters/nuxt-module': {
    values: ['errors', 'adapters/build-time', 'adapters/nuxt'],
    types: ['adapters/node', ...hostTypes],
  },
  public: { values: ['errors', ...publicValues] },
  entry: { values: ['adapters/web', 'public'] },
  browser: { values: ['errors'], types: ['config', ...sessions, 'tokens'] },
  react: { values: ['errors', 'browser'], types: ['config', ...sessions, 'tokens'] },
  vue: { values: ['browser'], types: ['session/model'] },
  svelte: { values: ['browser'], types: ['session/model'] },
  solid: { values: ['browser'], types: ['session/model'] },
  nuxt: { values: ['browser'], types: ['session/model'] },
  // Of lib: what the memory store shares in a process, its bound and its clock.
  // Of session: which sessions a logout token ends, since their streams end with them.
  stores: { values: ['lib', 'errors', 'session/ended-by.ts'], types: ['config', ...sessions, 'tokens'] },
  'take-over': { values: ['lib', 'errors', 'crypto', 'session/model/claims.ts'], types: ['session/model'] },
  testing: {
    values: ['lib', 'errors', 'http', 'crypto', ...sessions, ...publicValues],
    types: ['config', 'tokens', 'engine.ts', 'adapters/web'],
  },
  'testing/browser': { values: ['browser'], types: ['session/model'] },
  // Of config: what the application under test reads, too.
  playwright: {
    values: ['lib', 'config/env.ts', 'config/secrets.ts', 'testing'],
    types: ['http', 'session/model'],
  },
  'cli/doctor': {
    values: [
      'lib',
      'errors',
      'log',
      'config',
      'crypto',
      'oidc',
      'session/model/scope.ts',
      'session/store',
      'tokens',
      'transaction',
    ],
    types: ['engine.ts'],
  },
  cli: { values: ['lib', 'errors', 'log', 'crypto', 'cli/doctor'] },
}

/** Modules at the top of the source folder, and the layer that each is. */
export const rootModules = {
  'engine.ts': 'engine',
  'operations.ts': 'root',
  'operation-options.ts': 'root',
  'mfa-client.ts': 'root',
  'session-administration.ts': 'root',
  'host-client.ts': 'host-client',
  'public.ts': 'public',
  'index.ts': 'entry',
}

/** Packages and the places that may import them; a package that is not listed is not allowed. */
export const packagePlaces = [
  { name: 'oauth4webapi', places: ['oidc/'] },
  { name: 'jose', places: ['oidc/', 'crypto/cipher.web.ts', 'take-over/open-jwe.ts'] },
  { name: 'cookie-es', places: ['http/cookie-text.ts'] },
  { name: 'react', places: ['react/'], typePlaces: ['adapters/next/'] },
  { name: 'vue', places: ['vue/'], typePlaces: ['nuxt/'] },
  { name: '#imports', places: ['nuxt/', 'adapters/nuxt-module/default-client.ts'] },
  { name: 'solid-js', places: ['solid/'] },
  ...Object.entries(adapters).flatMap(([adapter, { imports = [], importsTypes = [] }]) => [
    ...imports.map((name) => ({ name, places: [`adapters/${adapter}/`] })),
    ...importsTypes.map((name) => ({ name, places: [], typePlaces: [`adapters/${adapter}/`] })),
  ]),
  { name: '@playwright/test', places: [], typePlaces: ['playwright/'] },
  { name: 'idp-dev-provider', places: ['playwright/'] },
  { name: '#init-data', places: ['cli/init/'] },
  { name: '#cipher', places: ['crypto/'] },
  { name: '#async-context', places: ['lib/request-scope.ts'] },
  { name: 'cloudflare:', places: ['lib/async-context.workerd.ts'] },
  {
    name: 'node:',
    places: [
      'adapters/node/',
      'crypto/cipher.node.ts',
      'lib/async-context.node.ts',
      'adapters/build-time/options.ts',
      'adapters/astro-integration/integration.ts',
      'adapters/nuxt-module/module.ts',
      'cli/',
    ],
    typePlaces: ['adapters/express/', 'adapters/next/'],
  },
]

/** Entries of the package and what those of all hosts share: the only barrels, because a barrel hides what depends on what. */
export const barrels = [
  'public.ts',
  ...Object.values(entries).flatMap(({ source }) => (source.endsWith('index.ts') ? source : [])),
]
