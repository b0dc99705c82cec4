import type { Edit } from './code.ts'
import { applyEdits, blank, splitList, word } from './code.ts'

/** A name that a module exports, and how the file spells it: `auth`, `signIn as login`, or `oidc.auth`. */
interface ImportedName {
  readonly name: string
  readonly local: string
  readonly isType: boolean
}

/** A statement that imports from a module: an import, a `require`, or one that takes names from such an import. */
export interface ImportStatement {
  readonly start: number
  readonly end: number
  readonly kind: 'import' | 'require' | 'names'
  readonly module: string
  readonly isType: boolean
  /** The name of the whole module: a default or namespace import, or the result of `require`. */
  readonly whole: string | undefined
  readonly names: readonly ImportedName[]
  /** Whether other modules can import the names from this one, so that all of them count as used. */
  readonly isExported: boolean
}

const importPattern =
  /(?<![\w$.])import\s+(?<type>type\s+)?(?:(?:\*\s*as\s+)?(?<whole>[\w$]+)\s*,?\s*)?(?:\{(?<list>[^{}]*)\}\s*)?(?:from\s*)(?<quote>['"])(?<module>[^'"]*)\k<quote>[ \t]*;?/g
const requirePattern =
  /(?<![\w$.])(?:const|let|var)\s+(?:(?<whole>[\w$]+)|\{(?<list>[^{}]*)\})\s*=\s*require\(\s*(?<quote>['"])(?<module>[^'"]*)\k<quote>\s*\)[ \t]*;?/g

function parseNames(list: string, isType: boolean): ImportedName[] {
  return splitList(list).flatMap((entry) => {
    const match = /^\s*(type\s+)?([\w$]+)(?:\s*(?:\sas\s|:)\s*([\w$]+))?\s*$/.exec(entry)
    if (match === null) return []
    const [, type, name = '', local = name] = match
    return [{ name, local, isType: isType || type !== undefined }]
  })
}

/** Returns the statement that a pattern found in code. */
function toStatement(
  code: string,
  { 0: found, groups, index }: RegExpExecArray,
  kind: ImportStatement['kind'],
): ImportStatement {
  const { list = '', module = '', type, whole } = groups ?? {}
  return {
    start: index,
    end: index + found.length,
    kind,
    module,
    isType: type !== undefined,
    whole,
    names: parseNames(list, type !== undefined),
    isExported: /\bexport\s+$/.test(code.slice(0, index)),
  }
}

/** Returns the statements that take names from the whole module: `const { auth } = oidc`. */
function destructured(code: string, { module, whole }: ImportStatement): ImportStatement[] {
  if (whole === undefined) return []
  const name = whole.replaceAll('$', '\\$')
  const pattern = new RegExp(
    `(?<![\\w$.])(?:const|let|var)\\s+\\{(?<list>[^{}]*)\\}\\s*=\\s*${name}(?![\\w$.(\\[])[ \\t]*;?`,
    'g',
  )
  return [...code.matchAll(pattern)].map((match) => ({ ...toStatement(code, match, 'names'), module }))
}

/** Returns the statements of a file that import from modules for which `isWanted` is true, in their order. */
export function findImports(text: string, isWanted: (module: string) => boolean): ImportStatement[] {
  const code = blank(text)
  const imports = [...text.matchAll(importPattern)].map((match) => toStatement(code, match, 'import'))
  const requires = [...text.matchAll(requirePattern)].map((match) => toStatement(code, match, 'require'))
  // In comments and strings the first letter is blank.
  const statements = [...imports, ...requires].filter(
    ({ start, module }) => code[start] !== ' ' && isWanted(module),
  )
  return [...statements, ...statements.flatMap((statement) => destructured(code, statement))].sort(
    (a, b) => a.start - b.start,
  )
}

/** Returns how a file spells an exported name: `auth`, an alias of it, or `oidc.auth`. */
export function spellings(statements: readonly ImportStatement[], name: string): string[] {
  return statements.flatMap(({ names, whole, kind }) => [
    ...names.filter((each) => each.name === name).map(({ local }) => local),
    ...(whole === undefined || kind === 'names' ? [] : [`${whole}.${name}`]),
  ])
}

/** Returns the part of an import list for a name: `auth`, or with an alias `auth as oidc` or `auth: oidc`. */
function specifier(
  { name, local, isType }: ImportedName,
  kind: ImportStatement['kind'],
  inType: boolean,
): string {
  const type = isType && !inType && kind === 'import' ? 'type ' : ''
  if (name === local) return type + name
  return kind === 'import' ? `${type}${name} as ${local}` : `${name}: ${local}`
}

/** The import in place of a statement: its module, names to add, and names with another spelling. */
export interface Replacement {
  readonly module: string
  readonly added: readonly string[]
  readonly renamed: Readonly<Record<string, string>>
}

/**
 * Returns the edit that imports from another module: the added names, and those that the file still uses. A statement without names
 * is removed, with its line.
 */
function rewriteStatement(text: string, statement: ImportStatement, replacement: Replacement): Edit {
  const { start, end, kind, whole } = statement
  const rest = blank(text.slice(0, start) + text.slice(end))
  const added = kind === 'names' ? [] : replacement.added
  const isType = statement.isType && added.length === 0
  const used = statement.names.filter(({ local }) => statement.isExported || word(local).test(rest))
  const kept = used.map(({ name, local, isType: each }) => {
    const wanted = replacement.renamed[name] ?? name
    return specifier({ name: wanted, local, isType: each }, kind, isType)
  })
  const names = [...added, ...kept].sort(byName)
  // Between empty lines one of them goes, too.
  const isApart = /(?:^|\n)[ \t]*\n$/.test(text.slice(0, start))
  const whitespace = (isApart ? /^\n{1,2}/ : /^\n?/).exec(text.slice(end))?.[0] ?? ''
  const isWholeUsed = whole !== undefined && word(whole).test(rest)
  if (names.length === 0 && !isWholeUsed) return { start, end: end + whitespace.length, text: '' }
  const found = text.slice(start, end)
  const semicolon = found.endsWith(';') ? ';' : ''
  const quote = found.includes('"') ? '"' : "'"
  const target = quote + replacement.module + quote
  const list = names.length === 0 ? '' : `{ ${names.join(', ')} }`
  if (kind === 'names') return { start, end, text: found.replace(/\{[^{}]*\}/, list) }
  const type = isType ? 'type ' : ''
  const parts = [isWholeUsed ? whole : '', list].filter((part) => part !== '')
  if (kind === 'import')
    return { start, end, text: `import ${type}${parts.join(', ')} from ${target}${semicolon}` }
  const statements = parts.map((part) => `const ${part} = require(${target})${semicolon}`)
  return { start, end, text: statements.join('\n') }
}

/** Replaces the imports from modules for which `isWanted` is true; the first one that can gets the names to add. */
export function replaceImports(
  draft: { text: string },
  isWanted: (module: string) => boolean,
  replacement: Replacement,
): void {
  const statements = findImports(draft.text, isWanted)
  const receiver = statements.find(({ isType }) => !isType) ?? statements[0]
  // From the end: names that are taken from a module may be all that uses it.
  for (const statement of [...statements].reverse()) {
    const added = statement === receiver ? replacement.added : []
    const edit = rewriteStatement(draft.text, statement, { ...replacement, added })
    draft.text = applyEdits(draft.text, [edit])
  }
}

/** Removes the names of imports that the file does not use, and statements without names. */
export function keepUsedNames(
  draft: { text: string },
  isWanted: (statement: ImportStatement) => boolean,
): void {
  const wanted = findImports(draft.text, () => true).filter(isWanted)
  for (const statement of [...wanted].reverse()) {
    const replacement = { module: statement.module, added: [], renamed: {} }
    draft.text = applyEdits(draft.text, [rewriteStatement(draft.text, statement, replacement)])
  }
}

const bare = (name: string): string => name.replace(/^type /, '').toLowerCase()
const byName = (a: string, b: string): number => (bare(a) < bare(b) ? -1 : 1)
