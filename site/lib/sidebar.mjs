import { toSitePath } from './places.mjs'

/** Pages that one row of the tables of contents stands for: all pages of a folder. */
const folders = [
  { title: 'Providers', folder: 'providers/' },
  { title: 'Decisions', folder: 'decisions/' },
]

/** Pages that the title of the site leads to. */
const START = 'README.md'

const toItem = (text, page) => ({ text, link: toSitePath(page) })

/**
 * The sidebar: the tables of contents, and the pages of further folders.
 *
 * @param {ReturnType<import('../../tools/lib/contents.mjs').parseContents>} contents
 * @param {Map<string, string>} titles of all pages, by their path in docs/
 * @throws when a page has no place
 */
export function toSidebar(contents, titles) {
  const groups = contents.map(({ title, entries }) => ({
    text: title,
    items: entries.map(({ label, page }) => toItem(label, page.replace(/^docs\//, ''))),
  }))
  const further = folders.map(({ title, folder }) => {
    const pages = [...titles].filter(([page]) => page.startsWith(folder) && !page.endsWith('/README.md'))
    return { text: title, items: pages.map(([page, text]) => toItem(text, page)) }
  })
  const sidebar = [...groups, ...further]
  const placed = new Set(sidebar.flatMap(({ items }) => items.map(({ link }) => link)))
  const lacking = [...titles.keys()].filter((page) => page !== START && !placed.has(toSitePath(page)))
  if (lacking.length > 0) throw new Error(`no place in the sidebar: ${lacking.join(', ')}`)
  return sidebar
}
