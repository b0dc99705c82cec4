import { expect, test } from 'vitest'
import { findExample, findSnippets, located, misquoted } from './check-docs.mjs'
import { findAnchors, findLinks, findSection, parseFences, parseSteps } from './lib/markdown.mjs'

const fence = (info, ...lines) => [`\`\`\`${info}`, ...lines, '```'].join('\n')

test('fences keep their code, their position and their nesting', () => {
  const text = [
    '# Title',
    '',
    fence('ts', 'const a = 1', '', 'use(a)'),
    '',
    '  ```sh',
    '  npm test',
    '  ```',
  ].join('\n')
  expect(parseFences(text)).toEqual([
    { language: 'ts', info: '', line: 4, code: 'const a = 1\n\nuse(a)' },
    { language: 'sh', info: '', line: 10, code: 'npm test' },
  ])
  expect(parseFences(['````md', fence('ts', 'x'), '````'].join('\n'))).toHaveLength(1)
})

test('named snippets become files, a second one of the same name a variant', () => {
  const text = [
    fence('ts', '// file: lib/idp.ts', 'export const idp = 1'),
    fence('ts', '// file: lib/idp.ts', 'export const idp = 2'),
    fence('tsx', 'const a = 1'),
    fence('sh', 'npm test'),
  ].join('\n')
  const { files, problems } = findSnippets('a.md', text)
  expect(files.map((file) => file.path)).toEqual(['lib/idp.ts', 'lib/idp.line-6.ts', 'snippet-10.tsx'])
  expect(files[2].text).toBe('const a = 1\nexport {}\n')
  expect(problems).toEqual([])
})

test('a continued snippet belongs to the one before it, and keeps its position', () => {
  const text = [fence('ts', 'const a = 1'), 'prose', fence('ts continued', 'use(a)')].join('\n')
  const { files } = findSnippets('a.md', text)
  expect(files).toEqual([{ path: 'snippet-2.ts', text: 'const a = 1\nuse(a)\nexport {}\n', lines: [2, 6] }])
})

test('an unchecked snippet requires a reason', () => {
  expect(findSnippets('a.md', fence('ts no-check', 'x')).problems).toHaveLength(1)
  expect(findSnippets('a.md', fence('ts no-check="a grammar, not a program"', 'x')).problems).toEqual([])
})

test('compiler messages point into the page', () => {
  const files = [{ path: 'app/page.tsx', text: '', lines: [20, 21, 22] }]
  expect(
    located([{ page: 'a.md', files }], "a-md/app/page.tsx(3,5): error TS2304: Cannot find name 'x'.\n"),
  ).toEqual(["a.md:22 error TS2304: Cannot find name 'x'."])
})

test('links and anchors are parsed like a renderer does', () => {
  const text = [
    '# Sign in, *fast*',
    '## Sign in, fast',
    '[a](./b.md#c "t") `[no](x.md)`',
    fence('md', '[no](y.md)'),
    '![i](z.png)',
  ].join('\n')
  expect(findLinks(text).map((link) => link.to)).toEqual(['./b.md#c', 'z.png'])
  expect(findAnchors(text)).toEqual(['sign-in-fast', 'sign-in-fast-1'])
})

test('a section ends at the next heading of its level, and lists its steps in order', () => {
  const text = [
    '# Page',
    '## One',
    fence('sh', '# a comment, no heading', 'npm test'),
    '### Inside',
    fence('ts', '// file: a.ts', 'export const a = 1'),
    fence('ts', 'const unnamed = 1'),
    '## Two',
    fence('sh', 'npm start'),
  ].join('\n')
  expect(parseSteps(findSection(text, 'One'))).toEqual([
    { kind: 'run', commands: '# a comment, no heading\nnpm test' },
    { kind: 'file', path: 'a.ts', text: '// file: a.ts\nexport const a = 1\n' },
  ])
  expect(parseSteps(findSection(text, 'Two'))).toHaveLength(1)
  expect(() => findSection(text, 'Three')).toThrow('Three')
})

test('a snippet that names a file of an example is a part of that file', () => {
  const text = [
    fence('ts', '// file: a.ts', 'two()', 'three()'),
    fence('html', '<!-- file: b.html -->', '<p>'),
  ].join('\n')
  const files = { 'a.ts': 'one()\ntwo()\nthree()\n', 'b.html': '<b>\n' }
  const page = 'docs/guides/hosts/x.md'
  expect(misquoted(page, text, (path) => files[path])).toEqual([
    `${page}:7 differs from b.html of the example`,
  ])
  expect(misquoted(page, text, () => null)).toHaveLength(2)
  expect(findExample('docs/guides/hosts/react-router.md')).toBe('react-router')
  expect(findExample('docs/guides/quick-start.md')).toBeUndefined()
})

test('on other pages only files below examples/ are those of an example', () => {
  const text = [
    fence('ts', '// file: lib/idp.ts', 'one()'),
    fence('js', '// file: examples/x/a.mjs', 'two()'),
  ].join('\n')
  expect(misquoted('docs/guides/x.md', text, () => 'two()\n')).toEqual([])
  expect(misquoted('docs/guides/x.md', text, () => 'three()\n')).toEqual([
    'docs/guides/x.md:6 differs from examples/x/a.mjs of the example',
  ])
})

test('[O1] a file of a guide is the whole file of the example, or one that the example does not have', () => {
  const text = [
    fence('js', '// file: a.mjs', 'one()'),
    fence('js variant', '// file: a.mjs', 'two()'),
    fence('js', '// file: b.mjs', 'three()'),
  ].join('\n')
  const guide = 'docs/guides/hosts/express.md'
  const toProblems = (files) => misquoted(guide, text, (path) => files[path] ?? null)
  expect(toProblems({ 'a.mjs': 'one()\ntwo()\n' })).toEqual([`${guide}:2 differs from a.mjs of the example`])
  expect(toProblems({ 'a.mjs': 'one()\n' })).toEqual([`${guide}:6 differs from a.mjs of the example`])
})
