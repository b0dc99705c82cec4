import type { Edit } from './code.ts'
import { openingBracket } from './code.ts'

/** The function around a place in code: where it starts, and what `await` in it needs. */
export interface EnclosingFunction {
  /** Where `async` belongs. */
  readonly start: number
  readonly isAsync: boolean
  /** Whether it is a handler, the argument of a call such as `app.get('/', …)`, and may become asynchronous. */
  readonly isHandler: boolean
}

const handlerCall = /\.(?:get|post|put|patch|delete|all|use|head|options)\s*$/
/** The head of a function with a parameter for the request or the response. */
const withRequest = /^(?:async\s+)?(?:function\s*[\w$]*\s*)?(?:\([^()]*)?\b_?(?:req(?:uest)?|res(?:ponse)?)\b/
const statement = /\b(?:if|for|while|switch|catch|with)\s*$/

function describeFunction(code: string, start: number): EnclosingFunction {
  const before = code.slice(0, start)
  const async = /(?<![\w$.])async\s*$/.exec(before)
  const from = async?.index ?? start
  const bracket = openingBracket(code, from)
  const isArgument = /[(,]\s*$/.test(code.slice(0, from)) && code[bracket] === '('
  return {
    start: from,
    isAsync: async !== null,
    isHandler: isArgument && handlerCall.test(code.slice(0, bracket)) && withRequest.test(code.slice(from)),
  }
}

/** Returns the arrow function whose `=>` ends at an offset, or null if its parameters are not recognized. */
function arrowFunction(code: string, end: number): EnclosingFunction | null {
  const head = code.slice(0, end - 2).trimEnd()
  if (!head.endsWith(')')) {
    const name = /[\w$]+$/.exec(head)
    return name === null ? null : describeFunction(code, name.index)
  }
  const open = openingBracket(code, head.length - 1)
  return open === -1 ? null : describeFunction(code, open)
}

/** Returns the function whose body opens at an offset; null: not recognized; undefined: another block. */
function functionOfBlock(code: string, brace: number): EnclosingFunction | null | undefined {
  const head = code.slice(0, brace).trimEnd()
  if (head.endsWith('=>')) return arrowFunction(code, head.length)
  // A return type would be between; then nothing is known.
  const typed = /\)\s*:\s*[\w$.<>[\]| ]+$/.exec(head)
  const close = typed === null ? head.length - 1 : typed.index
  if (head[close] !== ')') return undefined
  const open = openingBracket(code, close)
  const before = code.slice(0, open)
  if (statement.test(before)) return undefined
  const declared = /(?<![\w$.])function\s*[\w$]*\s*$/.exec(before)
  if (declared !== null) return describeFunction(code, declared.index)
  const method = /[\w$]+\s*$/.exec(before)
  return method === null ? null : { ...describeFunction(code, method.index), isHandler: false }
}

/** Returns the arrow function whose body, an expression, contains an offset, up to the bracket around it. */
function arrowAround(code: string, bracket: number, offset: number): EnclosingFunction | null | undefined {
  let depth = 0
  for (let at = offset - 1; at > bracket; at--) {
    const char = code.charAt(at)
    if (')]}'.includes(char)) depth++
    else if ('([{'.includes(char)) depth--
    else if (depth === 0 && ',;'.includes(char)) return undefined
    else if (depth === 0 && char === '>' && code[at - 1] === '=') return arrowFunction(code, at + 1)
  }
  return undefined
}

/** Returns the innermost function around an offset, or null outside functions that it recognizes. Takes text of `blank`. */
export function enclosingFunction(code: string, offset: number): EnclosingFunction | null {
  let at = offset
  for (;;) {
    const bracket = openingBracket(code, at)
    const arrow = arrowAround(code, bracket, at)
    if (arrow !== undefined) return arrow
    if (bracket === -1) return null
    const found = code[bracket] === '{' ? functionOfBlock(code, bracket) : undefined
    if (found !== undefined) return found
    at = bracket
  }
}

/**
 * Returns the edits that replace expressions by ones with `await`: only in functions that are asynchronous, or handlers that may
 * become so.
 */
export function awaitingEdits(code: string, edits: readonly Edit[]): Edit[] {
  const starts = new Set<number>()
  const possible = edits.filter((edit) => {
    const around = enclosingFunction(code, edit.start)
    if (around === null || !(around.isAsync || around.isHandler)) return false
    if (!around.isAsync) starts.add(around.start)
    return true
  })
  return [...possible, ...[...starts].map((start) => ({ start, end: start, text: 'async ' }))]
}
