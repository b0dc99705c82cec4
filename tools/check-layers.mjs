// Checks what the modules of the library import. Biome does not tell types from values, so this table is ours.
import { posix } from 'node:path'
import { parseSync, Visitor } from 'rolldown/utils'
import { filesBelow, lineAt, readText } from './lib/files.mjs'
import { finish } from './lib/gate.mjs'
import { isMain } from './lib/run.mjs'
import { barrels, layers, packagePlaces, rootModules } from './rules/layers.mjs'

const base = 'packages/idp-client/src'

/**
 * The imports and re-exports of a module.
 *
 * @param {string} path of the module; its extension tells the language
 * @returns {{ specifier: string | null, typeOnly: boolean, line: number }[]} in the order of the text
 */
export function findImports(path, text) {
  const { program, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`)
  const found = []
  const add = (source, typeOnly) => {
    if (source) found.push({ specifier: source.value ?? null, typeOnly, line: lineAt(text, source.start) })
  }
  new Visitor({
    ImportDeclaration: ({ source, importKind }) => add(source, importKind === 'type'),
    ExportNamedDeclaration: ({ source, exportKind }) => add(source, exportKind === 'type'),
    ExportAllDeclaration: ({ source, exportKind }) => add(source, exportKind === 'type'),
    ImportExpression: ({ source }) => add(source, false),
    TSImportType: ({ source }) => add(source, true),
  }).visit(program)
  return found.sort((a, b) => a.line - b.line)
}

/**
 * Returns the violations of one module, as `path:line message`.
 *
 * @param {string} path relative to the source folder
 */
export function violations(path, text) {
  const isBarrel = posix.basename(path).startsWith('index.') && !barrels.includes(path)
  const imports = findImports(path, text).flatMap((item) => {
    const message = importProblem(path, item)
    return message === null ? [] : [`${base}/${path}:${item.line} ${message}`]
  })
  return isBarrel
    ? [`${base}/${path}:1 is a barrel: only package entries are called index.ts`, ...imports]
    : imports
}

function importProblem(from, { specifier, typeOnly }) {
  // The module of an application, which its developer names.
  if (specifier === null)
    return from === 'cli/doctor/setup.ts' ? null : 'imports a module that an expression names'
  if (!specifier.startsWith('.')) return packageProblem(from, specifier, typeOnly)
  return moduleProblem(from, posix.join(posix.dirname(from), specifier), typeOnly)
}

function moduleProblem(from, to, typeOnly) {
  if (to.startsWith('..')) return `leaves the source folder: ${to}`
  if ((to.endsWith('index.ts') || to === 'public.ts') && !barrels.includes(from))
    return `imports the barrel ${to}: import the module itself`
  const layer = toLayer(from)
  const rule = layers[layer]
  if (rule === undefined) return `lies in no known layer: add ${layer} to tools/rules/layers.mjs`
  const goal = toLayer(to)
  if (goal === layer) {
    return rule.siblings === false && from !== to
      ? `imports its sibling ${to}: shared steps belong into tokens/`
      : null
  }
  if (barrels.includes(from) && typeOnly) return null
  const matches = (entry) => entry === goal || entry === to
  if (rule.values.some(matches)) return null
  if (!rule.types?.some(matches)) return `${layer} may not import ${to}`
  return typeOnly ? null : `${layer} may import ${to} only by "import type"`
}

function packageProblem(from, specifier, typeOnly) {
  const row = packagePlaces.find(({ name }) =>
    name.endsWith(':') ? specifier.startsWith(name) : specifier === name || specifier.startsWith(`${name}/`),
  )
  if (row === undefined) return `imports ${specifier}, which is not a dependency of the library`
  const within = (places = []) => places.some((place) => from.startsWith(place))
  if (within(row.places) || (typeOnly && within(row.typePlaces))) return null
  return `may not import ${specifier}: only ${[...row.places, ...(row.typePlaces ?? [])].join(', ') || 'nobody'} may`
}

/** Returns the longest folder that is a layer of its own, or the first folder where none is. */
function toLayer(path) {
  if (path in rootModules) return rootModules[path]
  const parts = path.split('/')
  const nested = parts.slice(0, 2).join('/')
  return parts[0] === 'adapters' || nested in layers ? nested : parts[0]
}

/** Returns the layers that could import themselves through others, by value or by type. */
export function circularLayers(rules) {
  const left = new Map(
    Object.entries(rules).map(([name, { values, types = [] }]) => {
      const goals = [...values, ...types].map((entry) => (entry in rules ? entry : toLayer(entry)))
      return [name, goals.filter((goal) => goal !== name)]
    }),
  )
  for (let before = 0; before !== left.size; ) {
    before = left.size
    for (const [name, goals] of left) if (!goals.some((goal) => left.has(goal))) left.delete(name)
  }
  return [...left.keys()]
}

if (isMain(import.meta)) {
  const modules = filesBelow(base, (path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path))
  const problems = modules.flatMap((path) => violations(path.slice(base.length + 1), readText(path)))
  const circular = circularLayers(layers).map(
    (name) => `tools/rules/layers.mjs: ${name} is in a cycle of folders`,
  )
  finish([...circular, ...problems], `${modules.length} modules`)
}
