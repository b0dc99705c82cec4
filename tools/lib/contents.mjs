import { posix } from 'node:path'
import { parseRows } from './tables.mjs'

/** The page that lists all others by topic. */
export const CONTENTS = 'docs/README.md'

/**
 * The tables of contents: sections with a column "Read", and the pages that its rows link to.
 *
 * @returns {{ title: string, entries: { need: string, label: string, page: string }[] }[]} `need` is what a reader looks for,
 *   `page` a path in the repository
 */
export function parseContents(text) {
  return text.split('\n## ').flatMap((section) => {
    const rows = parseRows(section).filter(({ Read }) => Read)
    const entries = rows.flatMap((cells) => {
      const [need, pages] = Object.values(cells)
      const links = pages.matchAll(/\[([^\]]+)\]\(([^)#\s]+\.md)\)/g)
      return [...links].map(([, label, to]) => ({ need, label, page: posix.join('docs', to) }))
    })
    return entries.length === 0 ? [] : [{ title: section.split('\n', 1)[0], entries }]
  })
}

/** The first heading of a page. */
export const toTitle = (text) => /^# (.+)$/m.exec(text)?.[1]
