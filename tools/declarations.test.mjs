import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { codes } from '../packages/idp-client/src/errors/codes.ts'
import { remedies } from '../packages/idp-client/src/errors/remedies.ts'
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
  const { entries, folder, untyped } = packages['idp-client']
  const names = Object.keys(entries).filter((entry) => !['cli', ...untyped].includes(entry))
  expect(unexportedNames(fromRoot(`${folder}/dist`), names)).toEqual([])
})

test('[P2] declarations contain no message and no fix: rewording one changes no type', () => {
  const dist = fromRoot(`${packages['idp-client'].folder}/dist`)
  const files = readdirSync(dist, { recursive: true }).filter((path) => path.endsWith('.d.ts'))
  const text = files.map((path) => readFileSync(join(dist, path), 'utf8')).join('\n')
  const sentences = [...Object.values(codes).map(({ message }) => message), ...Object.values(remedies)]
  expect(files.length).toBeGreaterThan(30)
  expect(sentences.filter((sentence) => text.includes(sentence))).toEqual([])
  expect(text).toContain("'SESSION_TOO_LARGE'")
  // A type that is derived from a private table prints the table.
  expect(text.match(/keyof typeof \w+|\(typeof \w+\)\[\w+\]/g)).toBeNull()
})

/** The modules that a declaration file imports, and those that they import. */
function importedWith(file, seen = new Set()) {
  for (const [, specifier] of readFileSync(file, 'utf8').matchAll(/\bfrom "([^"]+)"/g)) {
    const source = specifier.startsWith('.')
      ? join(dirname(file), specifier.replace(/\.js$/, '.d.ts'))
      : specifier
    if (seen.has(source)) continue
    seen.add(source)
    if (source !== specifier) importedWith(source, seen)
  }
  return seen
}

const onNode = ['express', 'fastify', 'koa', 'nest', 'next', 'node', 'nuxt', 'nuxt-client', 'testing', 'cli']
const { entries, untyped } = packages['idp-client']
const onTheWeb = Object.keys(entries).filter((entry) => ![...onNode, ...untyped].includes(entry))

test.each(onTheWeb)('declarations of %s need no types of Node', (entry) => {
  const file = fromRoot(`${packages['idp-client'].folder}/dist/${entry}.d.ts`)
  expect([...importedWith(file)].filter((source) => source.startsWith('node:'))).toEqual([])
})
