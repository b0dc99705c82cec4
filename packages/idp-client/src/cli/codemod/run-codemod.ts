import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import type { Change, CreateCodemod } from './application.ts'
import { fileKind, planChanges } from './application.ts'

export interface CodemodReport {
  /** Paths of the changed files, relative to the folder. */
  readonly changed: readonly string[]
  /** Each change to make by hand, once, after its places: `path:line, path:line text`. */
  readonly remarks: readonly string[]
}

const skippedFolders = new Set(['node_modules', 'dist', 'build', 'out', 'coverage'])

/** Returns the files below a folder, except installed, built or hidden ones; environment files count as visible. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name)
      if (entry.isFile()) return [path]
      const visited = entry.isDirectory() && !skippedFolders.has(entry.name) && !entry.name.startsWith('.')
      return visited ? filesBelow(path) : []
    }),
  )
  return found.flat()
}

/** Returns the text of UTF-8 with its byte order mark; null for anything else. */
function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}

async function readFiles(folder: string) {
  const files = new Map<string, string>()
  // Files that are not UTF-8: written back as text, they would lose bytes.
  const undecoded: string[] = []
  for (const path of (await filesBelow(folder)).sort()) {
    const name = relative(folder, path).replaceAll(sep, '/')
    if (fileKind(name) === null) continue
    const text = decode(await readFile(path))
    if (text === null) undecoded.push(name)
    else files.set(name, text)
  }
  return { files, undecoded }
}

async function apply(folder: string, { path, text }: Change): Promise<void> {
  const file = join(folder, path)
  if (text === null) return rm(file)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}

/**
 * Rewrites an application from another library to this package. It works on text, so code that depends on meaning is only
 * reported. Every file is read before the first is written.
 *
 * @param create the rules of the other library
 * @param folder root of the application
 * @param write false only reports
 * @throws if the folder or a file in it cannot be read or written
 */
export async function runCodemod(
  create: CreateCodemod,
  folder: string,
  write: boolean,
): Promise<CodemodReport> {
  const { files, undecoded } = await readFiles(folder)
  const { changes, remarks } = planChanges(create, files)
  if (write) for (const change of changes) await apply(folder, change)
  const changed = changes.map(({ path, text }) => {
    if (text === null) return `${path} (deleted)`
    return files.has(path) ? path : `${path} (new)`
  })
  return {
    changed,
    remarks: [...remarks, ...undecoded.map((name) => `${name} is not UTF-8, and was not read.`)],
  }
}
