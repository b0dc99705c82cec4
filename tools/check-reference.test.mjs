import { existsSync, readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  codeProblems,
  errorProblems,
  eventProblems,
  limitProblems,
  optionProblems,
  routeProblems,
  variableProblems,
} from './check-reference.mjs'
import { readJson, readText } from './lib/files.mjs'
import { loadSource, parseRows } from './lib/reference.mjs'
import { fromRoot } from './lib/run.mjs'

const source = await loadSource()
const page = (name) => readText(`docs/reference/${name}.md`)
const log = readText('packages/idp-client/src/log/log.ts')

describe('a table of the documentation', () => {
  test('rows have their line and the headings of their columns', () => {
    const text = 'x\n| A | B |\n|---|---|\n| 1 | `a \\| b` |\n\n| C |\n|---|\n| 2 |\n'
    expect(parseRows(text)).toEqual([
      { line: 4, cells: { A: '1', B: '`a \\| b`' } },
      { line: 8, cells: { C: '2' } },
    ])
  })
})

describe('options', () => {
  test('the page is up to date', () => expect(optionProblems(page('options'), source)).toEqual([]))

  test('an option that is missing, unknown, or has another default, variable or text is found', () => {
    const stale = [expect.stringContaining('options.md is not up to date')]
    for (const other of [
      page('options').replace(/^\| `httpTimeout`.*\n/m, ''),
      page('options').replace('| `httpTimeout`', '| `timeout`'),
      page('options').replace('| `5000` |', '| `4000` |'),
      page('options').replace('`/auth/login`', '`/login`'),
      page('options').replace('`IDP_DOMAIN` |', '`IDP_ISSUER` |'),
      page('options').replace('Client secret.', 'A secret.'),
    ]) {
      expect(other).not.toBe(page('options'))
      expect(optionProblems(other, source)).toEqual(stale)
    }
  })

  test('an option whose docstring is missing, or has another default or variable, is found', () => {
    const withRow = (path, row) =>
      optionProblems(page('options'), { optionRows: { ...source.optionRows, [path]: row } })
    expect(withRow('httpTimeout', { ...source.optionRows.httpTimeout, default: 7 })).toEqual([
      expect.stringContaining('write "@default 7" in the docstring of httpTimeout'),
    ])
    expect(withRow('domain', { kind: 'string', variable: 'IDP_ISSUER' })).toEqual([
      expect.stringContaining('the docstring of domain names the variable IDP_DOMAIN'),
    ])
    expect(withRow('added', { kind: 'string' })).toEqual([expect.stringContaining('added has no docstring')])
  })

  test('a table that begins out of order is found', () => {
    const swapped = page('options').replace('Options from `secret`', 'Options from `domain`')
    expect(optionProblems(swapped, source)).toEqual([expect.stringContaining('in the order of')])
  })
})

describe('variables', () => {
  const check = (text) => variableProblems(text, source)

  test('the page is up to date', () => expect(check(page('env'))).toEqual([]))

  test('a variable that is missing, belongs to another option, or has another kind of value is found', () => {
    expect(check(page('env').replace(/^\| `IDP_DOMAIN`.*\n/m, ''))).toContainEqual(
      expect.stringContaining('lacks variable IDP_DOMAIN'),
    )
    expect(
      check(page('env').replace('| `IDP_CLIENT_ID` | `clientId`', '| `IDP_CLIENT_ID` | `secret`')),
    ).toEqual([
      expect.stringContaining('lacks pair IDP_CLIENT_ID clientId'),
      expect.stringContaining('names pair IDP_CLIENT_ID secret'),
    ])
    expect(check(page('env').replace('`mfaTokenTtl` | seconds', '`mfaTokenTtl` | minutes'))).toEqual([
      expect.stringContaining('the value is seconds'),
    ])
  })
})

