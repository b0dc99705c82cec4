import { parseSync } from 'rolldown/utils'

/** The text of a docstring without its stars, a paragraph per line, and its tags by their name. */
export function parseDocstring(comment) {
  const lines = comment
    .replace(/^\*/, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trim())
  const [text = '', ...tags] = lines.join('\n').trim().split(/^@/m)
  return {
    text: text.trim().replace(/\n/g, ' '),
    tags: Object.fromEntries(
      tags.map((tag) => {
        const [, name, value] = /^(\w+)\s*([\s\S]*)$/.exec(tag.trim())
        return [name, value.replace(/\n/g, ' ')]
      }),
    ),
  }
}

const commentBefore = (start, comments, source) =>
  comments.findLast(({ end }) => end <= start && source.slice(end, start).trim() === '')?.value ?? ''

/** Names and docstrings of the classes that a module exports. */
export function docstringsOfClasses(source) {
  const { comments, program } = parseSync('module.ts', source)
  return program.body
    .filter(({ declaration }) => declaration?.type === 'ClassDeclaration')
    .map(({ declaration, start }) => [
      declaration.id.name,
      parseDocstring(commentBefore(start, comments, source)).text,
    ])
}

/** Types of the module by their name: the members that they declare. */
function declaredTypes(program) {
  const declarations = program.body.map((node) => node.declaration ?? node)
  return new Map(
    declarations
      .filter(({ type }) => type === 'TSInterfaceDeclaration')
      .map(({ body, id }) => [id.name, body.body]),
  )
}

/**
 * Reads the docstring of each option in `config/options.ts`.
 *
 * @param {string} source text of the module
 * @param {(path: string) => boolean} isGroup whether the members of an option are options
 * @returns {Map<string, { text: string, tags: Record<string, string> }>} by path
 */
export function optionDocs(source, isGroup) {
  const { comments, program } = parseSync('options.ts', source)
  const types = declaredTypes(program)
  const docs = new Map()
  const visit = (members, prefix) => {
    for (const { computed, key, start, typeAnnotation, type } of members) {
      if (type !== 'TSPropertySignature') continue
      const path = prefix + (computed ? `[${key.name}]` : key.name)
      docs.set(path, parseDocstring(commentBefore(start, comments, source)))
      if (isGroup(path)) visit(findMembers(typeAnnotation.typeAnnotation, types), `${path}.`)
    }
  }
  visit(types.get('IdpClientOptions'), '')
  return docs
}

/** The members of `Name | undefined` or `{ … } | undefined`. */
function findMembers(node, types) {
  const alternatives = node.type === 'TSUnionType' ? node.types : [node]
  return alternatives.flatMap(({ members, typeName }) => members ?? types.get(typeName?.name) ?? [])
}
