import { basename, extname, posix } from 'node:path'
import type { Remark, Rewritten } from './code.ts'
import { rewriteManifest } from './manifest.ts'
import { sortRemarks } from './remarks.ts'
import type { Variables } from './variables.ts'
import { remarkDeployment, rewriteAssignments } from './variables.ts'

/** The text files of an application by their paths, relative to its folder and with `/`. */
export type Files = ReadonlyMap<string, string>

/** Rewrites the applications of one library. All of it works on text and reads nothing else. */
export interface Codemod {
  /** The package that is replaced. */
  readonly peer: string
  readonly variables: Variables
  /** Rewrites TypeScript and JavaScript. Without a text the file is deleted. */
  rewriteSource(text: string, path: string): Rewritten | Deleted
  /** Reports variables without an equivalent in environment files. */
  remarkUnknown?(text: string): Remark[]
  /** Files to create. */
  readonly created?: Files | undefined
}

export type Deleted = Rewritten<null>

/** Returns the rules for one application: what a file becomes may depend on the others. */
export type CreateCodemod = (files: Files) => Codemod

const sources = new Set(['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs'])
const deployment = new Set(['.yml', '.yaml', '.sh', '.toml', '.tf'])

type Kind = 'environment' | 'manifest' | 'source' | 'deployment' | 'settings'

/** Returns how a file is treated, or null if it is not even read. */
export function fileKind(path: string): Kind | null {
  const name = basename(path)
  if (/^\.env(?:\.|$)/.test(name)) return 'environment'
  if (name === 'package.json') return 'manifest'
  if (/^[jt]sconfig(?:\..*)?\.json$/.test(name)) return 'settings'
  if (sources.has(extname(name))) return 'source'
  return deployment.has(extname(name)) || name.startsWith('Dockerfile') ? 'deployment' : null
}

function rewriteEnvironment({ variables, remarkUnknown }: Codemod, text: string): Rewritten {
  const { text: changed, remarks } = rewriteAssignments(text, variables)
  return { text: changed, remarks: sortRemarks([...remarks, ...(remarkUnknown?.(changed) ?? [])]) }
}

/** Rewrites a file of an application. */
export function rewriteFile(codemod: Codemod, path: string, text: string): Rewritten | Deleted {
  switch (fileKind(path)) {
    case 'environment':
      return rewriteEnvironment(codemod, text)
    case 'manifest':
      return { text: rewriteManifest(text, codemod.peer), remarks: [] }
    case 'source':
      return codemod.rewriteSource(text, path)
    case 'deployment':
      return { text, remarks: remarkDeployment(text, codemod.variables) }
    default:
      return { text, remarks: [] }
  }
}

/** Rewrites a text as if it had no byte order mark, and lines that end with LF. The result has both as before. */
function keepEncoding(text: string, rewrite: (text: string) => Rewritten | Deleted): Rewritten | Deleted {
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : ''
  const hasCrlf = text.includes('\r\n') && !/(?<!\r)\n/.test(text)
  const body = text.slice(mark.length)
  const result = rewrite(hasCrlf ? body.replaceAll('\r\n', '\n') : body)
  if (result.text === null) return result
  return { ...result, text: mark + (hasCrlf ? result.text.replaceAll('\n', '\r\n') : result.text) }
}

/** Throws if the package is a dependency below the folder only: the variables and files of other applications would change, too. */
function assertApplication(files: Files, peer: string): void {
  const manifests = [...files].filter(
    ([path, text]) => basename(path) === 'package.json' && text.includes(`"${peer}"`),
  )
  const folders = manifests.map(([path]) => posix.dirname(path))
  if (folders.length > 0 && !folders.includes('.'))
    throw new Error(
      `Run the codemod in the folder of each application that uses ${peer}: ${folders.join(', ')}. Nothing was changed.`,
    )
}

/** A file to write, or to delete if `text` is null. */
export interface Change {
  readonly path: string
  readonly text: string | null
}

export interface Plan {
  readonly changes: readonly Change[]
  /** Each change to make by hand, once, after its places: `path:line, path:line text`. */
  readonly remarks: readonly string[]
}

/**
 * Returns what a codemod makes of an application.
 *
 * @throws if the folder is not that of an application, but of several
 */
export function planChanges(create: CreateCodemod, files: Files): Plan {
  const codemod = create(files)
  assertApplication(files, codemod.peer)
  const changes: Change[] = [...(codemod.created ?? [])].map(([path, text]) => ({ path, text }))
  const places = new Map<string, Set<string>>()
  for (const [path, text] of new Map([...(codemod.created ?? []), ...files])) {
    const result = keepEncoding(text, (plain) => rewriteFile(codemod, path, plain))
    for (const remark of result.remarks)
      places.set(remark.text, (places.get(remark.text) ?? new Set()).add(`${path}:${remark.line}`))
    if (result.text !== text) changes.push({ path, text: result.text })
  }
  return { changes, remarks: [...places].map(([text, found]) => `${[...found].join(', ')} ${text}`) }
}
