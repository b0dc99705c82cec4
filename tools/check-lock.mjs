// A lock that lacks platform packages makes `npm ci` fail, or fail elsewhere.
import { readJson } from './lib/files.mjs'
import { finish } from './lib/gate.mjs'
import { isMain } from './lib/run.mjs'

/** Problems of a parsed package-lock.json (version 3). */
export function lockProblems(lock) {
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

if (isMain(import.meta)) {
  const lock = readJson('package-lock.json')
  finish(lockProblems(lock), `${Object.keys(lock.packages).length} packages`)
}
