import { escapeHtml } from './html.ts'

/** A table of trusted cells. On a narrow screen each row becomes a card, with the heads in front of the values. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '<p>None.</p>'
  const heads = head.map((text) => `<th>${escapeHtml(text)}</th>`).join('')
  const body = rows.map((row) => {
    const cells = row.map(
      (value, index) => `<td data-head="${escapeHtml(head[index] ?? '')}"><div>${value}</div></td>`,
    )
    return `<tr>${cells.join('')}</tr>`
  })
  return `<table><thead><tr>${heads}</tr></thead><tbody>${body.join('')}</tbody></table>`
}
