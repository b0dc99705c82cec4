/** What package entries hand on as it is: symbols of options, claim filters, making of keys. */
const publicValues = ['config/options.ts', 'crypto/keys.ts', 'session/claims.ts']

/**
 * What each folder of packages/idp-client/src may import. `values` may be imported for use at run
 * time and as types; `types` only by `import type`. A folder may always import itself, except that
 * flows may not import each other. A path longer than a folder allows that one file.
 */
export const layers = {
  lib: { values: [] },
  errors: { values: ['lib'] },
  log: { values: ['lib', 'errors'] },
  http: { values: ['lib', 'errors'] },
  crypto: { values: ['lib', 'errors'] },
  config: {
    values: ['lib', 'errors', 'log', 'crypto/keys.ts'],
    types: ['http', 'session', 'tokens'],
  },
  oidc: { values: ['lib', 'errors', 'log', 'crypto'], types: ['config'] },
  session: { values: ['lib', 'errors', 'log', 'http', 'crypto', 'tokens'], types: ['config'] },
  transaction: {
    values: ['lib', 'errors', 'log', 'http', 'crypto', 'tokens/scope.ts'],
    types: ['config', 'session'],
  },
  tokens: { values: ['lib', 'errors', 'log', 'http', 'crypto', 'session'], types: ['config'] },
  flows: {
    values: ['lib', 'errors', 'log', 'http', 'crypto', 'config', 'oidc', 'session', 'transaction', 'tokens'],
    types: ['engine.ts'],
    siblings: false,
  },
  routes: {
    values: ['lib', 'errors', 'log', 'http', 'flows'],
    types: ['config', 'engine.ts', 'session', 'tokens', 'transaction'],
  },
  root: {
    values: [
      'lib',
      'errors',
      'log',
      'http',
      'crypto',
      'config',
      'oidc',
      'session',
      'transaction',
      'tokens',
      'flows',
      'routes',
      'adapters/web',
    ],
  },
  'adapters/web': {
    values: ['lib', 'errors', 'log', 'http', 'root', 'routes', 'flows'],
    types: ['config', 'session', 'tokens'],
  },
  'adapters/node': {
    values: ['lib', 'errors', 'log', 'http', 'root', 'routes', 'flows'],
    types: ['config', 'session', 'tokens'],
  },
  'adapters/express': {
    values: ['lib', 'errors', 'log', 'http', 'root', 'routes', 'flows', 'adapters/node', ...publicValues],
    types: ['config', 'session', 'tokens'],
  },
  'adapters/next': {
    values: [
      'lib',
      'errors',
      'log',
      'http',
      'root',
      'routes',
      'flows',
      'adapters/web',
      'adapters/node',
      ...publicValues,
    ],
    types: ['config', 'session', 'tokens'],
  },
  browser: { values: ['errors'], types: ['config', 'session', 'tokens'] },
  react: { values: ['errors', 'browser'], types: ['config', 'session', 'tokens'] },
  // Of lib: what the memory store shares in a process, its bound and its clock.
  stores: { values: ['lib', 'errors'], types: ['config', 'session', 'tokens'] },
  testing: {
    values: ['lib', 'errors', 'http', 'crypto', 'session', ...publicValues],
    types: ['config', 'tokens', 'engine.ts', 'adapters/web'],
  },
  cli: { values: ['lib', 'errors', 'log', 'crypto'] },
}

/** Modules at the top of the source folder: the package entry and the composition. */
export const rootModules = ['index.ts', 'engine.ts', 'binding.ts', 'operations.ts', 'mfa-client.ts']

/** Packages and the places that may import them; a package that is not listed is not allowed. */
export const packagePlaces = [
  { name: 'oauth4webapi', places: ['oidc/'] },
  { name: 'jose', places: ['crypto/', 'oidc/', 'testing/'] },
  { name: 'cookie', places: ['http/cookie-text.ts'] },
  { name: 'next', places: ['adapters/next/'] },
  { name: 'react', places: ['react/'], typePlaces: ['adapters/next/'] },
  { name: 'express', places: [], typePlaces: ['adapters/express/'] },
  { name: '#cipher', places: ['crypto/'] },
  { name: '#async-context', places: ['lib/request-scope.ts'] },
  {
    name: 'node:',
    places: ['adapters/node/', 'crypto/cipher.node.ts', 'lib/async-context.node.ts', 'cli/'],
    typePlaces: ['adapters/express/', 'adapters/next/'],
  },
]

/** Entries of the package: the only `index.ts` files, because a barrel hides what depends on what. */
export const entries = [
  'index.ts',
  'adapters/next/index.ts',
  'adapters/express/index.ts',
  'browser/index.ts',
  'react/index.ts',
  'errors/index.ts',
  'testing/index.ts',
  'cli/index.ts',
]