describe('routes, codes, events, limits', () => {
  test('[S156] the table of routes is up to date; another method or path is found', () => {
    expect(routeProblems(page('routes'), source)).toEqual([])
    expect(routeProblems(page('routes').replace('GET, POST', 'GET'), source)).toHaveLength(2)
    expect(routeProblems(page('routes').replace('`/auth/profile`', '`/me`'), source)).toHaveLength(2)
  })

  test('every code is on the page about errors, with its status', () => {
    expect(errorProblems(page('errors'), source)).toEqual([])
    expect(errorProblems(`${page('errors')}x`, source)).toEqual([expect.stringContaining('not up to date')])
    for (const [code, { status }] of Object.entries(source.codes)) {
      expect(page('errors')).toContain(`| \`${code}\` | ${status} |`)
    }
    const renamed = { NEW_FAMILY: { class: 'NewError', message: '', advice: '', status: 500 } }
    expect(errorProblems('', { codes: renamed })).toEqual([expect.stringContaining('NewError')])
  })

  test('a code that does not exist is found, snippets are ignored', () => {
    const known = new Set(['MISSING_STATE'])
    expect(codeProblems('p', '`MISSING_STATE` `no`\n```ts\nconst A_B = `C_D`\n```\n', known)).toEqual([])
    expect(codeProblems('p', 'see `MISING_STATE`', known)).toEqual([
      'p names MISING_STATE, which does not exist',
    ])
  })

  test('[S242] every event is documented, with existing properties', () => {
    expect(eventProblems(page('events'), log)).toEqual([])
    expect(eventProblems(page('events').replace('| `LOGOUT`', '| `LOGGED_OUT`'), log)).toHaveLength(2)
    expect(eventProblems(page('events').replace('`cookies` |', '`names` |'), log)).toEqual([
      expect.stringContaining('names'),
    ])
  })

  test('[S258] limits are those of options and constants', () => {
    const read = (file) => readText(`packages/idp-client/src/${file}`)
    expect(limitProblems(page('limits'), source, read)).toEqual([])
    expect(limitProblems(page('limits').replace('6400 bytes', '8000 bytes'), source, read)).toEqual([
      expect.stringContaining('the value is 6400'),
    ])
    expect(limitProblems(page('limits').replace('3500 bytes', '3400 bytes'), source, read)).toEqual([
      expect.stringContaining('the value is 3500'),
    ])
    const renamed = page('limits').replace('`MAX_TRANSACTIONS_BYTES`', '`SUM_BYTES`')
    expect(limitProblems(renamed, source, read)).toEqual([expect.stringContaining('sets no number')])
  })
})

test('[S259] the release policy names the versions that the packages require', () => {
  const policy = readText('docs/release-policy.md')
  const { version, engines, peerDependencies } = readJson('packages/idp-client/package.json')
  expect(peerDependencies).toMatchObject({ express: '*', next: '*', react: '*' })
  expect(new Set(Object.values(peerDependencies))).toEqual(new Set(['*']))
  expect(version).toMatch(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/)
  expect(policy).toContain('Semantic Versioning')
  expect(policy).toContain(`| Node.js | ${engines.node.replace('>=', '')} and newer`)
  const manifests = readdirSync(fromRoot('e2e/consumers'))
    .map((folder) => `e2e/consumers/${folder}/package.json`)
    .filter((file) => existsSync(fromRoot(file)))
    .map((file) => Object.entries(readJson(file).dependencies ?? {}))
  /** Major versions that consumers install, an alias such as `npm:express@5.3.0` included. */
  const toMajors = (peer) =>
    manifests.flat().flatMap(([name, version]) => {
      const [, aliased = name, major] = /^(?:npm:(.*)@)?(\d+)\./.exec(version) ?? []
      return aliased === peer ? [major] : []
    })
  const line = (name) => policy.split('\n').find((row) => row.startsWith(`| ${name} |`)) ?? ''
  for (const [name, peer] of [
    ['Next.js', 'next'],
    ['Express', 'express'],
    ['React', 'react'],
  ]) {
    const majors = new Set(toMajors(peer))
    expect(majors.size).toBeGreaterThan(1)
    for (const major of majors) expect(line(name)).toMatch(new RegExp(`\\b${major}\\b`))
  }
  for (const topic of ['## Session cookies', '## Deprecations', 'breaking']) expect(policy).toContain(topic)
})
