import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseSync, Visitor } from 'rolldown/utils'

/** Reads one bundled declaration file: its declarations, imports and exports by name. */
function readModule(file) {
  const { program } = parseSync(file, readFileSync(file, 'utf8'))
  const declared = new Map()
  const imported = new Map()
  const exported = new Map()
  for (const node of program.body) {
    const declaration = node.declaration ?? node
    for (const { imported: from, local } of node.type === 'ImportDeclaration' ? node.specifiers : []) {
      imported.set(local.name, { source: node.source.value, name: from?.name })
    }
    for (const { exported: as, local } of node.type === 'ExportNamedDeclaration' ? node.specifiers : []) {
      exported.set(as.name, local.name)
    }
    const names = declaration.id
      ? [declaration.id.name]
      : (declaration.declarations ?? []).map(({ id }) => id.name)
    for (const name of names) declared.set(name, [...(declared.get(name) ?? []), declaration])
  }
  return { file, declared, imported, exported }
}

/** The leftmost name of `A`, `A.B`. */
const firstName = (node) => (node?.left ? firstName(node.left) : node?.name)

/** Names of types and values that a declaration refers to, without its own type parameters. */
function namesIn(declaration) {
  const names = new Set()
  const own = new Set()
  const program = { type: 'Program', body: [declaration], sourceType: 'module', start: 0, end: 0 }
  new Visitor({
    TSTypeParameter: ({ name }) => own.add(name.name),
    TSTypeReference: ({ typeName }) => names.add(firstName(typeName)),
    TSTypeQuery: ({ exprName }) => names.add(firstName(exprName)),
    TSInterfaceHeritage: ({ expression }) => names.add(firstName(expression)),
    ClassDeclaration: ({ superClass }) => names.add(firstName(superClass)),
  }).visit(program)
  return [...names].filter((name) => name !== undefined && !own.has(name))
}

/**
 * Names that editors show on hover although no entry exports them: those that the declarations of exported names refer
 * to, and so on.
 *
 * @param {string} folder of the bundled declarations
 * @param {string[]} entries names of their files, without `.d.ts`
 */
export function unexportedNames(folder, entries) {
  const modules = new Map()
  const load = (file) => modules.get(file) ?? modules.set(file, readModule(file)).get(file)
  const find = (module, name) => {
    const from = module.imported.get(name)
    if (from === undefined) return module.declared.has(name) ? { module, name } : null
    if (!from.source.startsWith('.')) return null
    const source = load(join(dirname(module.file), from.source.replace(/\.js$/, '.d.ts')))
    return find(source, source.exported.get(from.name))
  }
  const toKey = ({ module, name }) => `${module.file}#${name}`
  const exported = entries.flatMap((entry) => {
    const module = load(join(folder, `${entry}.d.ts`))
    return [...module.exported.values()].flatMap((name) => find(module, name) ?? [])
  })
  const seen = new Map(exported.map((place) => [toKey(place), place]))
  const exportedKeys = new Set(seen.keys())
  for (const { module, name } of seen.values()) {
    for (const other of module.declared.get(name).flatMap(namesIn)) {
      const place = find(module, other)
      if (place && !seen.has(toKey(place))) seen.set(toKey(place), place)
    }
  }
  return [...seen].flatMap(([key, { name }]) => (exportedKeys.has(key) ? [] : [name])).sort()
}
