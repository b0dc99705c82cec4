import { rolldown } from 'rolldown'
import { readJson } from './files.mjs'
import { generatedModules } from './init-data.mjs'
import { fromRoot } from './run.mjs'

/**
 * Bundles the entries of a package in memory. What every host loads with its first import is one file, since many small
 * ones cost time; what the lean entries share is another. Everything else is a chunk of the entries that share it, or is loaded
 * when it is first used. Dependencies and peers stay imports.
 *
 * @returns {Promise<{ path: string, contents: string }[]>} paths relative to `dist`
 */
export async function bundle(plan) {
  const graph = moduleGraph()
  const wanted = { ...plan.entries, ...plan.separate }
  const bundled = await rolldown(inputOptions(plan, wanted, [graph.plugin]))
  const { output } = await bundled.generate({
    ...outputOptions,
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: createGroups(plan, wanted, graph, toSourcePath(plan)),
    },
  })
  await bundled.close()
  refuseCycles(plan, output)
  return toContents(output)
}

const toSourcePath = (plan) => (file) => fromRoot(`${plan.folder}/src/${file}`)

/** Options of rolldown for every bundle of a package. */
function inputOptions(plan, wanted, plugins) {
  const outside = [...plan.external, ...dependencyNames(readJson(`${plan.folder}/package.json`))]
  return {
    cwd: fromRoot(plan.folder),
    input: Object.fromEntries(Object.entries(wanted).map(([out, file]) => [out, toSourcePath(plan)(file)])),
    external: (id) =>
      id.startsWith('node:') || outside.some((name) => id === name || id.startsWith(`${name}/`)),
    platform: 'neutral',
    tsconfig: false,
    preserveEntrySignatures: 'allow-extension',
    transform: { target: 'es2022' },
    plugins: [...plugins, generatedModules()],
    // No comments that name the source of each module.
    experimental: { attachDebugInfo: 'none' },
    // How long plugins take depends on the machine.
    checks: { bundlerTimings: false },
    onLog(level, log) {
      // The directive is for the bundler of the application; it stays at the top of its entry.
      if (log.code === 'MODULE_LEVEL_DIRECTIVE') return
      if (level === 'warn') throw new Error(`build: ${log.message}`)
    },
  }
}

const outputOptions = {
  format: 'esm',
  entryFileNames: '[name].js',
  // The pages are in one file, whose name does not change the others when a page changes.
  chunkFileNames: ({ name }) => (name.endsWith('init-data') ? 'init-data.js' : 'shared/[name]-[hash].js'),
  // Readers have the repository: comments are two fifths of the code, and the declarations have those for users. Bundlers
  // need the annotations of what they may remove.
  comments: { legal: false, jsdoc: false, annotation: true },
  // Files import each other's functions by their names: shorter than a letter and the name, and easier to read.
  minifyInternalExports: false,
}

const toContents = (output) =>
  output.map((file) => ({ path: file.fileName, contents: file.type === 'chunk' ? file.code : file.source }))

/** The modules or files that load with a given one, itself included. */
export function loadedWith(id, importsOf, seen = new Set()) {
  if (seen.has(id)) return seen
  seen.add(id)
  for (const imported of importsOf(id)) loadedWith(imported, importsOf, seen)
  return seen
}

/**
 * Which modules load together with a given one.
 *
 * @param {Record<string, string>} [outside] modules of the bundle that others import by another name
 */
export function moduleGraph(outside = {}) {
  const imports = new Map()
  const toModule = (id) => outside[id] ?? id
  const plugin = {
    name: 'module-graph',
    buildEnd() {
      for (const id of this.getModuleIds())
        imports.set(id, (this.getModuleInfo(id)?.importedIds ?? []).map(toModule))
    },
  }
  return { plugin, loadedWith: (id) => loadedWith(id, (each) => imports.get(each) ?? []) }
}

export function createGroups(plan, wanted, graph, source) {
  const sets = (names) =>
    names.filter((name) => wanted[name]).map((name) => graph.loadedWith(source(wanted[name])))
  let core
  let lean
  const inCore = (id) => {
    core ??= sets(plan.hosts ?? [])
    return core.length > 0 && core.every((set) => set.has(id))
  }
  const inLean = (id) => {
    lean ??= sets([...(plan.leanEntries ?? []), ...Object.keys(plan.separate)])
    return lean.some((set) => set.has(id))
  }
  // One file of each adapter that others build on: by default there is one for every set of entries that share some of it.
  const isShared = (id) => sets(Object.keys(wanted)).filter((set) => set.has(id)).length > 1
  const inAdapter = (name) => (id) => id.includes(`/adapters/${name}/`) && isShared(id)
  return [
    { name: 'base', test: (id) => inCore(id) && inLean(id), priority: 2 },
    { name: 'core', test: inCore, priority: 1 },
    // In declarations, what both use goes with the first: runtimes other than Node have no types of Node.
    { name: 'web-host', test: inAdapter('web') },
    { name: 'node-host', test: inAdapter('node') },
    { name: 'nuxt-host', test: inAdapter('nuxt') },
  ]
}

/**
 * A separate file is imported by its name in the `imports` map: the chunks that it imports must not import that name,
 * because the file would then be used before it is evaluated.
 */
function refuseCycles(plan, output) {
  const chunks = output.filter(({ type }) => type === 'chunk')
  const imports = Object.fromEntries(chunks.map((chunk) => [chunk.fileName, chunk.imports]))
  for (const entry of Object.keys(plan.separate)) {
    const named = [...loadedWith(`${entry}.js`, (id) => imports[id] ?? [])].find((id) => id.startsWith('#'))
    if (named) throw new Error(`build: ${entry} imports ${named}, itself or by a chunk`)
  }
}

const dependencyNames = (manifest) => Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
