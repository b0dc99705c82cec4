import { expect, test } from 'vitest'
import { nodeSpecifiers } from './lib/declarations.mjs'

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
