import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromRoot } from './run.mjs'

const skipped = new Set(['node_modules', 'dist', '.git', '.next', '.cache', 'coverage'])

/**
 * All files below a folder, as paths relative to the repository root with forward slashes, sorted.
 * Installed packages and build output are left out; a folder that does not exist has no files.
 */
export function filesBelow(folder, accept = () => true) {
  const found = []
  const visit = (relative) => {
    for (const entry of list(relative)) {
      if (skipped.has(entry.name)) continue
      const path = relative === '' ? entry.name : `${relative}/${entry.name}`
      if (entry.isDirectory()) visit(path)
      else if (entry.isFile() && accept(path)) found.push(path)
    }
  }
  visit(folder)
  return found.sort()
}

/** Absolute paths of all files in a folder given by its absolute path. */
export const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/** Text of a file given relative to the repository root. */
export const readText = (relative) => readFileSync(fromRoot(relative), 'utf8')

/** Parsed JSON of a file given relative to the repository root. */
export const readJson = (relative) => JSON.parse(readText(relative))

/** Line number (from 1) of an offset in a text. */
export const lineAt = (text, offset) => text.slice(0, offset).split('\n').length

function list(relative) {
  try {
    return readdirSync(fromRoot(relative === '' ? '.' : relative), { withFileTypes: true })
  } catch (error) {
    if (error.code === 'ENOENT') return []
    throw error
  }
}
