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
  e2e: { config: 'tsconfig.e2e.json' },
  example: { config: 'examples/next/tsconfig.json', nextApp: 'examples/next' },
}
