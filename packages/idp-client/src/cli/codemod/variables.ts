import type { Remark, Rewritten } from './code.ts'
import { lineAt } from './code.ts'

/** Environment variables with an equivalent, and its name. Every codemod has some, also beside that of the secret. */
export type Variables = Readonly<Record<string, string>>

/** The variable whose former one stays: the secret of the former library opens its sessions. */
const secret = 'IDP_SECRET'

/** Returns the variables that are renamed: all but those of the secret, which others read until no session is taken over. */
export const withoutSecret = (variables: Variables): Variables =>
  Object.fromEntries(Object.entries(variables).filter(([, wanted]) => wanted !== secret))

const variablePattern = (variables: Variables): RegExp =>
  new RegExp(`(?<!\\w)(${Object.keys(variables).join('|')})(?!\\w)`, 'g')

/** Renames variables wherever their names stand. */
export function renameVariables(text: string, variables: Variables): string {
  return text.replace(variablePattern(variables), (name) => variables[name] ?? name)
}

/** A name in a destructuring pattern, but not one that a property gets there. */
const destructured = (name: string): RegExp => new RegExp(`(?<![\\w$]|[:=]\\s*)${name}(?=\\s*(?:[,:=}]|$))`)

/** Renames variables where code reads them, but that of the secret: their names may also be those of something else. */
export const renameReads = (text: string, variables: Variables): string =>
  renameEnvironmentReads(text, withoutSecret(variables))

/** Renames all variables where code reads them. */
export function renameEnvironmentReads(text: string, variables: Variables): string {
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
  const names = variablePattern(variables).source
  const pattern = new RegExp(
    `(^[ \\t]*(?:#[ \\t]*)?(?:export[ \\t]+)?|\\$\\{?)${names}(?=[ \\t]*=|[}:\\s/"']|$)`,
    'gm',
  )
  return text.replace(pattern, (_found, before: string, name: string) => before + (variables[name] ?? name))
}

/** Reports a secret that is shorter than the minimum. */
function remarkSecret(text: string): Remark[] {
  const match =
    /^[ \t]*(?:export[ \t]+)?IDP_SECRET[ \t]*=[ \t]*(?:'([^'\n]*)'|"([^"\n]*)"|([^\s#'"]*))/m.exec(text)
  const [, single, double, plain = ''] = match ?? []
  if (match === null || (single ?? double ?? plain).length >= 32) return []
  const remark =
    'IDP_SECRET needs 32 characters or more: npx idp-client secret prints one. If the former secret is shorter, omit takeOver: its users log in again.'
  return [{ line: lineAt(text, match.index), text: remark }]
}

/** Sets the secret of this package to that of the former one, on a line of its own, unless the file has one. */
function addSecret(text: string, variables: Variables): string {
  const former = Object.keys(variables).filter((name) => variables[name] === secret)
  const assignment = (name: string): RegExp =>
    new RegExp(`^([ \\t]*(?:export[ \\t]+)?)${name}(?=[ \\t]*=)`, 'm')
  const found = former.find((name) => assignment(name).test(text))
  if (found === undefined || assignment(secret).test(text)) return text
  return text.replace(
    new RegExp(`${assignment(found).source}.*$`, 'm'),
    (line) => `${line.replace(found, secret)}\n${line}`,
  )
}

/** Rewrites `.env`, `.env.local` and so on where names of variables are common words. */
export function rewriteAssignments(text: string, variables: Variables): Rewritten {
  const changed = addSecret(renameAssignments(text, withoutSecret(variables)), variables)
  return { text: changed, remarks: remarkSecret(changed) }
}

/** Reports variables in files that are not rewritten: they have to be renamed at deployment, but the former secret stays. */
export function remarkDeployment(text: string, variables: Variables): Remark[] {
  return [...text.matchAll(variablePattern(variables))].map(({ 0: name, index }) => ({
    line: lineAt(text, index),
    text:
      variables[name] === secret
        ? `${secret} is needed beside ${name}, which takeOver reads.`
        : `${name} is called ${variables[name]} now.`,
  }))
}
