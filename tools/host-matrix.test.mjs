import { expect, test } from 'vitest'
import { toExampleName } from './lib/host-install.mjs'
import {
  adapterFolder,
  adapterLines,
  countCodeLines,
  countUserLines,
  exampleLines,
  toMatrix,
} from './lib/host-matrix.mjs'
import { hosts } from './lib/hosts.mjs'

test('code lines have neither comments nor empty lines', () => {
  expect(countCodeLines('/**\n * A comment.\n */\nconst a = 1\n\n// why\nconst b = 2 // why\n')).toBe(2)
})

test('the matrix has a row for each host, with its versions and results', () => {
  const result = { direct: '34/34', proxy: '33/34', unconfigured: '2/2', browser: 'passed' }
  const page = toMatrix({ koa: { ...result, versions: { koa: '3.3.0' } } })
  expect(page).toMatch(
    /\| \[Koa.*\]\(\.\.\/guides\/hosts\/koa\.md\) \| `idp-client\/koa` \| koa 3\.3\.0 \| none needed \| 34\/34 \| 33\/34 \| 2\/2 \| passed \| \d+ \+ \d+ \|/,
  )
})

test('other versions of a framework have a table of their own', () => {
  const result = { direct: '34/34', versions: { 'react-router': '8.4.0', 'Node.js': '22.23.3' } }
  const [before, after] = toMatrix({ 'react-router-8': result }).split('## Other versions')
  expect(before).not.toContain('React Router 8')
  expect(after).toContain(
    '| [React Router 8](../guides/hosts/react-router.md) | react-router 8.4.0, Node.js 22.23.3 | 34/34 |',
  )
})

const folders = new Set(Object.values(hosts).map(adapterFolder))

test.each([...folders])('the client of %s has at most 70 code lines', (folder) => {
  expect(adapterLines(folder).client).toBeLessThanOrEqual(70)
})

test('users write pages and modules, but of files of the starter only the lines that name the client', () => {
  const text =
    "import { a } from 'framework'\nimport { idp } from './idp'\n\nexport default { a, idp }\nexport { a }\n"
  expect(countUserLines('examples/a/src/routes/index.tsx', text)).toBe(4)
  expect(countUserLines('examples/a/src/entry-server.tsx', text)).toBe(2)
})

const examples = new Set(Object.keys(hosts).map(toExampleName))

test.each([...examples])('the example of %s has at most 80 lines that a user writes', (name) => {
  const lines = exampleLines(name)
  expect(lines).toBeGreaterThan(0)
  expect(lines).toBeLessThanOrEqual(80)
})
