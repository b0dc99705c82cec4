import { expect, test } from 'vitest'
import { repository, toSiteLink, toSitePage, toSitePath } from '../site/lib/places.mjs'
import { toSidebar } from '../site/lib/sidebar.mjs'
import { CONTENTS, parseContents, toTitle } from './lib/contents.mjs'
import { filesBelow, readText } from './lib/files.mjs'

const contents = parseContents(readText(CONTENTS))

test('each page of docs has a place in the sidebar of the site', () => {
  const pages = filesBelow('docs', (path) => path.endsWith('.md')).map((path) => path.slice('docs/'.length))
  const titles = new Map(pages.map((page) => [page, toTitle(readText(`docs/${page}`))]))
  expect([...titles.values()]).not.toContain(undefined)
  expect(toSidebar(contents, titles).length).toBeGreaterThan(contents.length)
  expect(() => toSidebar(contents, new Map([...titles, ['guides/new.md', 'New']]))).toThrow('guides/new.md')
})

test('a folder has its README.md on the forge, its index on the site', () => {
  expect(toSitePage('README.md')).toBe('index.md')
  expect(toSitePath('README.md')).toBe('/')
  expect(toSitePath('providers/README.md')).toBe('/providers/')
  expect(toSitePath('guides/tokens.md')).toBe('/guides/tokens')
})

test.each([
  ['links of a page to itself, and to other sites, stay', '#a', '#a'],
  [
    'links of a page to itself, and to other sites, stay',
    'https://example.com/a.md',
    'https://example.com/a.md',
  ],
  ['pages are linked as on the forge', '../reference/env.md#a', '../reference/env.md#a'],
  ['the page of a folder is its index', '../providers/README.md#a', '../providers/index.md#a'],
  ['other files are those of the repository', '../../SECURITY.md#a', `${repository}/blob/main/SECURITY.md#a`],
  ['folders are those of the repository', '../decisions', `${repository}/tree/main/docs/decisions`],
])('%s: %s', (_what, link, expected) => {
  expect(toSiteLink('guides/tokens.md', link)).toBe(expected)
})
