import { expect, test } from 'vitest'
import { filesBelow, readText } from './lib/files.mjs'

const src = 'packages/idp-client/src'

/** Entries of the registry in the sources, as `kind name (file)`. */
function entriesInSource() {
  const files = filesBelow(src, (file) => /(?<!\.test)\.ts$/.test(file))
  return files.flatMap((file) => {
    const text = readText(file)
    const calls = text.matchAll(/processWide(?:For)?(?:<[^(]*>)?\(\s*['`](\w+):([\w-]+)[ /]/g)
    return [...calls].map(([, kind, name]) => `${kind} ${name} (${file.slice(src.length + 1)})`)
  })
}

/** Entries of the table in decision 19; a row without a kind has that of the row above. */
function entriesInDecision() {
  const page = readText('docs/decisions/0019-concurrency.md')
  let kind = ''
  return page.split('\n').flatMap((line) => {
    const [, given, name, file] = /^\| (?:`(\w+)`[^|]*)?\| `([\w-]+)`[^|(]*\(`([^`]+)`\)/.exec(line) ?? []
    if (name === undefined) return []
    kind = given ?? kind
    return [`${kind} ${name} (${file})`]
  })
}

test('decision 19 has every process-wide entry with its kind and file, and no other', () => {
  expect(entriesInDecision().sort()).toEqual([...new Set(entriesInSource())].sort())
})
