// Bundles the benchmark with the sources of the library, since it measures parts that no entry exports.
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const here = fileURLToPath(new URL('.', import.meta.url))
const sources = join(here, '../packages/idp-client/src')
const folder = mkdtempSync(join(here, '.run-'))
const outfile = join(folder, 'session.mjs')

try {
  await build({
    entryPoints: [join(here, 'src/session.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    alias: {
      '#cipher': join(sources, 'crypto/cipher.node.ts'),
      '#async-context': join(sources, 'lib/async-context.node.ts'),
    },
    tsconfigRaw: {},
    logLevel: 'warning',
  })
  await import(pathToFileURL(outfile).href)
} finally {
  rmSync(folder, { recursive: true })
}
