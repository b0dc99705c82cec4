import { parseSync, Visitor } from 'rolldown/utils'

/** The names of `{ a, b }`, or null for any other pattern. */
function plainNames(pattern) {
  if (pattern?.type !== 'ObjectPattern') return null
  const isPlain = ({ shorthand, type, value }) =>
    type === 'Property' && shorthand && value.type === 'Identifier'
  return pattern.properties.every(isPlain) ? pattern.properties.map(({ key }) => key.name) : null
}

/**
 * Replaces every `import('./module.ts')` of a module by a static import of that module, so that a bundler can remove what
 * is unused in it. Line numbers stay.
 */
export function withStaticImports(file, text) {
  const { program } = parseSync(file, text)
  const replacements = new Map()
  const names = []
  const toModuleName = (source) => {
    if (!names.includes(source)) names.push(source)
    return `loaded${names.indexOf(source)}`
  }
  const isOwn = (node) => node?.type === 'ImportExpression' && String(node.source.value).startsWith('.')
  new Visitor({
    ImportExpression: (node) => {
      if (isOwn(node) && !replacements.has(node.start))
        replacements.set(node.start, [node.end, `Promise.resolve(${toModuleName(node.source.value)})`])
    },
    // `const { a } = await import('./module.ts')` needs no other export of the module.
    VariableDeclarator: ({ id, init }) => {
      const found = plainNames(id)
      if (!found || init?.type !== 'AwaitExpression' || !isOwn(init.argument)) return
      const { argument } = init
      const module = toModuleName(argument.source.value)
      const picked = found.map((name) => `${name}: ${module}.${name}`).join(', ')
      replacements.set(argument.start, [argument.end, `{ ${picked} }`])
    },
  }).visit(program)
  let result = text
  for (const [start, [end, replacement]] of [...replacements].sort(([a], [b]) => b - a))
    result = result.slice(0, start) + replacement + result.slice(end)
  const imports = names.map((source, index) => `import * as loaded${index} from '${source}';`).join(' ')
  return imports + result
}

/** Plugin of rolldown: see `withStaticImports`. */
export function staticImports() {
  return {
    name: 'static-imports',
    transform: {
      order: 'pre',
      handler: (text, id) => (/\bimport\(/.test(text) ? { code: withStaticImports(id, text) } : null),
    },
  }
}
