import { lstat, readdir, readFile, realpath } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { InitError, toSystemCode } from './init-error.ts'
import type { Manifest } from './manifest.ts'
import { parseManifest } from './manifest.ts'

/** The folder that `init` runs in. */
export interface Application {
  readonly folder: string
  readonly manifest: Manifest | undefined
  /** Names of its files and folders. */
  readonly entries: readonly string[]
}

/** Reads what `init` needs to know of a folder. */
export async function readApplication(folder: string): Promise<Application> {
  const entries = await readEntries(folder)
  const text = await readText(folder, 'package.json')
  return { folder, entries, manifest: text === undefined ? undefined : parseManifest(text) }
}

/** Returns the names in a folder; none if it does not exist. */
async function readEntries(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (toSystemCode(error) === 'ENOENT') return []
    throw new InitError(`The folder ${folder} cannot be read (${toSystemCode(error)}).`)
  }
}

/** Names in a folder of the application. */
export const readNames = (folder: string, path: string): Promise<string[]> =>
  readEntries(join(folder, path)).catch(() => [])

/**
 * Reads a file of the application; `undefined` if it does not exist.
 *
 * @throws InitError if something else than a text file of the application is in its place
 */
export async function readText(folder: string, path: string): Promise<string | undefined> {
  try {
    await assertInside(folder, path)
    const entry = await lstat(join(folder, path))
    if (!entry.isFile())
      throw new InitError(`${path} is not a regular file. Move it, or add its lines by hand.`)
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      await readFile(join(folder, path)),
    )
  } catch (error) {
    if (error instanceof InitError) throw error
    if (toSystemCode(error) === 'ENOENT') return undefined
    const reason = error instanceof TypeError ? 'it is not UTF-8' : toSystemCode(error)
    throw new InitError(`${path} cannot be read (${reason}).`)
  }
}

/** A folder of the application may be a link to a place that other applications use. */
async function assertInside(folder: string, path: string): Promise<void> {
  const root = await realpath(folder)
  for (let parent = dirname(path); parent !== '.'; parent = dirname(parent)) {
    const real = await realpath(join(folder, parent)).catch(() => undefined)
    if (real !== undefined && real !== root && !real.startsWith(root + sep))
      throw new InitError(`${parent} is a link to a folder outside of the application.`)
  }
}
