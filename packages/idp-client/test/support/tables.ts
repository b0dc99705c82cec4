import { readFileSync } from 'node:fs'

/** The text of a page below `docs/`. */
export function pageText(path: string): string {
  return readFileSync(new URL(`../../../../docs/${path}`, import.meta.url), 'utf8')
}

/** Rows of the table below a heading, cells without code marks. */
export function tableBelow(text: string, heading: string): string[][] {
  const rest = text.slice(text.indexOf(`${heading}\n`))
  const table = /(?:^\|.*\n)+/m.exec(rest)?.[0] ?? ''
  const rows = table.trim().split('\n').slice(2)
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.replaceAll('`', '').trim()),
  )
}
