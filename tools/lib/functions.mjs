import { lineAt } from './files.mjs'
import { blank } from './source-text.mjs'

const control = /(?:\bif|\bfor|\bfor\s+await|\bwhile|\bswitch|\bcatch|\bwith)\s*$/

/**
 * Functions of a text with a block body, found by their braces: an approximation that overlooks
 * functions whose return type is a type literal, which is enough to hold a size limit.
 *
 * @returns {{ name: string, line: number, lines: number }[]} `lines` counts lines with code
 */
export function functionsOf(text) {
  const code = blank(text)
  const found = []
  const open = []
  for (let at = 0; at < code.length; at += 1) {
    if (code[at] === '{') open.push({ at, name: functionName(code, at) })
    if (code[at] !== '}') continue
    const start = open.pop()
    if (start?.name == null) continue
    const lines = code
      .slice(start.at, at + 1)
      .split('\n')
      .filter((line) => line.trim() !== '').length
    found.push({ name: start.name, line: lineAt(code, start.at), lines })
  }
  return found
}

/** Name of the function whose body opens at the brace, or null if it is no function body. */
function functionName(code, brace) {
  const before = code.slice(0, brace).trimEnd()
  if (before.endsWith('=>')) return arrowName(before.slice(0, -2))
  const head = /\)(?:\s*:\s*[^;{}=()]*)?$/.exec(before)
  if (head === null) return null
  const parenthesis = opening(code, head.index)
  const prefix = code
    .slice(0, parenthesis)
    .trimEnd()
    .replace(/<[^<>()]*>$/, '')
  if (parenthesis < 0 || control.test(prefix)) return null
  return /([\w$#]+)$/.exec(prefix)?.[1] ?? 'anonymous'
}

function arrowName(before) {
  const declaration = /(?:const|let|var)\s+([\w$]+)[^;={}]*=\s*(?:async\s*)?[^;={}]*$/.exec(
    before.slice(-400),
  )
  return declaration?.[1] ?? 'arrow function'
}

function opening(code, closing) {
  let depth = 0
  for (let at = closing; at >= 0; at -= 1) {
    if (code[at] === ')') depth += 1
    if (code[at] === '(') depth -= 1
    if (depth === 0) return at
  }
  return -1
}
