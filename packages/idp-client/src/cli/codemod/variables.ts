import type { Remark, Rewritten } from './code.ts'
import { lineAt } from './code.ts'

/** Environment variables with an equivalent, and its name. */
export type Variables = Readonly<Record<string, string>>

const variablePattern = (variables: Variables): RegExp =>
  new RegExp(`(?<!\\w)(${Object.keys(variables).join('|')})(?!\\w)`, 'g')

/** Renames variables wherever their names stand. */
export function renameVariables(text: string, variables: Variables): string {
  return Object.keys(variables).length === 0
    ? text
    : text.replace(variablePattern(variables), (name) => variables[name] ?? name)
}

const destructured = (name: string): RegExp => new RegExp(`(?<![\\w$])${name}(?=\\s*(?:[,:=}]|$))`)

/** Renames variables where code reads them: their names may also be those of something else. */
export function renameEnvironmentReads(text: string, variables: Variables): string {
  if (Object.keys(variables).length === 0) return text
  const names = variablePattern(variables).source
  const property = new RegExp(`(\\bprocess\\.env(?:\\??\\.|(?:\\?\\.)?\\[\\s*['"\`]))${names}`, 'g')
  const list = /\{([^{}]*)\}(?=\s*=\s*process\.env(?![\w.[]))/g
  return text
    .replace(property, (_found, before: string, name: string) => before + (variables[name] ?? name))
    .replace(list, (found) =>
      Object.entries(variables).reduce(
        (changed, [name, wanted]) =>
          changed.replace(destructured(name), (_name, at: number) =>
            changed
              .slice(at + name.length)
              .trimStart()
              .startsWith(':')
              ? wanted
              : `${wanted}: ${name}`,
          ),
        found,
      ),
    )
}

/** Renames variables at the beginning of lines of an environment file, and where others refer to them. */
function renameAssignments(text: string, variables: Variables): string {
  if (Object.keys(variables).length === 0) return text
  const names = variablePattern(variables).source
  const pattern = new RegExp(
    `(^[ \\t]*(?:#[ \\t]*)?(?:export[ \\t]+)?|\\$\\{?)${names}(?=[ \\t]*=|[}:\\s/"']|$)`,
    'gm',
  )
  return text.replace(pattern, (_found, before: string, name: string) => before + (variables[name] ?? name))
}

/** Reports a secret that is shorter than the minimum. */
function remarkSecret(text: string): Remark[] {
  const match = /^[ \t]*(?:export[ \t]+)?IDP_SECRET[ \t]*=[ \t]*(['"]?)([^'"\s#]*)\1/m.exec(text)
  if (match === null || (match[2] ?? '').length >= 32) return []
  const remark = 'IDP_SECRET needs 32 characters or more: npx idp-client secret prints one.'
  return [{ line: lineAt(text, match.index), text: remark }]
}

/** Rewrites `.env`, `.env.local` and so on where names of variables are common words. */
export function rewriteAssignments(text: string, variables: Variables): Rewritten {
  const changed = renameAssignments(text, variables)
  return { text: changed, remarks: remarkSecret(changed) }
}

/** Reports variables in files that are not rewritten: they have to be renamed at deployment. */
export function remarkVariables(text: string, variables: Variables): Remark[] {
  if (Object.keys(variables).length === 0) return []
  return [...text.matchAll(variablePattern(variables))].map(({ 0: name, index }) => ({
    line: lineAt(text, index),
    text: `${name} is called ${variables[name]} now.`,
  }))
}
