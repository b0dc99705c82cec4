// Bundles every entry as an application would and looks at what it brings along.
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { loadedWith } from './lib/bundle.mjs'
import { readJson } from './lib/files.mjs'
import { finish } from './lib/gate.mjs'
import { fromRoot, isMain } from './lib/run.mjs'
import { dependencies, entries, maxModules, nodeModules, slack } from './rules/entries.mjs'

const folder = 'packages/idp-client'
/** The packages of hosts, which an application has. */
const outside = Object.values(entries)
  .flatMap(({ imports = [] }) => imports)
  .flatMap((name) => (name.endsWith(':') ? [`${name}*`] : [name, `${name}/*`]))

const runtimes = { node: ['node'], other: ['edge-light', 'worker', 'browser'] }

const bundleOptions = {
  absWorkingDir: fromRoot(folder),
  bundle: true,
  minify: true,
  write: false,
  format: 'esm',
  target: 'es2022',
  platform: 'neutral',
  mainFields: ['module', 'main'],
  legalComments: 'none',
  // The sources' tsconfig maps the cipher to a file; here the imports map has to decide.
  tsconfigRaw: {},
  logLevel: 'silent',
}

/**
 * Returns the contents of a bundle of one built entry.
 *
 * @returns {Promise<{ bytes: number, lazyBytes: number, modules: number, packages: string[], external: string[] }>} sizes
 *   after minification and gzip, with dependencies, without the host packages; `bytes` and `modules` load with the
 *   entry, `lazyBytes` when first used
 */
export async function measureEntry(file, conditions) {
  const result = await build({
    ...bundleOptions,
    entryPoints: [file],
    splitting: true,
    outdir: 'bundle',
    metafile: true,
    conditions,
    external: ['node:*', ...outside],
  })
  const { outputs } = result.metafile
  const entryName = Object.keys(outputs).find(
    (name) => outputs[name].entryPoint === file.replace(/^\.\//, ''),
  )
  const isLoaded = ({ external, kind }) => kind === 'import-statement' && !external
  const importsOf = (name) => outputs[name].imports.filter(isLoaded).map(({ path }) => path)
  const loaded = [...loadedWith(entryName, importsOf)]
  const first = loaded.map((name) => fromRoot(`${folder}/${name}`))
  const sumSizes = (files) =>
    files.reduce((sum, output) => sum + gzipSync(output.contents, { level: 9 }).length, 0)
  const packages = Object.keys(result.metafile.inputs)
    .map(toPackageName)
    .filter((name) => name !== null)
  const imports = Object.values(result.metafile.outputs).flatMap((output) => output.imports)
  return {
    bytes: sumSizes(result.outputFiles.filter(({ path }) => first.includes(path))),
    lazyBytes: sumSizes(result.outputFiles.filter(({ path }) => !first.includes(path))),
    modules: new Set(loaded.flatMap((name) => Object.keys(outputs[name].inputs))).size,
    packages: [...new Set(packages)].sort(),
    external: [...new Set(imports.filter((item) => item.external).map((item) => item.path))].sort(),
  }
}

/** Returns what to say of bytes that exceed a recorded size by more than the slack, or null; no size allows everything. */
export function growthProblem(bytes, size = Number.POSITIVE_INFINITY) {
  if (bytes <= size * (1 + slack)) return null
  return `${bytes} bytes, ${slack * 100} % more than ${size} are allowed: make it smaller, or write down the new size`
}

/** Returns the problems of an entry that was resolved for a runtime. */
export function entryProblems(entry, runtime, contents) {
  const { bytes, imports = [], kind, lazyBytes } = entries[entry]
  const problems = []
  const growth = growthProblem(contents.bytes, bytes)
  if (growth) problems.push(`has ${growth}`)
  if (contents.modules > maxModules)
    problems.push(`imports ${contents.modules} modules, the budget is ${maxModules}`)
  const lazyGrowth = growthProblem(contents.lazyBytes, lazyBytes)
  if (lazyGrowth) problems.push(`loads later ${lazyGrowth}`)
  for (const name of contents.packages) {
    if (kind === 'browser' && dependencies.includes(name))
      problems.push(`contains ${name}, which belongs to the server`)
    if (kind === 'store') problems.push(`contains ${name}, which no store may bring along`)
  }
  for (const specifier of contents.external) {
    if (specifier.startsWith('node:')) {
      const isAllowed =
        kind === 'build' || (!['browser', 'store'].includes(kind) && nodeModules.includes(specifier))
      if (runtime !== 'node' || !isAllowed) problems.push(`reaches ${specifier}`)
      continue
    }
    if (!imports.some((name) => `${specifier}/`.startsWith(name.endsWith(':') ? name : `${name}/`)))
      problems.push(`imports ${specifier}, which is not one of its packages`)
    // Pages Router loads installed packages with the loader of Node, and next has no exports map.
    if (specifier.startsWith('next/') && !specifier.endsWith('.js'))
      problems.push(`imports ${specifier} without its extension`)
  }
  return problems.map((problem) => `${entry} (${runtime}) ${problem}`)
}

function toPackageName(input) {
  const match = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*\/node_modules\/)/.exec(input)
  return match?.[1] ?? null
}

if (isMain(import.meta)) {
  const manifest = readJson(`${folder}/package.json`)
  const problems = []
  const declared = Object.keys(manifest.dependencies).sort()
  if (declared.join() !== dependencies.join())
    problems.push(
      `${folder}/package.json depends on ${declared.join(', ')}; allowed: ${dependencies.join(', ')}`,
    )
  const files = Object.values(manifest.exports).flatMap((target) => target.default ?? [])
  for (const file of files) {
    const entry = /([\w-]+)\.js$/.exec(file)[1]
    for (const [runtime, conditions] of Object.entries(runtimes)) {
      if ((entry === 'express' || entries[entry].kind === 'build') && runtime === 'other') continue
      const contents = await measureEntry(file, conditions).catch((error) => error)
      if (contents instanceof Error) {
        problems.push(`${entry} (${runtime}) does not bundle: ${contents.message}`)
        continue
      }
      problems.push(...entryProblems(entry, runtime, contents))
      console.log(
        `note: ${entry} (${runtime}): ${contents.bytes} bytes gzip, ${contents.lazyBytes} more when first used; ${[...contents.packages, ...contents.external].join(', ')}`,
      )
    }
  }
  finish(problems, `${files.length} entries`)
}
