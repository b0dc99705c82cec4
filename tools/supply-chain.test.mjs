import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { lockProblems } from './check-lock.mjs'
import { dependencies } from './rules/entries.mjs'

const text = (path) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const json = (path) => JSON.parse(text(path))

/** The scripts that npm runs when a package is installed. */
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall', 'prepare', 'preprepare', 'postprepare']

test('[I3] neither package runs a script when it is installed', () => {
  for (const name of ['idp-client', 'dev-provider']) {
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

test('[I3] every package of the lock file is pinned by its hash', () => {
  expect(lockProblems(json('package-lock.json'))).toEqual([])
})

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
