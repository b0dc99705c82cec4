import {
  codes,
  methods,
  modules,
  peer,
  remarks,
  remarksEverywhere,
  renamed,
  unavailable,
  variables,
} from './nextjs-auth0-rules.ts'

export interface Remark {
  readonly line: number
  readonly text: string
}

export interface Rewritten {
  readonly text: string
  /** Changes to make by hand, in the order of the new text. */
  readonly remarks: readonly Remark[]
}

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length

const word = (name: string): RegExp => new RegExp(`(?<![\\w$.])${name}(?![\\w$])`, 'g')

const variablePattern = new RegExp(`\\bAUTH0_(${variables.join('|')})(?![A-Z0-9_])`, 'g')

const renameVariables = (text: string): string => text.replace(variablePattern, 'IDP_$1')

/** Returns a remark for each variable with the package's prefix that has no equivalent. */
function unknownVariables(text: string): Remark[] {
  return [...text.matchAll(/\bAUTH0_[A-Z0-9_]+/g)].map(({ 0: name, index }) => ({
    line: lineAt(text, index),
    text: `${name} is no variable of idp-client; it was left as it is.`,
  }))
}

/** Rewrites `.env`, `.env.local` and so on. */
export function rewriteEnvironment(text: string): Rewritten {
  const changed = renameVariables(text)
  return { text: changed, remarks: unknownVariables(changed) }
}

/** Reports variables in files that are not rewritten: they have to be renamed at deployment. */
export function remarkVariables(text: string): Remark[] {
  return [...text.matchAll(variablePattern)].map(({ 0: name, 1: rest, index }) => ({
    line: lineAt(text, index),
    text: `${name} is called IDP_${rest} now.`,
  }))
}

/**
 * Replaces the dependency, or removes it from a manifest that has this package already: `npm install idp-client` may have come
 * first, and npm reads only one of two entries with the same name.
 */
export function rewriteManifest(text: string, version: string): Rewritten {
  const dependency = `"${peer}"\\s*:\\s*"[^"]*"`
  const isInstalled = /"idp-client"\s*:\s*"/.test(text)
  const changed = isInstalled
    ? text.replace(new RegExp(`${dependency}\\s*,\\s*|,?\\s*${dependency}(?!\\s*,)`, 'g'), '')
    : text.replace(new RegExp(dependency, 'g'), `"idp-client": "^${version}"`)
  return { text: changed, remarks: [] }
}

/** Reports a middleware that passes requests to the client on the edge runtime, which shares no memory with the server. */
export function remarkRuntime(text: string): Remark[] {
  const call = text.search(/\.middleware\(/)
  if (call === -1 || /\bruntime\s*:\s*['"`]nodejs['"`]/.test(text)) return []
  const remark =
    "From Next.js 15.5 on, add runtime: 'nodejs' to config; from 16 on, name the file proxy.ts. Before 15.5, mount idp.handlers() in a route handler: https://github.com/idp-client/idp-client/blob/main/docs/guides/matcher.md#before-nextjs-16."
  return [{ line: lineAt(text, call), text: remark }]
}

interface Names {
  /** Names that the rest of the file uses, with their replacement. */
  readonly local: Map<string, string>
  readonly missing: Set<string>
}

/** Rewrites one entry of an import or export list, such as `type A as B`. */
function rewriteSpecifier(specifier: string, text: string, names: Names): string {
  const match = /^(\s*)((?:type\s+)?)([\w$]+)((?:\s+as\s+[\w$]+)?)(\s*)$/.exec(specifier)
  if (match === null) return specifier
  const [, before = '', type = '', name = '', alias = '', after = ''] = match
  if (Object.hasOwn(unavailable, name)) names.missing.add(name)
  const wanted = Object.hasOwn(renamed, name) ? renamed[name] : undefined
  if (wanted === undefined) return specifier
  if (alias !== '') return `${before}${type}${wanted}${alias}${after}`
  // The file already uses the new name: only the import is renamed.
  if (word(wanted).test(text)) return `${before}${type}${wanted} as ${name}${after}`
  names.local.set(name, wanted)
  return `${before}${type}${wanted}${after}`
}

const moduleName = `(['"])(${Object.keys(modules)
  .map((name) => name.replaceAll('/', '\\/'))
  .join('|')})\\2`

const listPattern = new RegExp(`(\\{[^{}]*\\})(?=\\s*from\\s*${moduleName})`, 'g')
const modulePattern = new RegExp(moduleName.replace('\\2', '\\1'), 'g')

function rewriteImports(text: string, names: Names): string {
  const lists = text.replace(listPattern, (list) => {
    const entries = list.slice(1, -1).split(',')
    return `{${entries.map((entry) => rewriteSpecifier(entry, text, names)).join(',')}}`
  })
  return lists.replace(modulePattern, (whole, quote: string, name: string) => {
    const target = modules[name]
    return target === undefined ? whole : quote + target + quote
  })
}

function renameUses(text: string, names: Names): string {
  let changed = text
  for (const [name, wanted] of names.local) changed = changed.replace(word(name), wanted)
  const literal = new RegExp(`(['"\`])(${codes.join('|')})\\1`, 'g')
  return changed.replace(literal, (_whole, quote: string, code: string) => quote + code.toUpperCase() + quote)
}

function remarksOn(text: string, patterns: typeof remarks): Remark[] {
  return patterns.flatMap(({ pattern, text: remark }) => {
    const found = new RegExp(pattern.source, `${pattern.flags}m`).exec(text)
    return found === null ? [] : [{ line: lineAt(text, found.index + leading(found[0])), text: remark }]
  })
}

function renameMethods(text: string): string {
  return Object.entries(methods).reduce(
    (changed, [name, wanted]) => changed.replace(new RegExp(`\\.${name}(?=\\s*\\()`, 'g'), `.${wanted}`),
    text,
  )
}

const leading = (found: string): number => found.length - found.trimStart().length

/** Rewrites TypeScript and JavaScript. Works on text: what the spelling does not decide becomes a remark. */
export function rewriteSource(text: string): Rewritten {
  const plain = renameMethods(renameVariables(text))
  const uses = new RegExp(modulePattern.source).test(text)
  const names: Names = { local: new Map(), missing: new Set() }
  const changed = uses ? renameUses(rewriteImports(plain, names), names) : plain
  const missing = [...names.missing].map((name) => ({
    line: lineAt(changed, changed.search(word(name))),
    text: `${name} ${unavailable[name]}.`,
  }))
  const found = [
    ...missing,
    ...unknownVariables(changed),
    ...remarksOn(changed, uses ? [...remarks, ...remarksEverywhere] : remarksEverywhere),
  ]
  return { text: changed, remarks: found.sort((a, b) => a.line - b.line) }
}
