import { expect, test } from 'vitest'
import { withTarballs } from '../e2e/guides/guide-run.mjs'
import { readText } from './lib/files.mjs'
import {
  createRuns,
  findStale,
  guides,
  hashBlocks,
  initRuns,
  parseGuide,
  readGuide,
  readResult,
} from './lib/guides.mjs'
import { currentVersion } from './lib/versions.mjs'

const fence = (info, ...lines) => [`\`\`\`${info}`, ...lines, '```'].join('\n')

test('[O1] a guide is its whole files and the commands with a role, in the order of the page', () => {
  const text = [
    fence('sh create', 'mkdir my-app', 'cd my-app'),
    fence('js', '// file: server.mjs', 'start()'),
    fence('svelte', '<!-- file: src/App.svelte -->', '<p>', '', '</p>'),
    fence('ts variant', '// file: other.ts', 'other()'),
    fence('js', 'fragment()'),
    fence('sh', 'npm run other'),
    fence('sh development', 'npm run dev'),
  ].join('\n\n')
  expect(parseGuide(text)).toEqual([
    { role: 'create', lines: ['mkdir my-app', 'cd my-app'] },
    { path: 'server.mjs', text: 'start()\n' },
    { path: 'src/App.svelte', text: '<p>\n\n</p>\n' },
    { role: 'development', lines: ['npm run dev'] },
  ])
})

test('[O1] a misspelt role and a file that is printed twice are errors', () => {
  expect(() => parseGuide(fence('sh developement', 'npm run dev'))).toThrow('line 2: sh developement')
  const file = fence('js', '// file: a.mjs', 'a()')
  expect(() => parseGuide(`${file}\n${file}`)).toThrow('a.mjs is printed twice')
})

test('[O1] only our own packages are replaced, in commands that install them', () => {
  const tarballs = { 'idp-client': '/a.tgz', 'idp-dev-provider': '/b.tgz' }
  expect(withTarballs('npm install idp-client express', tarballs)).toBe('npm install /a.tgz express')
  expect(withTarballs('npm install --save-dev idp-dev-provider', tarballs)).toBe(
    'npm install --save-dev /b.tgz',
  )
  expect(withTarballs('npx idp-dev-provider --write .env', tarballs)).toBe(
    'npx idp-dev-provider --write .env',
  )
})

test('[O1] a page that prints something else than what ran for this version is reported', () => {
  const result = { blocks: '1', version: '1.0.0' }
  expect(findStale(result, '1', '1.0.0')).toBeNull()
  expect(findStale(result, '2', '1.0.0')).toBe('the page prints other blocks than those that ran')
  expect(findStale(result, '1', '1.0.1')).toBe('ran for version 1.0.0, not 1.0.1')
  expect(findStale(undefined, '1', '1.0.0')).toBe('no run has passed')
})

test.each([
  ...Object.keys(guides).map((name) => [name, name]),
  ...Object.entries({ ...initRuns, ...createRuns }),
])('[O1] the run %s was one of what the guide prints, for this version: npm run test:guides', (run, name) => {
  expect(findStale(readResult(run), hashBlocks(readGuide(name)), currentVersion())).toBeNull()
})

test.each(Object.keys(guides))(
  '[O1] the guide of %s installs, and runs in development and in production',
  (name) => {
    const printed = readGuide(name).flatMap(({ role }) => role ?? [])
    expect(printed).toEqual(
      expect.arrayContaining(['create', 'install', 'check', 'development', 'production']),
    )
    const providers = readGuide(name).filter(({ role }) => role === 'provider')
    expect(providers.map(({ lines }) => lines.at(-1))).toEqual([
      expect.stringMatching(/^npx idp-dev-provider --app http:\/\/localhost:3000 --write \.env/),
      expect.stringMatching(/^npx idp-dev-provider --app http:\/\/localhost:3000 --https --write \.env/),
    ])
  },
)

test.each(Object.keys(guides).filter((name) => guides[name].action))(
  '[O2] the page of %s says that what a form calls is an endpoint of its own',
  (name) => {
    const page = readText(guides[name].page ?? `docs/guides/hosts/${name}.md`)
    expect(page.replace(/\s+/g, ' ')).toMatch(/(?:action|function|handler).{0,60} is an endpoint of its own/i)
  },
)
