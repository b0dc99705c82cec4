import { randomUUID } from 'node:crypto'
import { chmod, mkdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Change } from './diff.ts'
import { InitError, toSystemCode } from './init-error.ts'

type Undo = () => Promise<void>

/** Creates a folder and those above it; records how to remove those that are new. */
async function createFolder(folder: string, undo: Undo[]): Promise<void> {
  const first = await mkdir(folder, { recursive: true })
  const created: string[] = []
  for (let each = folder; first !== undefined && each.length >= first.length; each = dirname(each))
    created.unshift(each)
  undo.push(...created.map((each) => () => rmdir(each)))
}

/** Creates a file that does not exist; what was written of it is removed after a failure. */
async function createFile(file: string, text: string, mode: number): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx', mode })
  } catch (error) {
    if (toSystemCode(error) !== 'EEXIST') await rm(file, { force: true })
    throw error
  }
}

/** Replaces a file in one step, unless it is no longer the one that was shown. */
async function replaceFile(file: string, before: string, text: string, mode: number): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`
  if ((await readFile(file, 'utf8')) !== before) throw new InitError('it was changed in the meantime')
  try {
    await writeFile(temporary, text, { flag: 'wx', mode })
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

async function writeChange(
  folder: string,
  { path, before, text, mode }: Change,
  undo: Undo[],
): Promise<void> {
  const file = join(folder, path)
  await createFolder(dirname(file), undo)
  if (before === null) {
    await createFile(file, text, mode ?? 0o666)
    undo.push(() => rm(file))
  } else {
    const earlier = (await stat(file)).mode & 0o777
    await replaceFile(file, before, text, earlier & (mode ?? earlier))
    undo.push(async () => {
      await writeFile(file, before)
      await chmod(file, earlier)
    })
  }
}

/**
 * Writes all changes, or none.
 *
 * @throws InitError if a file cannot be written; those written before are as they were
 */
export async function writeChanges(folder: string, changes: readonly Change[]): Promise<void> {
  const undo: Undo[] = []
  let path = ''
  try {
    for (const change of changes) {
      path = change.path
      await writeChange(folder, change, undo)
    }
  } catch (error) {
    for (const step of undo.reverse()) await step().catch(() => {})
    const reason = error instanceof InitError ? error.message : toSystemCode(error)
    throw new InitError(`${path} cannot be written (${reason}). Nothing was changed.`)
  }
}
