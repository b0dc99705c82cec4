import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { dependencies } from './rules/entries.mjs'

const text = (path) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const json = (path) => JSON.parse(text(path))

/** Problems of a parsed package-lock.json (version 3). */
function lockProblems(lock) {
  const problems =
    lock.lockfileVersion === 3 ? [] : [`lockfileVersion is ${lock.lockfileVersion}, 3 is expected`]
  for (const [path, entry] of Object.entries(lock.packages)) {
    for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
      if (!resolves(lock.packages, path, name)) {
        problems.push(
          `${path || 'the root'} names the optional package ${name}@${range}, which the lock lacks: pin a version whose platform packages are all published`,
        )
      }
    }
    if (entry.link || !path.includes('node_modules/')) continue
    if (entry.resolved !== undefined)
      problems.push(`${path} has a download address: set omit-lockfile-registry-resolved`)
    if (entry.integrity === undefined && !entry.inBundle) problems.push(`${path} has no integrity hash`)
  }
  return problems
}

/** Whether a package is in the lock where Node would find it, from `path` upwards. */
function resolves(packages, path, name) {
  for (let folder = path; ; folder = parent(folder)) {
    if (`${folder === '' ? '' : `${folder}/`}node_modules/${name}` in packages) return true
    if (folder === '') return false
  }
}

const parent = (folder) => folder.slice(0, Math.max(0, folder.lastIndexOf('/')))

/** The scripts that npm runs when a package is installed. */
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall', 'prepare', 'preprepare', 'postprepare']

test('[I3] no package of ours runs a script when it is installed', () => {
  for (const name of ['idp-client', 'dev-provider', 'create-idp-app']) {
    const { scripts = {} } = json(`packages/${name}/package.json`)
    expect(Object.keys(scripts).filter((script) => INSTALL_SCRIPTS.includes(script))).toEqual([])
  }
})

test('[I3] there are three runtime dependencies, and none of them, nor theirs, runs a script when it is installed', () => {
  const { packages } = json('package-lock.json')
  const client = json('packages/idp-client/package.json')
  expect(Object.keys(client.dependencies).sort()).toEqual(dependencies)
  expect(client.optionalDependencies).toBeUndefined()
  const reached = new Set()
  const reach = (name) => {
    if (reached.has(name)) return
    reached.add(name)
    const entry = packages[`node_modules/${name}`]
    expect(entry, name).toBeDefined()
    expect(entry.hasInstallScript, name).toBeUndefined()
    for (const further of Object.keys(entry.dependencies ?? {})) reach(further)
  }
  for (const name of dependencies) reach(name)
  expect([...reached].sort()).toEqual(['cookie-es', 'jose', 'oauth4webapi'])
})

test.each(['package-lock.json', 'site/package-lock.json'])(
  '[I3] every package of %s is pinned by its hash',
  (path) => {
    expect(lockProblems(json(path))).toEqual([])
  },
)

test('[I3] a release installs the packages of the lock file, and is published with provenance', () => {
  const workflow = text('.github/workflows/release.yml')
  expect(workflow).toContain('npm ci')
  expect(workflow).toContain('id-token: write')
  expect(workflow.toLowerCase()).toContain('provenance')
})

test('[I3] SECURITY.md says how to report a problem in private, and which versions are supported', () => {
  const page = text('SECURITY.md')
  expect(page).toMatch(/## Reporting a vulnerability\n\n[^#]*privately/)
  expect(page).toContain('## Supported versions')
})

const lock = (packages) => ({ lockfileVersion: 3, packages })
const whole = { version: '1.0.0', integrity: 'sha512-x' }

test('an optional package that the lock lacks is named', () => {
  const parent = { ...whole, optionalDependencies: { '@a/linux': '1.0.0', '@a/mac': '1.0.0' } }
  expect(lockProblems(lock({ 'node_modules/a': parent, 'node_modules/@a/linux': whole }))).toEqual([
    expect.stringContaining('@a/mac@1.0.0'),
  ])
})

test('a nested optional package is checked too', () => {
  const parent = { ...whole, optionalDependencies: { b: '1.0.0' } }
  expect(lockProblems(lock({ 'node_modules/a': parent, 'node_modules/a/node_modules/b': whole }))).toEqual([])
})

test('download addresses and missing hashes are rejected, workspace links are not', () => {
  const entry = { version: '1.0.0', resolved: 'https://packages.example/a.tgz' }
  expect(lockProblems(lock({ 'node_modules/a': entry }))).toEqual([
    expect.stringContaining('download address'),
    expect.stringContaining('integrity'),
  ])
  expect(
    lockProblems(lock({ 'node_modules/a': { resolved: 'packages/a', link: true }, 'packages/a': {} })),
  ).toEqual([])
})
