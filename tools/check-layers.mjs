// Holds the import rules of the library and finds value cycles.
import { cyclesOf } from './lib/cycles.mjs'
import { filesBelow, lineAt } from './lib/files.mjs'
import { finish } from './lib/gate.mjs'
import { modulesBelow, target, unresolved } from './lib/imports.mjs'
import { isMain } from './lib/run.mjs'
import { blank } from './lib/source-text.mjs'
import { confined, entries, exceptions, layers, packagePlaces, rootModules } from './rules/layers.mjs'

const base = 'packages/idp-client/src/'

/**
 * All violations in a set of modules (see `modulesBelow`), as `path:line message`.
 *
 * @param {{ path: string, text: string, imports: { specifier: string, typeOnly: boolean, line: number }[] }[]} modules
 * @param {{ from: string, to: string, reason: string }[]} [allowed] argued exceptions
 */
export function violations(modules, allowed = []) {
  const used = new Set()
  const problems = []
  for (const module of modules) {
    const from = module.path.slice(base.length)
    for (const item of module.imports) {
      const message = importProblem(from, item)
      if (message === null) continue
      const to = target(from, item.specifier) ?? item.specifier
      const exception = allowed.find((candidate) => candidate.from === from && candidate.to === to)
      if (exception) used.add(exception)
      else problems.push(`${module.path}:${item.line} ${message}`)
    }
    problems.push(...confinedProblems(module, from))
  }
  for (const cycle of cyclesOf(modules)) problems.push(`value cycle: ${cycle.join(' -> ')}`)
  for (const exception of allowed) {
    if (!used.has(exception))
      problems.push(`exception ${exception.from} -> ${exception.to} is not needed any more`)
  }
  return problems
}

function importProblem(from, item) {
  const to = target(from, item.specifier)
  return to === null ? packageProblem(from, item) : moduleProblem(from, to, item.typeOnly)
}

function moduleProblem(from, to, typeOnly) {
  if (to.startsWith('..')) return `leaves the source folder: ${to}`
  if (to.endsWith('index.ts') && !entries.includes(from))
    return `imports the barrel ${to}: import the module itself`
  const layer = layerOf(from)
  const rule = layers[layer]
  if (rule === undefined) return `lies in no known layer: add ${layer} to tools/rules/layers.mjs`
  const goal = layerOf(to)
  if (goal === layer) {
    return rule.siblings === false && from !== to
      ? `imports its sibling ${to}: shared steps belong into tokens/`
      : null
  }
  if (entries.includes(from) && typeOnly) return null
  const matches = (entry) => entry === goal || entry === to
  if (rule.values.some(matches)) return null
  if (!(rule.types ?? []).some(matches)) return `${layer} may not import ${to}`
  return typeOnly ? null : `${layer} may import ${to} only by "import type"`
}

function packageProblem(from, { specifier, typeOnly }) {
  const row = packagePlaces.find(({ name }) =>
    name.endsWith(':') ? specifier.startsWith(name) : specifier === name || specifier.startsWith(`${name}/`),
  )
  if (row === undefined) return `imports ${specifier}, which is no dependency of the library`
  const within = (places = []) => places.some((place) => from.startsWith(place))
  if (within(row.places) || (typeOnly && within(row.typePlaces))) return null
  return `may not import ${specifier}: only ${[...row.places, ...(row.typePlaces ?? [])].join(', ') || 'nobody'} may`
}

function layerOf(path) {
  if (rootModules.includes(path)) return 'root'
  const parts = path.split('/')
  return parts[0] === 'adapters' ? parts.slice(0, 2).join('/') : parts[0]
}

function confinedProblems(module, from) {
  const code = blank(module.text)
  return confined.flatMap(({ what, pattern, places, cure }) => {
    if (places.some((place) => from.startsWith(place))) return []
    return [...code.matchAll(new RegExp(pattern, 'g'))].map(
      (match) => `${module.path}:${lineAt(code, match.index)} uses ${what}: ${cure}`,
    )
  })
}

function foreignProblems() {
  const provider = modulesBelow('packages/dev-provider/src').flatMap((module) =>
    module.imports
      .filter(({ specifier }) => /^idp-client(?:\/|$)/.test(specifier) || specifier.includes('idp-client/'))
      .map(({ line }) => `${module.path}:${line} the dev provider must not know the library`),
  )
  const barrels = filesBelow(base.slice(0, -1), (path) => /(?:^|\/)index\.tsx?$/.test(path))
    .filter((path) => !entries.includes(path.slice(base.length)))
    .map((path) => `${path}:1 is a barrel: only package entries are called index.ts`)
  return [...provider, ...barrels]
}

if (isMain(import.meta)) {
  const modules = modulesBelow(base.slice(0, -1))
  const lost = modules.flatMap((module) =>
    unresolved(module).map(({ specifier, line }) => `${module.path}:${line} cannot find ${specifier}`),
  )
  finish([...lost, ...violations(modules, exceptions), ...foreignProblems()], `${modules.length} modules`)
}
