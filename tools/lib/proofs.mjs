import { mapRows, toTable, writtenBelow } from './tables.mjs'

/**
 * Returns the test files whose titles contain an id in a tag such as `[S022]` or `[S022, J3]`, by the id.
 *
 * @param {Record<string, string>} tests texts by path
 * @returns {Map<string, string[]>}
 */
export function findProofs(tests) {
  const proofs = new Map()
  for (const [path, text] of Object.entries(tests)) {
    const tags = [...text.matchAll(/\[([A-Z]\d+(?:\s*,\s*[A-Z]\d+)*)\]/g)]
    const ids = new Set(tags.flatMap(([, list]) => list.split(',').map((id) => id.trim())))
    for (const id of ids) proofs.set(id, [...(proofs.get(id) ?? []), path])
  }
  return proofs
}

/** A table of requirements with the tests that prove each row. The ids of the specification are also without a gap. */
export function proofsPage(text, { proofs }) {
  const ids = []
  const page = mapRows(text, ({ ID, Proof }) => {
    if (Proof === undefined) return {}
    if (ids.includes(ID)) throw new Error(`${ID} exists twice`)
    if (!proofs.has(ID)) throw new Error(`no title of a test contains [${ID}]`)
    ids.push(ID)
    return {
      Proof: proofs
        .get(ID)
        .map((path) => `\`${path}\``)
        .join('<br>'),
    }
  })
  const numbers = ids.filter((id) => /^S\d/.test(id)).map((id) => Number(id.slice(1)))
  const gap = numbers.sort((a, b) => a - b).findIndex((number, index) => number !== index + 1)
  if (gap >= 0) throw new Error(`there is no row S${String(gap + 1).padStart(3, '0')}`)
  return page
}

/** How a client ends a module, as its log says it. */
function toResult({ refused }) {
  if (!refused) return 'succeeds'
  const { code, detail } = refused
  return detail === undefined ? `refuses: \`${code}\`` : `refuses: \`${code}\`, "${detail}"`
}

/** The page with the modules of conformance plans, from the table that their tests run. */
export function plansPage(text, { plans }) {
  const sections = plans.map(({ file, modules, prefix, title }) => {
    const rows = modules.map((module) => [
      `\`${prefix}${module.name}\``,
      module.demand,
      module.section,
      toResult(module),
    ])
    const table = toTable(['Module', 'What the client must do', 'Standard', 'The client'], rows)
    return `## ${title}\n\nTests: \`${file}\`.\n\n${table}\n`
  })
  return `${text.split(writtenBelow)[0]}${writtenBelow}\n${sections.join('\n')}`
}
