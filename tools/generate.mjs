// node tools/generate.mjs: writes what pages repeat of the source, of the tests and of other files. With --check, the gate
// `reference`, it writes nothing and reports what is not up to date, and codes that pages name and that do not exist.
import { writeFileSync } from 'node:fs'
import { CONTENTS, parseContents, toTitle } from './lib/contents.mjs'
import { filesBelow, readText } from './lib/files.mjs'
import { finish } from './lib/gate.mjs'
import { migrationPage } from './lib/migration-diff.mjs'
import { findProofs, plansPage, proofsPage } from './lib/proofs.mjs'
import {
  doctorPage,
  errorsPage,
  eventNames,
  eventsPage,
  limitsPage,
  loadSource,
  optionsPage,
  routesPage,
  variablesPage,
} from './lib/reference.mjs'
import { fromRoot, isMain } from './lib/run.mjs'
import { marked, parseRows } from './lib/tables.mjs'
import { troubleshootingPage } from './lib/troubleshooting.mjs'
import { projectLists } from './rules/projects.mjs'

/** `llms.txt`: below its introduction a line for each page that a table of docs/README.md names as what to read. */
export function llmsPage(text, overview = readText(CONTENTS)) {
  const list = parseContents(overview).map(({ title, entries }) => {
    const lines = entries.map(({ need, page }) => `- [${toTitle(readText(page))}](${page}): ${need}\n`)
    return `\n## ${title}\n\n${lines.join('')}`
  })
  const isPage = (path) => /^docs\/(?:(?:guides|reference|migration)\/.+|(?!README)[^/]+)\.md$/.test(path)
  const missing = filesBelow('docs', isPage).filter((path) => !list.join('').includes(`](${path})`))
  if (missing.length > 0) throw new Error(`${CONTENTS} names ${missing.join(', ')} in no table`)
  return text.split('\n## ')[0] + list.join('')
}

/** Every file of which a part is generated: the function returns its text. */
export const pages = {
  'docs/guides/doctor.md': doctorPage,
  'docs/reference/options.md': optionsPage,
  'docs/reference/env.md': variablesPage,
  'docs/reference/routes.md': routesPage,
  'docs/reference/errors.md': errorsPage,
  'docs/reference/events.md': eventsPage,
  'docs/reference/limits.md': limitsPage,
  'docs/guides/troubleshooting.md': troubleshootingPage,
  'docs/reference/conformance.md': proofsPage,
  'docs/reference/conformance-plans.md': plansPage,
  'docs/reference/findings.md': proofsPage,
  'llms.txt': (text) => llmsPage(text),
  ...projectLists,
  ...Object.fromEntries(
    filesBelow('docs/migration').map((path) => [path, (text) => migrationPage(text, path)]),
  ),
}

/** Names of others that pages mention: variables of other libraries, of hosts and of Node, codes of the system and of Node, token types. */
const foreign =
  /^(?:NEXT_PUBLIC_)?(?:AUTH0|WORKOS|NEXTAUTH|AUTH|OIDC|VERCEL|NODE|STAFF)_|^(?:ISSUER_BASE_URL|BASE_URL|CLIENT_ID|CLIENT_SECRET|HTTPS?_PROXY|NO_PROXY|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE|DENO_CERT|EAI_AGAIN|N_A)$|^(?:UND_)?ERR_/

/** Names that pages mention must exist: those in upper case between code marks. */
export function unknownNames(text, known) {
  const names = marked(text.replace(/^(```+)[\s\S]*?^\1$/gm, '')).filter((name) =>
    /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(name),
  )
  return [...new Set(names)].filter((name) => !known.has(name) && !foreign.test(name))
}

function namesOf(source) {
  const constants = parseRows(readText('docs/reference/limits.md')).flatMap((cells) =>
    marked(cells['Set by'] ?? '').slice(1),
  )
  const names = [
    Object.keys(source.codes),
    Object.keys(source.remedies),
    Object.keys(source.doctorRemedies),
    source.variableNames,
    eventNames(source),
    constants,
  ]
  return new Set([...names.flat(), 'DEFAULT_ID_TOKEN_CLAIMS'])
}

/** Writes the pages that are not up to date, or reports them. Returns the problems. */
async function generate({ check }) {
  const tests = filesBelow('', (path) => /\.test\.(?:tsx?|mjs)$/.test(path))
  const proofs = findProofs(Object.fromEntries(tests.map((path) => [path, readText(path)])))
  const source = { ...(await loadSource()), proofs }
  const problems = []
  for (const [path, page] of Object.entries(pages)) {
    const text = readText(path)
    try {
      const changed = page(text, source)
      if (changed === text) continue
      if (check) problems.push(`${path} is not up to date: run node tools/generate.mjs`)
      else writeFileSync(fromRoot(path), changed)
    } catch (error) {
      problems.push(`${path}: ${error.message}`)
    }
  }
  const known = namesOf(source)
  for (const path of [
    'README.md',
    'packages/idp-client/README.md',
    ...filesBelow('docs', (each) => each.endsWith('.md')),
  ])
    for (const name of unknownNames(readText(path), known))
      problems.push(`${path} names ${name}, which does not exist`)
  const rows = Object.keys(pages)
    .filter((path) => pages[path] === proofsPage)
    .flatMap((path) => parseRows(readText(path)))
  const ids = new Set(rows.map(({ ID }) => ID))
  for (const [id, [file]] of proofs)
    if (!ids.has(id)) problems.push(`${file} has the id ${id}, which is that of no row`)
  return problems
}

if (isMain(import.meta))
  finish(await generate({ check: process.argv.includes('--check') }), `${Object.keys(pages).length} pages`)
