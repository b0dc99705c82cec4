import type { Remark } from './code.ts'
import { lineAt } from './code.ts'

export interface RemarkRule {
  readonly pattern: RegExp
  readonly text: string
}

const leading = (found: string): number => found.length - found.trimStart().length

/** Reports the first place of each rule in a text. */
export function remarksOn(text: string, rules: readonly RemarkRule[]): Remark[] {
  return rules.flatMap(({ pattern, text: remark }) => {
    const found = new RegExp(pattern.source, `${pattern.flags}m`).exec(text)
    return found === null ? [] : [{ line: lineAt(text, found.index + leading(found[0])), text: remark }]
  })
}

/** Returns the remarks in the order of the text, each of a line once. */
export function sortRemarks(remarks: readonly Remark[]): Remark[] {
  const unique = new Map(remarks.map((remark) => [`${remark.line} ${remark.text}`, remark]))
  return [...unique.values()].sort((a, b) => a.line - b.line)
}
