import { adapters } from '../hosts.mjs'

/**
 * The TypeScript projects. The library has one per set of ambient types, so that a module that must
 * run everywhere cannot use what only Node or a browser has.
 */
export const projects = {
  core: { config: 'packages/idp-client/tsconfig.core.json' },
  node: { config: 'packages/idp-client/tsconfig.node.json' },
  next: { config: 'packages/idp-client/tsconfig.next.json' },
  react: { config: 'packages/idp-client/tsconfig.react.json' },
  tests: { config: 'packages/idp-client/tsconfig.json' },
  'dev-provider': { config: 'tsconfig.dev-provider.json' },
  'create-idp-app': { config: 'packages/create-idp-app/tsconfig.json' },
  e2e: { config: 'tsconfig.e2e.json' },
  example: { config: 'examples/next/tsconfig.json', nextApp: 'examples/next' },
}

const onNode = (name) => name === 'node' || adapters[name]?.on.some(onNode)
const nodeAdapters = Object.keys(adapters).filter((name) => name !== 'next' && onNode(name))
const nodeFolders = [...nodeAdapters, 'build-time', 'astro-integration', 'nuxt-module'].map(
  (name) => `src/adapters/${name}`,
)
const nodeFiles = ['src/crypto/cipher.node.ts', 'src/lib/async-context.node.ts']
const inPages = ['src/react', 'src/vue', 'src/svelte', 'src/solid', 'src/nuxt']

const withList = (text, name, paths) =>
  text.replace(
    new RegExp(`"${name}": \\[[^\\]]*\\]`),
    `"${name}": [\n    ${paths.map((path) => JSON.stringify(path)).join(',\n    ')}\n  ]`,
  )

/** The lists of the projects that follow from the hosts: `tools/generate.mjs` writes them. */
export const projectLists = {
  'packages/idp-client/tsconfig.core.json': (text) =>
    withList(text, 'exclude', [
      'src/**/*.test.ts',
      ...nodeFolders,
      'src/adapters/next',
      ...nodeFiles,
      ...inPages,
      'src/testing/adapter-contract*',
      'src/playwright',
      'src/cli',
    ]),
  'packages/idp-client/tsconfig.node.json': (text) =>
    withList(text, 'include', [
      ...[...nodeFolders, 'src/testing', 'src/playwright', 'src/cli'].map((folder) => `${folder}/**/*.ts`),
      ...nodeFiles,
      'types/*.d.ts',
    ]),
}
