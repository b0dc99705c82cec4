import { describe, expect, test } from 'vitest'
import { fc } from '../../../test/support/fast-check.ts'
import { applyEdits, blank, literalString, splitList } from './code.ts'

describe('blank', () => {
  test.each([
    ["const a = 'x'", "const a = ' '"],
    ["a // it's\nb", 'a        \nb'],
    ['a /* b\nc */ d', 'a     \n     d'],
    [`\`a \${b(\`c\`)} d\` + e`, `\`  \${b(\` \`)}  \` + e`],
    ["'\\'' + a", "'  ' + a"],
    ['/["/]\\//.test(a)', '/      /.test(a)'],
    ['a / b / c', 'a / b / c'],
    ["<p>Don't {user} it's</p>", "<p>Don't {user} it's</p>"],
    ['{ a: { b: `}` } }', '{ a: { b: ` ` } }'],
  ])('%s', (text, code) => {
    expect(blank(text)).toBe(code)
  })

  test('keeps the length and the lines of every text', () => {
    const part = fc.constantFrom('`', '${', '}', '{', "'", '"', '//', '/*', '*/', '\n', 'a', '/', '\\', ' ')
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
        const text = parts.join('')
        const code = blank(text)
        expect(code).toHaveLength(text.length)
        expect(code.split('\n').map((line) => line.length)).toEqual(
          text.split('\n').map((line) => line.length),
        )
      }),
    )
  })
})

test('lists are split at commas outside of brackets, strings and comments', () => {
  expect(splitList("a, b(c, d), 'e, f', { g, h } /* , */, i")).toEqual([
    'a',
    ' b(c, d)',
    " 'e, f'",
    ' { g, h } /* , */',
    ' i',
  ])
})

test('literals are strings without escapes', () => {
  expect(["'a'", ' "b" ', '`c`', `\`\${d}\``, 'e', "'f' + g"].map(literalString)).toEqual([
    'a',
    'b',
    'c',
    undefined,
    undefined,
    undefined,
  ])
})

test('edits are applied at the offsets of the original text', () => {
  const edits = [
    { start: 0, end: 1, text: 'long' },
    { start: 2, end: 2, text: '+' },
  ]
  expect(applyEdits('abc', edits)).toBe('longb+c')
})
