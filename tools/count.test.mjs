import { expect, test } from 'vitest'
import { countLines } from './count.mjs'

test('comments and empty lines do not count, a function is what its body holds', () => {
  const text = [
    '#!/usr/bin/env node',
    '/**',
    ' * A comment.',
    ' */',
    "const a = 'https://a.example' // why",
    '',
    'export function f(): void {',
    '  // why',
    '  a()',
    '}',
    'const g = (b: string) =>',
    '  // why',
    '  b',
    'function h(): void {}',
  ].join('\n')
  expect(countLines('a.ts', text)).toEqual({ lines: 7, functions: [1, 1, 0] })
})
