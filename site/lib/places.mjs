// Where pages of docs/ are on the site, and where their links lead. Paths of pages are relative to docs/.
import { statSync } from 'node:fs'
import { posix } from 'node:path'
import { readJson } from '../../tools/lib/files.mjs'
import { fromRoot } from '../../tools/lib/run.mjs'

/** The URL of the repository. */
export const repository = readJson('package.json').bugs.replace(/\/issues$/, '')

/** The site of the project is below its name: `https://<owner>.github.io/<name>/`. */
export const base = `/${repository.split('/').at(-1)}/`

/** A folder has its `README.md` on the forge, its index on the site. */
export const toSitePage = (page) => page.replace(/(?<=^|\/)README\.md$/, 'index.md')

/** The path of a page on the site: `/guides/tokens`, `/providers/`. */
export const toSitePath = (page) => `/${toSitePage(page).replace(/(?:(?<=^|\/)index)?\.md$/, '')}`

const isFolder = (path) => statSync(fromRoot(path), { throwIfNoEntry: false })?.isDirectory() === true

/** Returns where a link of a page leads on the site: another page, else a file or folder of the repository. */
export function toSiteLink(page, link) {
  if (/^(?:[a-z][a-z+.-]*:|\/\/|#)/i.test(link)) return link
  const [file, ...hash] = link.split(/(?=#)/)
  const path = posix.join('docs', posix.dirname(page), decodeURIComponent(file)).replace(/\/$/, '')
  if (path.startsWith('docs/') && path.endsWith('.md')) return toSitePage(file) + hash.join('')
  if (path.startsWith('docs/images/')) return link
  return `${repository}/${isFolder(path) ? 'tree' : 'blob'}/main/${path}${hash.join('')}`
}
