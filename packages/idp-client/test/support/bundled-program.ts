import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const source = (path: string): string => fileURLToPath(new URL(`../../src/${path}`, import.meta.url))
const here = (name: string): URL => new URL(`./${name}.ts`, import.meta.url)

/** A program of this folder as one file that Node.js runs. */
export interface BundledProgram {
  readonly file: string
  remove(): Promise<void>
}

/** Bundles a program of this folder, or another entry, with the library from its sources. */
export async function bundleProgram(name: string, entry: URL = here(name)): Promise<BundledProgram> {
  const folder = fileURLToPath(
    new URL(`../../../../node_modules/.cache/${name}-${process.pid}`, import.meta.url),
  )
  await mkdir(folder, { recursive: true })
  const file = join(folder, `${name}.mjs`)
  await build({
    entryPoints: [fileURLToPath(entry)],
    outfile: file,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    // The pages as data, which the build makes: only the command init loads them.
    external: ['#init-data'],
    alias: {
      '#cipher': source('crypto/cipher.node.ts'),
      '#async-context': source('lib/async-context.node.ts'),
      '@sveltejs/kit': fileURLToPath(here('sveltekit')),
      'astro:actions': fileURLToPath(here('astro-actions')),
    },
    logLevel: 'error',
  })
  return { file, remove: () => rm(folder, { recursive: true, force: true }) }
}
