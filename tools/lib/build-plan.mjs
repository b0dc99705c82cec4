import { entries, entriesOf } from '../rules/entries.mjs'

const plain = {
  entries: { index: 'index.ts', cli: 'cli.ts' },
  separate: {},
  external: [],
  generated: [],
  untyped: [],
  exportedByHosts: {},
}

/**
 * The files of each package. `entries` share chunks: what all `hosts` load is one file, and so is what the `leanEntries`
 * take of it. `separate` files are chosen by the `imports` map of the package at run time and therefore stay files of
 * their own. `untyped` ones are imported by generated code only and have no declarations, `generated` are the modules that
 * the build makes of the pages, `exportedByHosts` the declarations that every host exports with `*`.
 */
export const packages = {
  'dev-provider': {
    ...plain,
    folder: 'packages/dev-provider',
    types: 'tsconfig.dev-provider.build.json',
    inputs: [
      'packages/dev-provider/package.json',
      'tsconfig.dev-provider.json',
      'tsconfig.dev-provider.build.json',
    ],
  },
  'idp-client': {
    ...plain,
    folder: 'packages/idp-client',
    entries: Object.fromEntries(Object.entries(entries).map(([name, { source }]) => [name, source])),
    separate: {
      'cipher.node': 'crypto/cipher.node.ts',
      'cipher.web': 'crypto/cipher.web.ts',
      'async-context.node': 'lib/async-context.node.ts',
      'async-context.web': 'lib/async-context.web.ts',
      'async-context.workerd': 'lib/async-context.workerd.ts',
    },
    external: ['#cipher', '#async-context', '#imports', 'astro:actions', 'cloudflare:workers'],
    generated: ['#init-data'],
    untyped: Object.keys(entries).filter((name) => entries[name].untyped),
    hosts: entriesOf('host'),
    exportedByHosts: { 'shared/public': 'public.ts' },
    leanEntries: entriesOf('browser', 'store'),
    types: 'packages/idp-client/tsconfig.build.json',
    inputs: [
      'packages/idp-client/package.json',
      'packages/idp-client/tsconfig.build.json',
      'packages/idp-client/tsconfig.next.json',
    ],
  },
  'create-idp-app': {
    ...plain,
    folder: 'packages/create-idp-app',
    generated: ['#starters'],
    types: 'packages/create-idp-app/tsconfig.build.json',
    inputs: [
      'packages/create-idp-app/package.json',
      'packages/create-idp-app/tsconfig.json',
      'packages/create-idp-app/tsconfig.build.json',
    ],
  },
}
