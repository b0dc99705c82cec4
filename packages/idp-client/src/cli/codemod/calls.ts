import { blank, closingBracket, openingBracket, splitList, word } from './code.ts'

/** A call in code: where its name, its opening and its closing parenthesis are, and its arguments. */
export interface Call {
  readonly start: number
  /** After the closing parenthesis. */
  readonly end: number
  readonly args: readonly string[]
}

/** Returns whether a name at an offset is a parameter of a function. */
function isParameter(code: string, start: number, end: number): boolean {
  const after = code.slice(end, end + 200).trimStart()
  if (after.startsWith('=>')) return true
  const before = code.slice(Math.max(0, start - 200), start).trimEnd()
  if (!'({[,:.'.includes(before.at(-1) ?? ' ') || !',)}]:=?'.includes(after.charAt(0))) return false
  let open = openingBracket(code, start)
  while (open !== -1 && code[open] !== '(') open = openingBracket(code, open)
  if (open === -1 || /\b(?:if|for|while|switch|with)\s*$/.test(code.slice(Math.max(0, open - 20), open)))
    return false
  return /^\s*(?::[^=;{}()]*)?(?:=>|\{)/.test(code.slice(closingBracket(code, open) + 1))
}

/** Returns whether a name that the file imports is declared again in an inner scope, or as a parameter. Takes text of `blank`. */
function isShadowed(code: string, name: string): boolean {
  const { source } = word(name)
  const declaration = new RegExp(
    `\\b(?:const|let|var|function|class)\\s*(?:${source}|[{[][^=;]*${source}[^=;]*[}\\]][^=;]*=(?!\\s*require\\b))`,
    'g',
  )
  return (
    [...code.matchAll(declaration)].some(({ index }) => openingBracket(code, index) !== -1) ||
    [...code.matchAll(word(name))].some(({ index }) => isParameter(code, index, index + name.length))
  )
}

/** Words after which a call may stand on the same line. */
const callers = new Set(
  'async await case default delete do else extends in instanceof new of return throw typeof void yield'.split(
    ' ',
  ),
)

/** Returns whether a name before parentheses is a word in the text of JSX, and not a call. */
function isProse(code: string, start: number): boolean {
  const line = code.slice(code.lastIndexOf('\n', start - 1) + 1, start)
  const previous = /([\w$]+)[ \t]+$/.exec(line)?.[1]
  return previous === undefined ? /[^=]>[ \t]*$/.test(line) : !callers.has(previous)
}

/** Returns whether a name with parentheses declares a function, method, or member of a type. */
function isDeclaration(code: string, start: number, end: number): boolean {
  const after = code.slice(end)
  if (/^[ \t]*(?::\s*[\w$][\w$.<>[\]| ]*)?\{/.test(after)) return true
  const isFirst = /(?:^|[\n{};,])[ \t]*$/.test(code.slice(Math.max(0, start - 200), start))
  return isFirst && /^\s*:/.test(after) && !/[?&|=(:+]$/.test(code.slice(0, start).trimEnd())
}

/** Returns the calls of a function by its name, such as `auth` or `oidc.auth`; none if the file gives the name a second meaning. */
export function findCalls(text: string, name: string): Call[] {
  const code = blank(text)
  if (isShadowed(code, /^[\w$]+/.exec(name)?.[0] ?? name)) return []
  return [...code.matchAll(new RegExp(`${word(name).source}\\s*\\(`, 'g'))].flatMap(({ 0: found, index }) => {
    const open = index + found.length - 1
    const end = closingBracket(code, open) + 1
    if (end === 0 || isProse(code, index) || isDeclaration(code, index, end)) return []
    const args = splitList(text.slice(open + 1, end - 1)).map((part) => part.trim())
    if (args.at(-1) === '') args.pop()
    return [{ start: index, end, args }]
  })
}
