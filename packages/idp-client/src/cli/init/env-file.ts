import { parseEnv } from 'node:util'

/** A variable for an environment file; without a value the user has to fill it in. */
export interface Variable {
  readonly name: string
  readonly value: string
  readonly comment?: string
}

/** Returns the variables that the text does not name. */
export function findMissing(text: string, variables: readonly Variable[]): Variable[] {
  const named = parseEnv(text.replace(/^\uFEFF/, ''))
  return variables.filter(({ name }) => !Object.hasOwn(named, name))
}

/** Returns the text with lines at its end, which end as its own. */
export function appendLines(text: string, lines: readonly string[]): string {
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const separator = text === '' || text.endsWith('\n') ? '' : newline
  return text + separator + lines.map((line) => line + newline).join('')
}

/** Returns the lines of variables. */
export const toLines = (variables: readonly Variable[]): string[] =>
  variables.flatMap(({ name, value, comment }) => [
    ...(comment === undefined ? [] : [`# ${comment}`]),
    `${name}=${value}`,
  ])

/** Whether the lines of a `.gitignore` ignore an environment file, where git cannot be asked. */
export function isListedIn(gitignore: string, path: string): boolean {
  const patterns =
    path === '.env' ? ['.env', '.env*', '*.env'] : [path, '.env*', '.env.*', '.env*.local', '*.local']
  return gitignore.split(/\r?\n/).some((line) => patterns.includes(line.trim().replace(/^\//, '')))
}
