import { expect, test } from 'vitest'
import { withStaticImports } from './lib/static-imports.mjs'

test('a module that is loaded on first use is imported statically, lines stay', () => {
  const text = [
    "import { a } from './a.ts'",
    "export const load = () => import('./b.ts')",
    'export async function run(): Promise<void> {',
    "  const { c, d } = await import('./c.ts')",
    "  const [e] = await Promise.all([import('./b.ts'), a(c, d)])",
    '}',
  ].join('\n')
  expect(withStaticImports('x.ts', text).split('\n')).toEqual([
    "import * as loaded0 from './b.ts'; import * as loaded1 from './c.ts';import { a } from './a.ts'",
    'export const load = () => Promise.resolve(loaded0)',
    'export async function run(): Promise<void> {',
    '  const { c, d } = await { c: loaded1.c, d: loaded1.d }',
    '  const [e] = await Promise.all([Promise.resolve(loaded0), a(c, d)])',
    '}',
  ])
})

test('packages, types and other patterns are left alone, or loaded whole', () => {
  expect(withStaticImports('x.ts', "const { d } = await import('next/headers.js')")).toBe(
    "const { d } = await import('next/headers.js')",
  )
  expect(withStaticImports('x.ts', "type A = typeof import('./a.ts')")).toBe(
    "type A = typeof import('./a.ts')",
  )
  expect(withStaticImports('x.ts', "const { d: e } = await import('./a.ts')")).toBe(
    "import * as loaded0 from './a.ts';const { d: e } = await Promise.resolve(loaded0)",
  )
})
