/** A file before and after a change; `null` if it does not exist yet. */
export interface Change {
  readonly path: string
  readonly before: string | null
  readonly text: string
  /** Maximum permissions of the file, if it is not for everybody. */
  readonly mode?: number
}

const toLines = (text: string): string[] => text.replace(/\r?\n$/, '').split(/\r?\n/)

/** Lengths of the longest common subsequences of all ends of two lists of lines. */
function measure(before: readonly string[], after: readonly string[]): number[][] {
  const lengths = Array.from({ length: before.length + 1 }, () => new Array<number>(after.length + 1).fill(0))
  const at = (row: number, column: number): number => lengths[row]?.[column] ?? 0
  for (let row = before.length - 1; row >= 0; row--)
    for (let column = after.length - 1; column >= 0; column--) {
      const longest =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1))
      lengths[row]?.splice(column, 1, longest)
    }
  return lengths
}

/** Returns the lines of both texts, with `-`, `+` or a space in front. */
function diffLines(before: readonly string[], after: readonly string[]): string[] {
  const lengths = measure(before, after)
  const lines: string[] = []
  let [row, column] = [0, 0]
  while (row < before.length || column < after.length) {
    const [old, next] = [before[row], after[column]]
    if (old === next && old !== undefined) {
      lines.push(`  ${old}`)
      row += 1
      column += 1
    } else if (
      next === undefined ||
      (lengths[row + 1]?.[column] ?? -1) >= (lengths[row]?.[column + 1] ?? 0)
    ) {
      lines.push(`- ${old}`)
      row += 1
    } else {
      lines.push(`+ ${next}`)
      column += 1
    }
  }
  return lines
}

const CONTEXT = 2

/** Leaves out unchanged lines that are more than `context` lines away from a change. */
function withoutDistant(lines: readonly string[], context: number): string[] {
  const isNear = (index: number): boolean =>
    lines.slice(Math.max(0, index - context), index + context + 1).some((line) => !line.startsWith(' '))
  return lines.flatMap((line, index) => {
    if (isNear(index)) return [line]
    return index === 0 || isNear(index - 1) ? ['  …'] : []
  })
}

/** Returns a change as a diff for readers. Of a file that is not for everybody the lines that it has already are not shown. */
export function toDiff({ path, before, mode, text }: Change): string {
  const after = toLines(text)
  const context = mode === undefined ? CONTEXT : 0
  const lines =
    before === null
      ? after.map((line) => `+ ${line}`)
      : withoutDistant(diffLines(toLines(before), after), context)
  return [`${path}${before === null ? ' (new)' : ''}`, ...lines.map((line) => line.trimEnd()), ''].join('\n')
}
