import { existsSync, readdirSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { contrasts } from '../e2e/migration/contrasts.mjs'
import { migrations } from '../e2e/migration/migrations.mjs'
import { llmsPage, pages, unknownNames } from './generate.mjs'
import { filesBelow, readJson, readText } from './lib/files.mjs'
import { migrationPage } from './lib/migration-diff.mjs'
import { findProofs, proofsPage } from './lib/proofs.mjs'
import { loadSource } from './lib/reference.mjs'
import { fromRoot } from './lib/run.mjs'
import { parseRows } from './lib/tables.mjs'

const reference = (name) => `docs/reference/${name}.md`

let source
beforeAll(async () => {
  source = await loadSource()
})

/** The text that a page gets if a part of it is replaced. */
const generate = (path, part, replacement, from = source) => {
  const text = readText(path)
  const changed = text.replace(part, replacement)
  expect(changed).not.toBe(text)
  return pages[path](changed, from)
}

test('rows have their cells by the headings of the columns', () => {
  const text = 'x\n| A | B |\n|---|---|\n| 1 | `a \\| b` |\n\n| C |\n|---|\n| 2 |\n'
  expect(parseRows(text)).toEqual([{ A: '1', B: '`a \\| b`' }, { C: '2' }])
})

describe('[S156] [S242] [S258] a part of a page that differs from the source is written again', () => {
  test.each([
    [reference('options'), /^\| `httpTimeout`.*\n/m, ''],
    [reference('options'), '| `httpTimeout`', '| `timeout`'],
    [reference('options'), '| `5000` |', '| `4000` |'],
    [reference('options'), '`IDP_DOMAIN` |', '`IDP_ISSUER` |'],
    [reference('options'), 'Client secret.', 'A secret.'],
    [reference('env'), '| `IDP_CLIENT_ID` | `clientId`', '| `IDP_CLIENT_ID` | `secret`'],
    [reference('env'), /^\| `IDP_RETRY_JITTER`.*\n/m, ''],
    [reference('env'), '`mfaTokenTtl` | seconds', '`mfaTokenTtl` | minutes'],
    [reference('routes'), 'GET, POST', 'GET'],
    [reference('routes'), '`/auth/profile`', '`/me`'],
    [reference('errors'), '| `MISSING_SESSION` | 401', '| `MISSING_SESSION` | 400'],
    [reference('limits'), '6400 bytes', '8000 bytes'],
    [reference('limits'), '3500 bytes', '3400 bytes'],
    ['docs/guides/troubleshooting.md', /^\| `INTERNAL_ERROR`.*\n/m, ''],
    [reference('conformance-plans'), 'refuses: `MISSING_STATE`', 'succeeds'],
    [reference('conformance-plans'), /^.*-invalid-missing-aud-test`.*\n/m, ''],
    ['llms.txt', '- [Quick start]', '- [Start]'],
  ])('%s: %s', (path, part, replacement) => {
    expect(generate(path, part, replacement)).toBe(readText(path))
  })
})

describe('[S156] [S242] [S258] what a generator cannot write is an error', () => {
  test.each([
    [reference('options'), 'Options from `secret`', 'Options from `domain`', 'in the order of'],
    [reference('env'), /^\| `NODE_ENV`.*\n/m, '', 'lacks NODE_ENV'],
    [reference('env'), '`IDP_DOMAIN`', '`IDP_CLIENT_ID`', 'names IDP_CLIENT_ID twice'],
    [reference('events'), '| `LOGOUT`', '| `LOGGED_OUT`', 'names LOGGED_OUT, which does not exist'],
    [reference('events'), '`cookies` |', '`names` |', 'the property names'],
    [reference('limits'), '`MAX_TRANSACTIONS_BYTES`', '`SUM_BYTES`', 'sets no number'],
    ['docs/guides/troubleshooting.md', '(`CLOCKS_DIFFER`)', '(clocks)', 'no section for CLOCKS_DIFFER'],
  ])('%s: %s', (path, part, replacement, message) => {
    expect(() => generate(path, part, replacement)).toThrow(message)
  })

  test('an option whose docstring is missing, or has another default or variable', () => {
    const withRow = (path, row) => () =>
      pages[reference('options')](readText(reference('options')), {
        optionRows: { ...source.optionRows, [path]: row },
      })
    expect(withRow('httpTimeout', { ...source.optionRows.httpTimeout, default: 7 })).toThrow(
      'write "@default 7"',
    )
    expect(withRow('domain', { kind: 'string', variable: 'IDP_ISSUER' })).toThrow('the variable IDP_DOMAIN')
    expect(withRow('added', { kind: 'string' })).toThrow('added has no docstring')
  })

  test('an error class without a docstring', () => {
    const codes = { NEW_FAMILY: { class: 'NewError', message: '', advice: '', status: 500 } }
    expect(() => pages[reference('errors')]('', { ...source, codes })).toThrow('NewError')
  })

  test('a page that docs/README.md does not name', () => {
    expect(() =>
      llmsPage('', readText('docs/README.md').replaceAll('](faq.md)', '](guides/dpop.md)')),
    ).toThrow('docs/faq.md')
  })
})

test('a code that does not exist is found, snippets are ignored', () => {
  const known = new Set(['MISSING_STATE'])
  expect(unknownNames('`MISSING_STATE` `no`\n```ts\nconst A_B = `C_D`\n```\n', known)).toEqual([])
  expect(unknownNames('see `MISING_STATE`', known)).toEqual(['MISING_STATE'])
})

describe('proofs of requirements', () => {
  // Written apart, so that this file proves none of them.
  const tag = (ids) => `test('[${ids}] logs in', () => {})`
  const proofs = findProofs({ 'a.test.ts': tag('S001, J3'), 'b.test.ts': tag('S001') + tag('S0021') })
  const table = (...ids) =>
    ['| ID | Requirement | Proof |', '|---|---|---|', ...ids.map((id) => `| ${id} | a \\| b | x |`)].join(
      '\n',
    )
  const proofOf = (...ids) => parseRows(proofsPage(table(...ids), { proofs })).map(({ Proof }) => Proof)

  test('are the test files with the whole id in a tag', () => {
    expect(proofOf('S001', 'J3')).toEqual(['`a.test.ts`<br>`b.test.ts`', '`a.test.ts`'])
    expect(() => proofOf('S002')).toThrow(/no title of a test contains .S002/)
  })

  test('a row that exists twice or is missing is an error', () => {
    expect(() => proofOf('S001', 'S001')).toThrow('S001 exists twice')
    expect(() => proofOf('S0021')).toThrow('there is no row S001')
  })
})

describe.each(Object.keys(migrations))('[G5] the migration from %s', (name) => {
  const path = `docs/migration/${name}.md`
  const text = readText(path)

  test('a diff that is out of date is written again, and one that is missing is an error', () => {
    const changed = text.replace(/^(```diff\n--- [\s\S]*?\n)\+[^\n+]/m, '$1+§')
    expect(changed).not.toBe(text)
    expect(migrationPage(changed, path)).toBe(text)
    const [marker] = /^<!-- diff: .*$/m.exec(text)
    expect(() => migrationPage(text.replace(marker, '<!-- -->'), path)).toThrow('does not show')
  })

  test('a row of a difference that the tests compare must be there', () => {
    expect(contrasts[name].length).toBeGreaterThan(4)
    const [{ row }] = contrasts[name]
    expect(() => migrationPage(text.replace(`| ${row} |`, '| |'), path)).toThrow(`has no row "${row}"`)
  })

  test('the applications differ in what a migration changes, and pin their dependencies', () => {
    const manifest = (side) => readJson(`examples/migration/${name}/${side}/package.json`)
    expect(Object.keys(manifest('after').dependencies)).toContain('idp-client')
    expect(Object.keys(manifest('before').dependencies)).not.toContain('idp-client')
    for (const side of ['before', 'after']) {
      const { dependencies, devDependencies } = manifest(side)
      for (const [dependency, version] of Object.entries({ ...dependencies, ...devDependencies }))
        if (dependency !== 'idp-client') expect(version).toMatch(/^\d+\.\d+\.\d+$/)
    }
  })
})

test('every example of a migration has its page', () => {
  const pages = filesBelow('docs/migration')
  for (const name of Object.keys(migrations)) expect(pages).toContain(`docs/migration/${name}.md`)
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
