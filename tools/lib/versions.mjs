import { writeFileSync } from 'node:fs'
import { published } from '../pack.mjs'
import { filesBelow, readJson, readText } from './files.mjs'
import { fromRoot } from './run.mjs'

const client = 'packages/idp-client/package.json'
const manifests = published.map((folder) => `${folder}/package.json`)

/** The file with the constant that the library sends to providers. */
export const constantFile = 'packages/idp-client/src/lib/version.ts'

export const currentVersion = () => readJson(client).version

/** Whether the changelog has a section for a version. */
export const isInChangelog = (version) => readText('CHANGELOG.md').includes(`\n## [${version}]`)

/** The version that follows by a step; a version that was never released is the next one itself. */
export function toNextVersion(current, step, isReleased) {
  if (!isReleased) return current
  const [major, minor, patch] = current.split('.').map(Number)
  const next = {
    major: [major + 1, 0, 0],
    minor: [major, minor + 1, 0],
    patch: [major, minor, patch + 1],
  }
  return next[step].join('.')
}

/** The changelog with the entries under `Unreleased` as the section of a version. */
export function withRelease(changelog, version, date) {
  const [before, after] = changelog.split('\n## [Unreleased]\n')
  const entries = after?.split('\n## ')[0].trim()
  if (!entries)
    throw new Error('CHANGELOG.md has nothing under Unreleased: describe the changes for users there')
  return `${before}\n## [Unreleased]\n\n## [${version}] - ${date}\n${after}`
}

/** A manifest or lock with another version of our packages wherever it depends on them. */
const withDependencies = (text, from, to) =>
  text.replaceAll(/("idp-(?:client|dev-provider)": "\^?)(\d+\.\d+\.\d+)"/g, (whole, before, version) =>
    version === from ? `${before}${to}"` : whole,
  )

/**
 * Writes a version everywhere: the manifests of all packages and of what depends on them, the lock, the constant of the
 * library and the changelog.
 */
export function writeVersion(version, date) {
  const from = currentVersion()
  const edit = (path, change) => {
    const text = readText(path)
    const changed = change(text)
    if (changed !== text) writeFileSync(fromRoot(path), changed)
  }
  edit('CHANGELOG.md', (text) => withRelease(text, version, date))
  for (const path of filesBelow('', (name) => /(?:^|\/)package\.json$/.test(name)))
    edit(path, (text) => withDependencies(text, from, version))
  for (const path of manifests)
    edit(path, (text) => text.replace(`"version": "${from}"`, `"version": "${version}"`))
  edit(constantFile, (text) => text.replace(`'${from}'`, `'${version}'`))
  edit('package-lock.json', (text) => {
    const lock = JSON.parse(withDependencies(text, from, version))
    for (const folder of published) lock.packages[folder].version = version
    return `${JSON.stringify(lock, null, 2)}\n`
  })
}
