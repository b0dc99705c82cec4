import { relative } from 'node:path'
import { build } from 'esbuild'
import { readJson } from './files.mjs'
import { fromRoot } from './run.mjs'

const shebang = '#!/usr/bin/env node\n'
const directive = '"use client";'

/**
 * Bundles the entries of a package in memory. Own modules end up in one file per entry plus the
 * chunks that entries share; dependencies and peers stay imports.
 *
 * @returns {Promise<{ path: string, contents: string }[]>} paths relative to `dist`
 */
export async function bundle(plan, wanted) {
  const dist = fromRoot(`${plan.folder}/dist`)
  const manifest = readJson(`${plan.folder}/package.json`)
  const result = await build({
    absWorkingDir: fromRoot(plan.folder),
    entryPoints: Object.entries(wanted).map(([out, source]) => ({ in: `src/${source}`, out })),
    outdir: 'dist',
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    jsx: 'automatic',
    sourcemap: true,
    legalComments: 'none',
    chunkNames: 'shared/[name]-[hash]',
    external: ['node:*', ...plan.external, ...dependencyNames(manifest)],
    tsconfigRaw: { compilerOptions: { target: 'ES2022', verbatimModuleSyntax: true } },
    logLevel: 'warning',
    logOverride: { 'unsupported-dynamic-import': 'error' },
  })
  const files = new Map(result.outputFiles.map((file) => [slashes(relative(dist, file.path)), file.text]))
  for (const command of plan.commands) if (wanted[command]) addShebang(files, command)
  for (const entry of plan.clientEntries) if (wanted[entry]) keepDirective(files, entry)
  return [...files].map(([path, contents]) => ({ path, contents }))
}

function dependencyNames(manifest) {
  const names = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
  return names.flatMap((name) => [name, `${name}/*`])
}

function addShebang(files, entry) {
  const text = files.get(`${entry}.js`)
  if (text.startsWith('#!')) return
  files.set(`${entry}.js`, shebang + text)
  // One line more on top: one empty group more in the map.
  const map = JSON.parse(files.get(`${entry}.js.map`))
  files.set(`${entry}.js.map`, JSON.stringify({ ...map, mappings: `;${map.mappings}` }))
}

// Without the directive a Server Component that imports the entry would fail at `createContext`.
function keepDirective(files, entry) {
  if (!files.get(`${entry}.js`).startsWith(directive)) {
    throw new Error(`build: the source of entry ${entry} must begin with the directive 'use client'`)
  }
}

const slashes = (path) => path.replaceAll('\\', '/')
