import { target } from './imports.mjs'

/**
 * Cycles of value imports. Type imports vanish at run time and do not count.
 *
 * @param {{ path: string, imports: { specifier: string, typeOnly: boolean }[] }[]} modules
 * @returns {string[][]} each cycle as a path that ends where it began, one per group of modules
 *   that reach each other
 */
export function cyclesOf(modules) {
  const edges = new Map(modules.map((module) => [module.path, valueTargets(module)]))
  const state = new Map()
  const cycles = []
  const visit = (path, trail) => {
    if (state.get(path) === 'done' || !edges.has(path)) return
    if (state.get(path) === 'open') {
      cycles.push([...trail.slice(trail.indexOf(path)), path])
      return
    }
    state.set(path, 'open')
    for (const next of edges.get(path)) visit(next, [...trail, path])
    state.set(path, 'done')
  }
  for (const path of edges.keys()) visit(path, [])
  return cycles
}

function valueTargets(module) {
  const paths = module.imports
    .filter((item) => !item.typeOnly)
    .map((item) => target(module.path, item.specifier))
  return [...new Set(paths.filter((path) => path !== null))]
}
