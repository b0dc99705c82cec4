import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { filesBelow } from './files.mjs'
import { fromRoot } from './run.mjs'

/** The folders that the result of a part depends on, beside the packed packages, what they install, and what runs the part. */
export const applications = {
  consumers: ['docs/guides', 'e2e/consumers'],
  migration: ['e2e/migration', 'examples/migration'],
  hosts: ['examples', 'e2e/hosts'],
}

const shared = [
  'packages/idp-client/dist',
  'packages/dev-provider/dist',
  'e2e/support',
  'e2e/fixtures/support',
  'tools',
]
const manifests = [
  'package-lock.json',
  'packages/idp-client/package.json',
  'packages/dev-provider/package.json',
]

/** Files that a part does not read, or that other commands write. */
const OTHER_FILES = /^tools\/.*\.test\.mjs$|\/dist\/init-data\.js$|\.tsbuildinfo$|\/next-env\.d\.ts$/

const recordFile = (part) => fromRoot(`.cache/passed/${part}.json`)

/** Returns a hash of the Node.js version and of all files in folders, with their paths. */
export function fingerprint(folders) {
  const hash = createHash('sha256').update(process.version)
  const files = [...manifests, ...[...shared, ...folders].flatMap((folder) => filesBelow(folder))]
  for (const path of files.filter((path) => !OTHER_FILES.test(path)))
    hash.update(`\0${path}\0`).update(readFileSync(fromRoot(path)))
  return hash.digest('hex')
}

/** Returns the last run of a part if it passed with the same files. */
export function readLastPass(part, print) {
  if (!existsSync(recordFile(part))) return undefined
  const last = JSON.parse(readFileSync(recordFile(part), 'utf8'))
  return last.fingerprint === print ? last : undefined
}

/** Remembers that all tests of a part have passed. */
export function writeLastPass(part, { fingerprint, passed }) {
  mkdirSync(fromRoot('.cache/passed'), { recursive: true })
  const date = new Date().toISOString().slice(0, 16).replace('T', ' ')
  writeFileSync(recordFile(part), JSON.stringify({ fingerprint, passed, date }))
}
