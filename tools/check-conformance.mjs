// Every row of the conformance table and of the findings names the test that proves it, or says "open". Every id in the
// title of a test is that of a row.
import { existsSync } from 'node:fs'
import { parseSync, Visitor } from 'rolldown/utils'
import { filesBelow, readText } from './lib/files.mjs'
import { finish } from './lib/gate.mjs'
import { fromRoot, isMain } from './lib/run.mjs'

const conformance = 'docs/reference/conformance.md'
const findings = 'docs/reference/findings.md'

/** Owners whose work is finished: none of their rows may be open. */
const finished = [
  ...['Login', 'Tokens', 'Sessions', 'Step-up and accounts'],
  ...[
    'Diagnosis',
    'Quick start',
    'Cookies of other applications',
    'Configuration',
    'Hosts',
    'Editor',
    'Types',
  ],
  ...['Migration', 'Demo', 'Providers', 'Session integrity', 'Tests'],
]

/**
 * Rows of the table: `| ID | Section | Requirement | Owner | Proof |`. A proof names a test file in
 * backticks, several are separated by `<br>`.
 */
export function parseRows(text) {
  const lines = text.split('\n').map((line, index) => ({ line, number: index + 1 }))
  return lines
    .filter(({ line }) => /^\|\s*[A-Z]\d+\s*\|/.test(line))
    .map(({ line, number }) => {
      const cells = line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim())
      const [id, , , owner = '', proof = ''] = cells
      return { id, owner, proof, line: number, cells: cells.length }
    })
}

/**
 * Returns the problems of the rows of a table.
 *
 * @param {ReturnType<typeof parseRows>} rows
 * @param {(path: string) => string | null} read text of a test file, null if there is none
 */
export function rowProblems(rows, read, table) {
  const problems = []
  const seen = new Set()
  for (const row of rows) {
    const at = `${table}:${row.line} ${row.id}`
    if (seen.has(row.id)) problems.push(`${at} exists twice`)
    seen.add(row.id)
    if (row.cells !== 5) problems.push(`${at} has ${row.cells} cells, 5 are expected`)
    else if (row.proof.toLowerCase() !== 'open') problems.push(...proofProblems(row, at, read))
    else if (finished.includes(row.owner)) problems.push(`${at} is open, but "${row.owner}" is finished`)
  }
  return problems
}

/** As `rowProblems`; the ids of the conformance table are also without a gap. */
export function conformanceProblems(rows, read) {
  const problems = rowProblems(rows, read, conformance)
  const seen = new Set(rows.map((row) => row.id))
  for (let number = 1; number <= seen.size; number += 1) {
    const id = `S${String(number).padStart(3, '0')}`
    if (!seen.has(id)) problems.push(`${conformance} lacks ${id}`)
  }
  return problems
}

function proofProblems(row, at, read) {
  const files = [...row.proof.matchAll(/`([^`]+\.test\.(?:ts|tsx|mjs))`/g)].map((match) => match[1])
  if (files.length === 0) return [`${at} names no test file and is not "open"`]
  return files.flatMap((file) => {
    const text = read(file)
    if (text === null) return [`${at} names ${file}, which does not exist`]
    return tagged(text, row.id) ? [] : [`${at} names ${file}, where no test title carries [${row.id}]`]
  })
}

/** Returns the ids in tags such as `[S022]` or `[S022, J3]`. */
const idsIn = (text) =>
  [...text.matchAll(/\[([A-Z][\w-]*(?:\s*,\s*[A-Z][\w-]*)*)\]/g)].flatMap((match) =>
    match[1].split(',').map((id) => id.trim()),
  )

/** Whether a text contains the id in a tag. */
export const tagged = (text, id) => idsIn(text).includes(id)

/** Returns the name of the called function: `test` for `test(…)`, `test.each(…)(…)` and `test.skip(…)`. */
const calledName = ({ callee, name, object }) => name ?? calledName(callee ?? object ?? { name: '' })

/** Titles of the tests of a module, and of the groups around them. */
function findTitles(path, text) {
  const titles = []
  const { program } = parseSync(path, text)
  new Visitor({
    CallExpression: ({ arguments: [title], callee }) => {
      if (
        title &&
        /^(?:Template)?Literal$/.test(title.type) &&
        /^(?:describe|it|test)$/.test(calledName(callee))
      )
        titles.push(text.slice(title.start, title.end))
    },
  }).visit(program)
  return titles
}

/** Ids with a number in the titles of a test file that are those of no row. */
export function titleProblems(path, text, known) {
  const ids = new Set(findTitles(path, text).flatMap(idsIn))
  return [...ids]
    .filter((id) => /\d/.test(id) && !known.has(id))
    .map((id) => `${path} has the id ${id} in a title, which is that of no row: add a row, or remove the id`)
}

/** Reads one table, prints what is open in it, and returns what is wrong with it. */
function checkTable(table, findProblems) {
  if (!existsSync(fromRoot(table)))
    return { ids: [], problems: [`${table} does not exist`], proven: 0, total: 0 }
  const rows = parseRows(readText(table))
  const open = rows.filter((row) => row.proof.toLowerCase() === 'open')
  for (const owner of new Set(open.map((row) => row.owner))) {
    console.log(`note: open for "${owner}": ${open.filter((row) => row.owner === owner).length}`)
  }
  const read = (path) => (existsSync(fromRoot(path)) ? readText(path) : null)
  const empty = rows.length === 0 ? [`${table} has no rows`] : []
  return {
    ids: rows.map(({ id }) => id),
    problems: [...empty, ...findProblems(rows, read, table)],
    proven: rows.length - open.length,
    total: rows.length,
  }
}

if (isMain(import.meta)) {
  const tables = [checkTable(conformance, conformanceProblems), checkTable(findings, rowProblems)]
  const known = new Set(tables.flatMap(({ ids }) => ids))
  const examples = 'tools/check-conformance.test.mjs'
  const tests = filesBelow('', (path) => /\.test\.(?:tsx?|mjs)$/.test(path) && path !== examples)
  finish(
    [
      ...tables.flatMap(({ problems }) => problems),
      ...tests.flatMap((path) => titleProblems(path, readText(path), known)),
    ],
    tables.map(({ proven, total }) => `${proven} of ${total} rows proven`).join(', '),
  )
}
