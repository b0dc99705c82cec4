import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bin, fromRoot, runNode } from './run.mjs'

/**
 * Emits the declarations of a package below `types/` of the target folder, and beside the bundles
 * one flat file per entry that the `exports` map points to.
 */
export async function declarations(plan, wanted, target) {
  const types = join(target, 'types')
  const { code, output } = await runNode([bin.tsc, '-p', fromRoot(plan.types), '--outDir', types])
  if (code !== 0) throw new Error(`build: types of ${plan.folder} do not compile\n${output}`)
  for (const file of declarationFiles(types)) {
    writeFileSync(file, nodeSpecifiers(readFileSync(file, 'utf8')))
  }
  for (const [entry, source] of Object.entries(wanted)) {
    const emitted = `./types/${source.replace(/\.tsx?$/, '.js')}`
    writeFileSync(join(target, `${entry}.d.ts`), `export * from '${emitted}'\n`)
  }
}

/** The compiler keeps `.ts` in the imports of declarations; only `.js` resolves in every mode. */
export function nodeSpecifiers(text) {
  return text.replace(/((?:\bfrom|\bimport|\bimport\()\s*(['"])\.{1,2}\/[^'"\n]*?)\.tsx?\2/g, '$1.js$2')
}

function declarationFiles(folder) {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true })
  return entries
    .filter((entry) => entry.name.endsWith('.d.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
}
