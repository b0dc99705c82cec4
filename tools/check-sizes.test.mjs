import { describe, expect, test } from 'vitest'
import { codeLines, oversized } from './check-sizes.mjs'
import { functionsOf } from './lib/functions.mjs'
import { limits } from './rules/sizes.mjs'

const statements = (count) => Array.from({ length: count }, (_, index) => `  call(${index})`).join('\n')

describe('code lines', () => {
  test('comments and empty lines do not count', () => {
    expect(codeLines('// a\n\n/* b\n c */\nconst d = 1 // e\n')).toBe(1)
  })

  test('comment marks in strings, templates and regular expressions are code', () => {
    const text = [
      "const a = '// no'",
      'const b = `/* $1 no',
      '*/`',
      'const c = /[/*]/',
      'const d = 4 / 2',
    ].join('\n')
    expect(codeLines(text)).toBe(5)
  })
})

describe('functions', () => {
  test('every form is found with its name; control blocks and objects are not', () => {
    const text = [
      'function plain(a: { b: string }): Promise<void> {\n  if (a) {\n  }\n}',
      'export const arrow = async (a: string): Promise<number> => {\n  return 1\n}',
      'class A {\n  #secret(a = {}) {\n    for (const b of c) {\n    }\n  }\n}',
      'const object = { a: 1 }',
    ].join('\n')
    expect(functionsOf(text).map(({ name, lines }) => [name, lines])).toEqual([
      ['plain', 4],
      ['arrow', 3],
      ['#secret', 4],
    ])
  })
})

describe('limits', () => {
  test('a function and a file above the limit are named, at the limit they are not', () => {
    const long = `function long() {\n${statements(limits.function - 1)}\n}\n`
    expect(oversized('packages/a.ts', long)).toEqual([
      { path: 'packages/a.ts', name: 'long', line: 1, lines: limits.function + 1, limit: limits.function },
    ])
    expect(oversized('packages/a.ts', `function fits() {\n${statements(limits.function - 2)}\n}\n`)).toEqual(
      [],
    )
    expect(oversized('packages/a.ts', statements(limits.file))).toEqual([])
    expect(oversized('packages/a.ts', statements(limits.file + 1))).toHaveLength(1)
  })

  test('a test file may be longer', () => {
    expect(oversized('packages/a.test.ts', statements(limits.file + 1))).toEqual([])
    expect(oversized('packages/a.test.ts', statements(limits.test + 1))).toHaveLength(1)
  })
})
