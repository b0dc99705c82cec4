import { basename } from 'node:path'
import type { CreateCodemod, Files } from './application.ts'
import { fileKind } from './application.ts'
import type { Remark, Rewritten } from './code.ts'
import { blank, lineAt, word } from './code.ts'
import {
  codes,
  methods,
  modules,
  peer,
  remarks,
  remarksEverywhere,
  renamed,
  suffixes,
  unavailable,
} from './nextjs-auth0-rules.ts'
import { remarksOn, sortRemarks } from './remarks.ts'
import type { Variables } from './variables.ts'
import { renameVariables, withoutSecret } from './variables.ts'

const variables: Variables = Object.fromEntries(suffixes.map((name) => [`AUTH0_${name}`, `IDP_${name}`]))

/** Returns a remark for each variable with the package's prefix that has no equivalent. */
function unknownVariables(text: string): Remark[] {
  const found = [...text.matchAll(/\bAUTH0_[A-Z0-9_]+/g)].filter(([name]) => name !== 'AUTH0_SECRET')
  return found.map(({ 0: name, index }) => ({
    line: lineAt(text, index),
    text: `${name} is not a variable of idp-client; it was left as it is.`,
  }))
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

type Methods = Readonly<Record<string, string>>

/** Returns the methods to rename: not those of which the application has one with the same name. */
function toRenamedMethods(files: Files): Methods {
  const isOwn = (name: string): boolean => {
    const declaration = new RegExp(`${word(name).source}\\s*(?:\\([^()]*\\)\\s*(?::[^{};]+)?\\{|[:=](?!=))`)
    return [...files].some(([path, text]) => fileKind(path) === 'source' && declaration.test(blank(text)))
  }
  return Object.fromEntries(Object.entries(methods).filter(([name]) => !isOwn(name)))
}

function renameMethods(text: string, renamedMethods: Methods): string {
  return Object.entries(renamedMethods).reduce(
    (changed, [name, wanted]) => changed.replace(new RegExp(`\\.${name}(?=\\s*\\()`, 'g'), `.${wanted}`),
    text,
  )
}

/** Rewrites TypeScript and JavaScript. Works on text: what the spelling does not decide becomes a remark. */
export function rewriteSource(text: string, renamedMethods: Methods = methods): Rewritten {
  const uses = new RegExp(modulePattern.source).test(text)
  // Where the client is created, its own secret is meant; afterwards `takeOver` reads the former one.
  const plain = renameMethods(
    renameVariables(text, uses ? variables : withoutSecret(variables)),
    renamedMethods,
  )
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
  return { text: changed, remarks: sortRemarks(found) }
}

/** The codemod for nextjs-auth0 4: imports, names, error codes and variables. */
export const nextjsAuth0: CreateCodemod = (files) => {
  const renamedMethods = toRenamedMethods(files)
  return {
    peer,
    variables,
    remarkUnknown: unknownVariables,
    rewriteSource(text, path) {
      const { text: changed, remarks: found } = rewriteSource(text, renamedMethods)
      const isMiddleware = /^middleware\.[jt]s$/.test(basename(path))
      return { text: changed, remarks: isMiddleware ? [...found, ...remarkRuntime(text)] : found }
    },
  }
}
