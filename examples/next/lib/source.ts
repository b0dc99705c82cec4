import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface SourceFile {
  /** Path below `examples/next`. */
  readonly path: string
  readonly text: string
}

/** Reads a file of this application. */
export async function readSource(path: string): Promise<SourceFile> {
  return { path, text: await readFile(join(/* turbopackIgnore: true */ process.cwd(), path), 'utf8') }
}
