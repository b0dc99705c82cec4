import { randomUUID } from 'node:crypto'
import { lstat, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DevProviderError } from './error.ts'

type Variables = Readonly<Record<string, string>>

/** An assignment in a dotenv file, with a quoted value of several lines, and the end of its line. */
const ASSIGNMENT =
  /^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=(?:[ \t]*(?:"(?:\\.|[^"\\])*"|'[^']*'|`[^`]*`)[ \t]*(?:#.*)?$|.*)(?:\r?\n)?/gm

/** Formats a variable as dotenv files have it. */
export function toEnvLine(name: string, value: string): string {
  return value.includes('\n') ? `${name}="${value.replaceAll('\n', '\\n')}"` : `${name}=${value}`
}

/** Returns the text of a dotenv file with the given variables; every other line stays as it is. */
export function mergeVariables(text: string, variables: Variables): string {
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const missing = new Map(Object.entries(variables))
  const toLine = (name: string, value: string): string => `${toEnvLine(name, value)}${newline}`
  const merged = text.replace(ASSIGNMENT, (line, name: string) => {
    if (!Object.hasOwn(variables, name)) return line
    const value = missing.get(name)
    missing.delete(name)
    return value === undefined ? '' : toLine(name, value)
  })
  const separator = merged === '' || merged.endsWith('\n') ? '' : newline
  return merged + separator + [...missing].map(([name, value]) => toLine(name, value)).join('')
}

/**
 * Writes variables to a dotenv file in one step: a reader sees the earlier content or all variables.
 *
 * @throws DevProviderError if the file cannot be written
 */
export async function writeEnvFile(path: string, variables: Variables): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`
  try {
    const mode = await readMode(path)
    const text = mode === undefined ? '' : await readFile(path, 'utf8')
    await writeFile(temporary, mergeVariables(text, variables), { flag: 'wx', mode: mode ?? 0o600 })
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {})
    if (error instanceof DevProviderError) throw error
    throw new DevProviderError(`--write: ${path} cannot be written (${toSystemCode(error)}).`)
  }
}

/** Returns the permissions of the file, or `undefined` if it does not exist yet. */
async function readMode(path: string): Promise<number | undefined> {
  const entry = await ifExists(lstat(path))
  if (entry === undefined) {
    const folder = await ifExists(stat(dirname(path)))
    if (folder?.isDirectory()) return undefined
    throw new DevProviderError(`--write: the folder ${dirname(path)} does not exist.`)
  }
  if (entry.isSymbolicLink())
    throw new DevProviderError(`--write: ${path} is a symbolic link. Name the file that it points to.`)
  if (entry.isDirectory())
    throw new DevProviderError(`--write: ${path} is a folder. Name a file, for example ${path}/.env.`)
  if (!entry.isFile()) throw new DevProviderError(`--write: ${path} is not a regular file.`)
  const mode = entry.mode & 0o777
  if ((mode & 0o222) === 0) throw new DevProviderError(`--write: ${path} is read-only.`)
  return mode
}

async function ifExists<T>(lookup: Promise<T>): Promise<T | undefined> {
  try {
    return await lookup
  } catch (error) {
    if (toSystemCode(error) === 'ENOENT') return undefined
    throw error
  }
}

function toSystemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
