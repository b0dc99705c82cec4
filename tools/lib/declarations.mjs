import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'
import { createGroups, moduleGraph } from './bundle.mjs'
import { filesIn } from './files.mjs'
import { bin, fromRoot, runNode } from './run.mjs'

/**
 * Writes one declaration file per entry beside the bundles, and below `shared` what several entries declare: every type
 * and class is declared once. The compiler emits the declarations of all modules first, and finds errors in them.
 */
export async function declarations(plan, target) {
  const emitted = join(target, 'types')
  const { code, output } = await runNode([bin.tsc, '-p', fromRoot(plan.types), '--outDir', emitted])
  if (code !== 0) throw new Error(`build: types of ${plan.folder} do not compile\n${output}`)
  const files = filesIn(emitted).filter((file) => file.endsWith('.d.ts'))
  for (const file of files) writeFileSync(file, nodeSpecifiers(readFileSync(file, 'utf8')))
  const typed = Object.entries(plan.entries).filter(([entry]) => !plan.untyped.includes(entry))
  await bundleDeclarations(plan, { ...Object.fromEntries(typed), ...plan.exportedByHosts }, emitted, target)
  rmSync(emitted, { recursive: true })
}

async function bundleDeclarations(plan, entries, emitted, target) {
  const source = (file) => join(emitted, file.replace(/\.tsx?$/, '.d.ts'))
  // A file of names that hosts export with `*` stays one: otherwise each of them lists all names twice, 7 kB.
  const files = Object.fromEntries(
    Object.entries(plan.exportedByHosts).map(([entry, file]) => [`./${entry}.js`, source(file)]),
  )
  const keepFiles = {
    name: 'keep-files',
    resolveId(specifier, importer = '') {
      const imported = join(dirname(importer), specifier.replace(/\.js$/, '.d.ts'))
      const id = Object.keys(files).find((each) => files[each] === imported)
      return id ? { id, external: true } : null
    },
  }
  const graph = moduleGraph(files)
  const bundled = await rolldown({
    cwd: emitted,
    input: Object.fromEntries(Object.entries(entries).map(([out, file]) => [out, source(file)])),
    external: (id) => !id.startsWith('.') && !id.startsWith(emitted),
    plugins: [dts({ dtsInput: true, emitDtsOnly: true, tsconfig: false }), graph.plugin, keepFiles],
    preserveEntrySignatures: 'strict',
    experimental: { attachDebugInfo: 'none' },
    // How long plugins take depends on the machine.
    checks: { bundlerTimings: false },
    onLog(level, log) {
      if (level === 'warn') throw new Error(`build: ${log.message}`)
    },
  })
  await bundled.write({
    dir: target,
    format: 'esm',
    entryFileNames: '[name].d.ts',
    chunkFileNames: 'shared/[name].d.ts',
    minifyInternalExports: false,
    codeSplitting: { groups: createGroups(plan, entries, graph, source) },
  })
  await bundled.close()
}

/** The compiler keeps `.ts` in the imports of declarations; only `.js` resolves in every mode. */
export function nodeSpecifiers(text) {
  return text.replace(/((?:\bfrom|\bimport|\bimport\()\s*(['"])\.{1,2}\/[^'"\n]*?)\.tsx?\2/g, '$1.js$2')
}
