import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { DEFAULT_APIS, parseApis } from '../src/apis.ts'

const DOCS = fileURLToPath(new URL('../../../docs/', import.meta.url))

const pages = ['faq.md', ...readdirSync(`${DOCS}guides`).map((name) => `guides/${name}`)]
  .filter((name) => name.endsWith('.md'))
  .map((name) => ({ name, text: readFileSync(DOCS + name, 'utf8') }))
  .filter(({ text }) => /audience\b/.test(text))

const findAll = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, found = '']) => found)

test.each(pages)(
  '[N9] the development provider knows the audiences of docs/$name, started as the page says',
  ({ text }) => {
    const used = findAll(text, /\baudience(?::| =|=) ?'?(https:[^'`\s)]+)/g)
    // A page may start the provider several times.
    const starts = new Set(findAll(text, /--api (https:[^`\s]+)/g))
    const registered = parseApis([...starts]).map(({ audience }) => audience)
    const inCode = findAll(text, /\{ audience: '([^']+)', scopes: /g)
    const known = [...DEFAULT_APIS.map(({ audience }) => audience), ...registered, ...inCode]
    expect(used.filter((audience) => !known.includes(audience))).toEqual([])
  },
)

test('[N9] audiences are found in the docs', () => {
  expect(pages.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['faq.md', 'guides/tokens.md', 'guides/browser.md']),
  )
})
