// The results of hosts whose latest run has passed with the present files.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hosts } from '../../tools/hosts.mjs'
import { filesBelow } from '../../tools/lib/files.mjs'
import { fromRoot } from '../../tools/lib/run.mjs'
import { toTable } from '../../tools/lib/tables.mjs'
import { cache, hash, toContractFolder } from './host.mjs'

const toFile = (name) => join(cache, `${name}.json`)

/** Returns a hash of everything that the result of a host depends on. */
function toFingerprint(row) {
  const folders = [
    'packages/idp-client/dist',
    `examples/${row.application}`,
    toContractFolder(row),
    'e2e/hosts/support',
  ]
  const files = folders
    // Build output is left out below the root of the repository.
    .flatMap((folder) => filesBelow(folder))
    // Frameworks decide by its peers what they bundle.
    .concat('packages/idp-client/package.json')
  return hash(JSON.stringify(row), ...files.flatMap((path) => [path, readFileSync(fromRoot(path))]))
}

/** Returns the versions of a host that passed with the same files. */
export function readResult(name) {
  if (!existsSync(toFile(name))) return undefined
  const { fingerprint, versions } = JSON.parse(readFileSync(toFile(name), 'utf8'))
  return fingerprint === toFingerprint(hosts[name]) ? versions : undefined
}

export function writeResult(name, versions) {
  mkdirSync(cache, { recursive: true })
  writeFileSync(toFile(name), JSON.stringify({ fingerprint: toFingerprint(hosts[name]), versions }, null, 2))
}

const marker = /(<!-- (Hosts|Other versions), written by .* -->\n\n)(?:\|.*\n)*/g

/**
 * Returns the page of the matrix.
 *
 * @param {string} text of the page
 * @param {Record<string, Record<string, string>>} results versions by host
 */
export function withMatrix(text, results) {
  const toCells = ([name, versions]) => {
    const { build, entry, page, title } = hosts[name]
    const all = Object.entries(versions)
      .map((each) => each.join(' '))
      .join(', ')
    const runtime = `Node.js ${process.versions.node.split('.')[0]}`
    return [
      `[${title}](../guides/hosts/${page}.md)`,
      `\`${entry}\``,
      all || runtime,
      build ? 'built' : 'none needed',
    ]
  }
  const toRows = (contractOnly) =>
    Object.entries(results)
      .filter(([name]) => (hosts[name].contractOnly ?? false) === contractOnly)
      .sort(([a], [b]) => hosts[a].title.localeCompare(hosts[b].title, 'en'))
      .map(toCells)
  return text.replace(
    marker,
    (_all, before, name) =>
      `${before}${toTable(['Host', 'Entry', 'Versions', 'Build'], toRows(name !== 'Hosts'))}\n`,
  )
}

/** Writes the matrix of all hosts. */
export function writeMatrix() {
  const results = Object.fromEntries(Object.keys(hosts).map((name) => [name, readResult(name)]))
  const missing = Object.keys(results).filter((name) => !results[name])
  if (missing.length > 0) throw new Error(`no run of ${missing.join(', ')} has passed with these files`)
  const page = fromRoot('docs/reference/hosts.md')
  writeFileSync(page, withMatrix(readFileSync(page, 'utf8'), results))
}
