import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { fromRoot } from './run.mjs'

const source = 'packages/idp-client/src'

const entry = `
export { defaultScope } from './config/authorization.ts'
export { variableNames } from './config/env.ts'
export { optionRows } from './config/option-rows.ts'
export { resolve } from './config/resolve.ts'
import { remedies } from './errors/remedies.ts'
import { codesByClass } from './errors/code.ts'
import { codes as rows } from './errors/codes.ts'
export { remedies }
const classesOf = (code) => Object.keys(codesByClass).filter((name) => codesByClass[name].includes(code))
const toEntry = ([code, row]) => {
  const [first, ...also] = classesOf(code)
  return [code, { ...row, class: first, also, advice: remedies[code] }]
}
export const codes = Object.fromEntries(Object.entries(rows).map(toEntry))
export { table } from './routes/table.ts'
`

/**
 * Reads options, codes and remedies from the sources, so that no build is needed.
 *
 * @returns {Promise<{ optionRows: Record<string, object>, variableNames: string[], codes: object, table: object,
 *   remedies: Record<string, string>, resolve: (options: object, env: object) => object, defaultScope: string }>}
 */
export async function loadSource() {
  const folder = fromRoot(`node_modules/.cache/idp-reference-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  try {
    await build({
      stdin: { contents: entry, resolveDir: fromRoot(source), loader: 'ts' },
      outfile: join(folder, 'source.mjs'),
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      packages: 'external',
      alias: {
        '#cipher': fromRoot(`${source}/crypto/cipher.node.ts`),
        '#async-context': fromRoot(`${source}/lib/async-context.node.ts`),
      },
      logLevel: 'error',
    })
    return await import(pathToFileURL(join(folder, 'source.mjs')).href)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The least that makes a configuration complete; everything else is a default. */
export const required = {
  domain: 'idp.example.com',
  clientId: 'client',
  clientSecret: 'not a real one',
  secret: '0123456789abcdef'.repeat(4),
}

/**
 * Rows of all tables of a page, code marks kept: cells of a row by the heading of its column.
 *
 * @returns {{ line: number, cells: Record<string, string> }[]}
 */
export function parseRows(text) {
  const rows = []
  let headings = null
  for (const [index, line] of text.split('\n').entries()) {
    if (!line.startsWith('|')) headings = null
    else if (headings === null) headings = parseCells(line)
    else if (!/^\|[\s:|-]+\|\s*$/.test(line)) {
      const cells = parseCells(line)
      const named = headings.map((heading, at) => [heading, cells[at] ?? ''])
      rows.push({ line: index + 1, cells: Object.fromEntries(named) })
    }
  }
  return rows
}

const parseCells = (line) =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim())

/** Texts between code marks, in their order. */
export const marked = (text) => [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1])
