import { expect, test } from 'vitest'
import { packages } from './lib/build-plan.mjs'
import { nodeSpecifiers } from './lib/declarations.mjs'
import { fromRoot } from './lib/run.mjs'
import { unexportedNames } from './lib/unexported-names.mjs'

test('relative specifiers of declarations end in .js, nothing else changes', () => {
  const text = [
    "export { IdpClient } from './client.ts';",
    "import type { A } from '../react/provider.tsx';",
    "import '../effects.ts';",
    'export declare const lazy: Promise<typeof import("./next.ts")>;',
    "export * from 'some-package/file.ts';",
    "export declare const name = './client.ts';",
  ].join('\n')
  expect(nodeSpecifiers(text).split('\n')).toEqual([
    "export { IdpClient } from './client.js';",
    "import type { A } from '../react/provider.js';",
    "import '../effects.js';",
    'export declare const lazy: Promise<typeof import("./next.js")>;',
    "export * from 'some-package/file.ts';",
    "export declare const name = './client.ts';",
  ])
})

test('every name that editors show on hover is exported', () => {
  const { entries, folder } = packages['idp-client']
  const names = Object.keys(entries).filter((entry) => entry !== 'cli')
  expect(unexportedNames(fromRoot(`${folder}/dist`), names)).toEqual([])
})
