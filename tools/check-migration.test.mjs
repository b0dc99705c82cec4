import { describe, expect, test } from 'vitest'
import { contrastProblems } from './check-migration.mjs'
import { filesBelow, readText } from './lib/files.mjs'
import { contrasts } from './lib/migration-contrasts.mjs'
import { diffProblems, withDiffs } from './lib/migration-diff.mjs'
import { migrations } from './lib/migrations.mjs'

const page = (name) => `docs/migration/${name}.md`

describe.each(Object.keys(migrations))('[G5] %s', (name) => {
  const text = readText(page(name))

  test('the page shows every difference of its two applications, and every row that the tests compare', () => {
    expect(diffProblems(page(name), text, name)).toEqual([])
    expect(contrasts[name].length).toBeGreaterThan(4)
    expect(contrastProblems(page(name), text, contrasts[name])).toEqual([])
  })

  test('a diff that is out of date or missing is a problem', () => {
    const changed = text.replace(/^(```diff\n--- [\s\S]*?\n)\+[^\n+]/m, '$1+§')
    expect(changed).not.toBe(text)
    expect(diffProblems('p', changed, name)).toEqual([
      'p is not up to date: run node tools/generate-migration.mjs',
    ])
    expect(withDiffs(changed)).toBe(text)
    const [marker] = /^<!-- diff: .*$/m.exec(text)
    expect(diffProblems('p', text.replace(marker, '<!-- -->'), name).join()).toContain('does not show')
  })

  test('a row that is missing is a problem', () => {
    const [{ row }] = contrasts[name]
    expect(contrastProblems('p', text.replace(`| ${row} |`, '| |'), contrasts[name])).toEqual([
      `p has no row "${row}"`,
    ])
  })

  test('the applications differ in what a migration changes, and pin their dependencies', () => {
    const manifest = (side) => JSON.parse(readText(`examples/migration/${name}/${side}/package.json`))
    expect(Object.keys(manifest('after').dependencies)).toContain('idp-client')
    expect(Object.keys(manifest('before').dependencies)).not.toContain('idp-client')
    for (const side of ['before', 'after']) {
      const { dependencies, devDependencies } = manifest(side)
      for (const [dependency, version] of Object.entries({ ...dependencies, ...devDependencies }))
        if (dependency !== 'idp-client') expect(version).toMatch(/^\d+\.\d+\.\d+$/)
    }
  })
})

test('every page about a migration has its example', () => {
  const pages = filesBelow('docs/migration', (path) => path.endsWith('.md'))
  expect(pages.sort()).toEqual(Object.keys(migrations).map(page).sort())
})
