import { readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, extname, join, relative, sep } from 'node:path'
import { version } from '../../lib/version.ts'
import type { Remark, Rewritten } from './nextjs-auth0.ts'
import {
  remarkRuntime,
  remarkVariables,
  rewriteEnvironment,
  rewriteManifest,
  rewriteSource,
} from './nextjs-auth0.ts'

export interface CodemodReport {
  /** Paths of the changed files, relative to the folder. */
  readonly changed: readonly string[]
  /** Each change to make by hand, once, after its places: `path:line, path:line text`. */
  readonly remarks: readonly string[]
}

const skippedFolders = new Set(['node_modules', 'dist', 'build', 'out', 'coverage'])
const sources = new Set(['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs'])
const deployment = new Set(['.yml', '.yaml', '.sh', '.toml', '.tf'])

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

const withRemarks = ({ text, remarks }: Rewritten, more: readonly Remark[]): Rewritten => ({
  text,
  remarks: [...remarks, ...more],
})

function rewrite(path: string, text: string): Rewritten | null {
  const name = basename(path)
  if (/^\.env(?:\.|$)/.test(name)) return rewriteEnvironment(text)
  if (name === 'package.json') return rewriteManifest(text, version)
  if (/^middleware\.[jt]s$/.test(name)) return withRemarks(rewriteSource(text), remarkRuntime(text))
  if (sources.has(extname(name))) return rewriteSource(text)
  if (deployment.has(extname(name)) || name.startsWith('Dockerfile'))
    return { text, remarks: remarkVariables(text) }
  return null
}

/**
 * Rewrites an application from nextjs-auth0 4 to this package: imports, names, error codes and variables. It works on
 * text, so code that depends on meaning is only reported.
 *
 * @param folder root of the application
 * @param write false only reports
 * @throws if the folder or a file in it cannot be read or written
 */
export async function runCodemod(folder: string, write: boolean): Promise<CodemodReport> {
  const changed: string[] = []
  const places = new Map<string, Set<string>>()
  for (const path of (await filesBelow(folder)).sort()) {
    const text = await readFile(path, 'utf8')
    const result = rewrite(path, text)
    if (result === null) continue
    const name = relative(folder, path).replaceAll(sep, '/')
    for (const remark of result.remarks)
      places.set(remark.text, (places.get(remark.text) ?? new Set()).add(`${name}:${remark.line}`))
    if (result.text === text) continue
    changed.push(name)
    if (write) await writeFile(path, result.text)
  }
  return { changed, remarks: [...places].map(([text, found]) => `${[...found].join(', ')} ${text}`) }
}
