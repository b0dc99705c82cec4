/** A change to make by hand, at a line of the new text. */
export interface Remark {
  readonly line: number
  readonly text: string
}

export interface Rewritten<Text = string> {
  readonly text: Text
  /** Changes to make by hand, in the order of the new text. */
  readonly remarks: readonly Remark[]
}

export const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length

/** Returns a pattern for an identifier that is not a property. */
export const word = (name: string): RegExp =>
  new RegExp(`(?<![\\w$.])${name.replaceAll(/[$.]/g, '\\$&')}(?![\\w$])`, 'g')

const token =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|(?<![\w$])'(?:[^'\\\n]|\\[\s\S])*'|(?<![\w$])"(?:[^"\\\n]|\\[\s\S])*"|`|[{}]|\/(?<=(?:[(,=:[!&|?{};]\s*|\breturn\s+|^\s*)\/)(?![/*])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//gm

const spaces = (text: string): string => text.replaceAll(/[^\n]/g, ' ')

const isComment = (found: string): boolean => found.startsWith('//') || found.startsWith('/*')

/** Returns where the text of a template ends: after its last backtick, or after the next `${`. */
function endOfTemplate(text: string, start: number): number {
  const end = /(?:[^`\\$]|\\[\s\S]?|\$(?!\{))*(?:`|\$\{|$)/y
  end.lastIndex = start
  end.exec(text)
  return end.lastIndex
}

/**
 * Returns the text with spaces in place of comments and of what is in strings, templates and regular expressions, at the same
 * offsets: what a pattern finds in it is code.
 */
export function blank(text: string): string {
  let code = ''
  const braces: ('block' | 'template')[] = []
  const pattern = new RegExp(token)
  const takeTemplate = (start: number): void => {
    const end = endOfTemplate(text, start)
    const isOpen = text.slice(0, end).endsWith('${') && end - start >= 2
    if (isOpen) braces.push('template')
    const closing = isOpen ? '${' : text.slice(Math.max(start, end - 1), end)
    code += spaces(text.slice(start, end - closing.length)) + closing
    pattern.lastIndex = end
  }
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const [found] = match
    code += text.slice(code.length, match.index)
    if (isComment(found) && text[match.index - 1] === ':') code += found
    else if (isComment(found)) code += spaces(found)
    else if (found === '{') {
      braces.push('block')
      code += found
    } else if (found === '`' || (found === '}' && braces.pop() === 'template')) {
      code += found
      takeTemplate(code.length)
    } else code += found.length < 2 ? found : found[0] + spaces(found.slice(1, -1)) + found.at(-1)
  }
  return code + text.slice(code.length)
}

/** Returns the offset of the bracket that closes the one at `open`, or -1. Takes text without strings, as of `blank`. */
export function closingBracket(code: string, open: number): number {
  let depth = 0
  for (let at = open; at < code.length; at++) {
    const char = code.charAt(at)
    if ('([{'.includes(char)) depth++
    else if (')]}'.includes(char) && --depth === 0) return at
  }
  return -1
}

/** Returns the offset of the innermost bracket that is open at an offset, or -1. */
export function openingBracket(code: string, offset: number): number {
  let depth = 0
  for (let at = offset - 1; at >= 0; at--) {
    const char = code.charAt(at)
    if (')]}'.includes(char)) depth++
    else if ('([{'.includes(char) && depth-- === 0) return at
  }
  return -1
}

/** Splits a list at its commas, those in brackets and strings excepted. */
export function splitList(text: string): string[] {
  const code = blank(text)
  const parts: string[] = []
  let [depth, start] = [0, 0]
  for (let at = 0; at < code.length; at++) {
    const char = code.charAt(at)
    if ('([{'.includes(char)) depth++
    else if (')]}'.includes(char)) depth--
    else if (char === ',' && depth === 0) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  return [...parts, text.slice(start)]
}

export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Applies edits that do not overlap. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const ordered = [...edits].sort((a, b) => b.start - a.start || b.end - a.end)
  return ordered.reduce(
    (changed, { start, end, text: replacement }) =>
      changed.slice(0, start) + replacement + changed.slice(end),
    text,
  )
}

/** Returns the value of a string literal without escapes; undefined for any other code. */
export function literalString(text: string): string | undefined {
  return /^\s*(['"`])([^'"`\\$\n]*)\1\s*$/.exec(text)?.[2]
}
