import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseStep, readSteps } from './lib/changesets.mjs'
import { readJson, readText } from './lib/files.mjs'
import { unpack } from './lib/package-content.mjs'
import { constantFile, currentVersion, isInChangelog, toNextVersion, withRelease } from './lib/versions.mjs'
import { dryRelease } from './release.mjs'

describe('a changeset', () => {
  test('[P1] has the largest step of its packages', () => {
    expect(parseStep('a.md', "---\n'idp-client': patch\nidp-dev-provider: minor\n---\n\nText.\n")).toBe(
      'minor',
    )
  })

  test.each(['', 'Text.', '---\nother: patch\n---\n', "---\n'idp-client': huge\n---\n", '---\n\n---\n'])(
    '[P1] %j is named with its file',
    (text) => {
      expect(() => parseStep('.changeset/a.md', text)).toThrow('.changeset/a.md')
    },
  )
})

test.each([
  ['patch', '1.2.4'],
  ['minor', '1.3.0'],
  ['major', '2.0.0'],
])('[P1] the next version by a %s step', (step, next) => {
  expect(toNextVersion('1.2.3', step, true)).toBe(next)
})

test('[P1] the first release has the version of the manifest', () => {
  expect(toNextVersion('0.1.0', 'minor', false)).toBe('0.1.0')
})

test('[P1] the entries of the changelog become a section, and must exist', () => {
  const changelog = '# Changelog\n\n## [Unreleased]\n\n- New.\n\n## [1.0.0] - 2026-01-01\n\n- Old.\n'
  expect(withRelease(changelog, '1.1.0', '2026-02-01')).toBe(
    '# Changelog\n\n## [Unreleased]\n\n## [1.1.0] - 2026-02-01\n\n- New.\n\n## [1.0.0] - 2026-01-01\n\n- Old.\n',
  )
  expect(() => withRelease(changelog.replace('- New.\n\n', ''), '1.1.0', '2026-02-01')).toThrow('Unreleased')
})

test('[P1] the library tells providers the version of all packages, and the changelog has a section for the next one', () => {
  const version = currentVersion()
  for (const name of ['dev-provider', 'create-idp-app'])
    expect(readJson(`packages/${name}/package.json`).version).toBe(version)
  expect(readText(constantFile)).toMatch(new RegExp(`\\bversion\\b[^=]*=\\s*'${version}'`))
  expect(isInChangelog('Unreleased')).toBe(true)
  expect(() => readSteps()).not.toThrow()
})

describe('[P1] a release without a registry, from a changeset to the tarballs', () => {
  const current = currentVersion()
  const next = toNextVersion(current, 'major', true)
  const folder = mkdtempSync(join(tmpdir(), 'idp-release-test-'))
  const names = {
    create: `create-idp-app-${next}.tgz`,
    client: `idp-client-${next}.tgz`,
    provider: `idp-dev-provider-${next}.tgz`,
  }
  const text = (path) => readFileSync(join(folder, path), 'utf8')
  let output

  beforeAll(async () => {
    const files = {
      '.changeset/test.md': "---\n'idp-dev-provider': major\n---\n\nChanges everything.\n",
      'CHANGELOG.md': `# Changelog\n\n## [Unreleased]\n\n- New.\n\n## [${current}] - 2026-01-01\n\n- Old.\n`,
    }
    output = await dryRelease(join(folder, 'out'), { consumers: false, files })
    for (const [name, file] of Object.entries(names))
      await unpack(join(folder, 'out', file), join(folder, name))
  }, 300_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('[P1] all packages have the next version, of which npm publish accepts a dry run', () => {
    expect(readdirSync(join(folder, 'out')).sort()).toEqual([...Object.values(names), 'SHA256SUMS'].sort())
    expect(output).toContain(`release: ${current} → ${next} (major)`)
    for (const name of Object.values(names)) expect(output).toContain(`npm publish --dry-run accepts ${name}`)
    for (const name of Object.keys(names)) expect(JSON.parse(text(`${name}/package.json`)).version).toBe(next)
    expect(JSON.parse(text('create/package.json')).dependencies['idp-client']).toBe(`^${next}`)
  })

  test('[P1] the library sends that version, and the changelog and licence are in all packages', () => {
    const code = readdirSync(join(folder, 'client/dist'), { recursive: true }).filter((path) =>
      path.endsWith('.js'),
    )
    expect(code.some((path) => text(`client/dist/${path}`).includes(`const version = "${next}";`))).toBe(true)
    for (const name of Object.keys(names)) {
      expect(text(`${name}/CHANGELOG.md`)).toMatch(
        new RegExp(`\n## \\[Unreleased\\]\n\n## \\[${next}\\] - \\d{4}-\\d\\d-\\d\\d\n\n- New\\.\n\n`),
      )
      expect(text(`${name}/LICENSE`)).toContain('MIT')
    }
  })

  test('[P1] the checksums are those of the tarballs', () => {
    const sum = (name) =>
      createHash('sha256')
        .update(readFileSync(join(folder, 'out', name)))
        .digest('hex')
    const lines = [names.client, names.provider, names.create].map((name) => `${sum(name)}  ${name}\n`)
    expect(text('out/SHA256SUMS')).toBe(lines.join(''))
  })

  test('[P1] the repository keeps its version', () => {
    expect(currentVersion()).toBe(current)
  })
})
