import type { Call } from './calls.ts'
import { findCalls } from './calls.ts'
import type { Edit, Remark } from './code.ts'
import { applyEdits, blank, lineAt, word } from './code.ts'
import type { ImportStatement } from './imports.ts'
import { findImports, spellings } from './imports.ts'

/** A file while it is rewritten; remarks are found again by a mark in the text, which is removed at the end. */
export class Draft {
  text: string
  readonly client: string
  /** The statements that import from the replaced package. */
  readonly statements: readonly ImportStatement[]
  readonly #remarks: string[] = []

  constructor(text: string, isPeer: (module: string) => boolean) {
    this.text = text
    this.statements = findImports(text, isPeer)
    const code = blank(text)
    const isTaken = word('idp').test(code) && !/\bidp\s*=\s*new IdpClient\b|\bidp\b[^;\n]*\bfrom\b/.test(code)
    this.client = isTaken ? 'idpClient' : 'idp'
  }

  /** Returns a mark for a remark on the line on which it will stand. */
  mark(remark: string): string {
    return `/*idp-codemod:${this.#remarks.push(remark) - 1}*/`
  }

  /** Marks lines of a part of the text, which count from 1. */
  markLines(text: string, remarks: readonly Remark[]): string {
    const lines = text.split('\n')
    for (const { line, text: remark } of remarks) lines[line - 1] += this.mark(remark)
    return lines.join('\n')
  }

  apply(edits: readonly Edit[]): void {
    this.text = applyEdits(this.text, edits)
  }

  /** Replaces the calls of an export for which `replace` returns a text. */
  replaceCalls(name: string, replace: (call: Call) => string | null): void {
    for (const local of spellings(this.statements, name))
      this.apply(
        findCalls(this.text, local).flatMap((call) => {
          const text = replace(call)
          return text === null ? [] : [{ start: call.start, end: call.end, text }]
        }),
      )
  }

  /** Removes the marks; returns their remarks. */
  finish(): Remark[] {
    const pattern = /\/\*idp-codemod:(\d+)\*\//
    const found: Remark[] = []
    for (let match = pattern.exec(this.text); match !== null; match = pattern.exec(this.text)) {
      found.push({ line: lineAt(this.text, match.index), text: this.#remarks[Number(match[1])] ?? '' })
      this.text = this.text.slice(0, match.index) + this.text.slice(match.index + match[0].length)
    }
    return found
  }
}
