import { expect, test } from 'vitest'
import { forbidden, phrasesInModule, phrasesInPage } from './check-words.mjs'
import { phrases } from './rules/words.mjs'

// Spelled apart, so that this file passes the check itself.
const home = ['', 'home', 'user', 'project'].join('/')
const host = ['registry', 'packages', 'example'].join('.')
const who = ['who', 'ever'].join('')
const further = ['without', 'further', 'ado'].join(' ')

test('paths of a machine and registry hosts are found with their line', () => {
  expect(forbidden('a.md', `fine\ncd ${home}\nnpm --registry https://${host}/`)).toEqual([
    'a.md:2 names an absolute path of a machine',
    'a.md:3 names a package registry',
  ])
})

test('relative paths, routes and imports are allowed', () => {
  expect(
    forbidden(
      'a.ts',
      "import '../home/item.ts'\nfetch('/auth/login')\nconst url = 'https://a.example/tmp/x'",
    ),
  ).toEqual([])
})

test('phrases are found in the prose of a page: headings, tables, links and line breaks, but not code', async () => {
  const page = [
    `# ${who} comes`,
    `Sessions are,\n${further.replace(' ', '\n')}, encrypted.`,
    `> A quote [by ${who}](a.md)`,
    '',
    '| A |\n|---|',
    `| ${who} |`,
    '',
    `\`${who}\``,
    '```sh',
    `echo ${who}`,
    '```',
  ]
  const found = await phrasesInPage('a.md', page.join('\n'))
  expect(found.map((problem) => problem.split(' ')[0])).toEqual(['a.md:1', 'a.md:3', 'a.md:5', 'a.md:9'])
  expect(found[1]).toContain('use “by default” instead')
})

test('phrases are found in comments, titles, messages, JSX and names, but not in strings of one word', () => {
  const text = [
    `/** Sessions are ${further.replaceAll(' ', '\n * ')} encrypted. */`,
    `// ${further.split(' ')[0]}`,
    `// ${further.split(' ').slice(1).join(' ')}`,
    `test('${who} comes', () => {})`,
    `const message = \`for \${name} and ${who}\``,
    `const page = <p>for ${who}</p>`,
    `import { ${who} } from './${who}.ts'`,
    `const kind = '${who}'`,
    `const ${who}Calls = toNumber(${who.toUpperCase()}_CALLS)`,
  ].join('\n')
  const found = phrasesInModule('a.tsx', text)
  expect(found.map((problem) => problem.split(' ')[0]).sort()).toEqual(
    ['a.tsx:1', 'a.tsx:4', 'a.tsx:6', 'a.tsx:7', 'a.tsx:8', 'a.tsx:9', 'a.tsx:11', 'a.tsx:11'].sort(),
  )
})

test('a comment starts with what a function does, not with a relative clause', () => {
  const starts = [
    '/** What it returns. */',
    '// Who asks.',
    '/*\n * Whose it is.\n */',
    '/** Returns what it has. */',
  ]
  expect(starts.map((comment) => phrasesInModule('a.ts', `${comment}\nf()`).length)).toEqual([1, 1, 1, 0])
})

test.each(phrases)('%s has a replacement that is not a phrase itself', (_phrase, instead) => {
  expect(phrasesInModule('a.ts', `// ${instead}`)).toEqual([])
})
