// The migration pages show what differs between the two applications of their example, and say what the tests compare.
import { readText } from './lib/files.mjs'
import { finish } from './lib/gate.mjs'
import { contrasts } from './lib/migration-contrasts.mjs'
import { diffProblems } from './lib/migration-diff.mjs'
import { parseRows } from './lib/reference.mjs'
import { isMain } from './lib/run.mjs'

/** A difference that the tests prove must be a row of a table: its first cell is the name of the contrast. */
export function contrastProblems(path, text, known) {
  const rows = new Set(parseRows(text).map(({ cells }) => Object.values(cells)[0]))
  return known.filter(({ row }) => !rows.has(row)).map(({ row }) => `${path} has no row "${row}"`)
}

if (isMain(import.meta)) {
  const problems = Object.entries(contrasts).flatMap(([name, known]) => {
    const path = `docs/migration/${name}.md`
    const text = readText(path)
    return [...diffProblems(path, text, name), ...contrastProblems(path, text, known)]
  })
  finish(problems, `${Object.keys(contrasts).length} migrations`)
}
