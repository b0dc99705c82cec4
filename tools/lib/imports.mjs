import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import { filesBelow, lineAt, readText } from './files.mjs'
import { fromRoot } from './run.mjs'
import { blank } from './source-text.mjs'

const declaration =
  /(?:^|[;\n])[ \t]*(?:import|export)\s+(type\s+)?(?:([\w$*{}\s,]+?)\s*from\s*)?(['"])([^'"\n]+)\3/g
const dynamic = /(\btypeof\s+)?\bimport\(\s*(['"])([^'"\n]+)\2\s*\)/g

/**
 * The imports and re-exports of a module text.
 *
 * @returns {{ specifier: string, typeOnly: boolean, line: number }[]} in the order of the text
 */
export function importsOf(text) {
  const code = blank(text, { strings: false })
  const found = []
  for (const match of code.matchAll(declaration)) {
    const typeOnly = match[1] !== undefined && !/^from\b/.test(match[2] ?? '')
    const line = lineAt(code, match.index + match[0].lastIndexOf(match[3] + match[4]))
    found.push({ specifier: match[4], typeOnly, line })
  }
  for (const match of code.matchAll(dynamic)) {
    found.push({ specifier: match[3], typeOnly: match[1] !== undefined, line: lineAt(code, match.index) })
  }
  return found.sort((a, b) => a.line - b.line)
}

/** Repository path of a relative specifier, or null for a package. */
export function target(path, specifier) {
  return specifier.startsWith('.') ? posix.normalize(posix.join(posix.dirname(path), specifier)) : null
}

/** Source modules below a folder with their imports; tests are left out. */
export function modulesBelow(folder) {
  const isModule = (path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path)
  return filesBelow(folder, isModule).map((path) => {
    const text = readText(path)
    return { path, text, imports: importsOf(text) }
  })
}

/** Relative imports that lead nowhere, which the other checks would silently overlook. */
export function unresolved(module) {
  return module.imports.filter(({ specifier }) => {
    const path = target(module.path, specifier)
    return path !== null && !existsSync(fromRoot(path))
  })
}
