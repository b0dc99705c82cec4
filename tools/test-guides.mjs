// npm run test:guides [-- guide... | -- --resume | -- --keep]: makes the application that each guide of a host prints, literally,
// and uses it. Needs the npm registry, Chromium, and free printed ports (3000, 4400).
//
// A page (docs/guides/hosts/<name>.md, or what lib/guides.mjs names) prints:
// - Whole files: fences whose first line is `// file: PATH`, `# file: PATH` or `<!-- file: PATH -->`. All of a page are written,
//   in its order, without this line. Fences without it are fragments for readers.
// - Commands: fences `sh ROLE`, one command per line. Roles run in this order: create (makes the application from the official
//   starter, or an empty folder; `cd FOLDER` stays in effect), install, then the files are written, check (types), provider
//   (idp-dev-provider with --app and --write), development, build, provider and production. The last line of provider,
//   development and production keeps running. Where there are two blocks `sh provider`, the second is for production: there the
//   provider has to be on https. A block `sh` without role is not run.
// - Alternatives: the word `variant` after the language; they are not run.
//
// Nothing is replaced but `idp-client` and `idp-dev-provider` in commands `npm install …` and `bun add …`: the packed tarballs,
// until the packages are published, which are also in the folder above the application; and a starter that needs more than the
// registry: the first command `npm create …` or `npx …` of `create` copies its recorded output (e2e/guides/starters) to the folder
// of the next `cd`. Commands have the npm settings of all tests (lib/run.mjs), local fonts in place of those that the template of
// Next.js loads, and none of our variables.
//
// The pages of the application, which `visitExample` in lib/host-browser.mjs visits: `/` says "Signed out" with links "Log in" and
// "Account", or "Signed in" with links "Account" and "Log out"; `/account` is protected, has the `sub` in the element `#user` and
// a link "Home"; `/api/me` is JSON with `sub`, or 401. With `action` (`visitAction`) `/account` also has a form with a field
// labelled "Theme" and a button "Save", which stores the text in the session; the element `#theme` shows it. Without a session
// the action leads to the login, or an element of the role `alert` says why not.
//
// Results of guides that passed are written to e2e/guides/results; the gate `guides` compares them with the pages. With
// --resume a guide is left out that passed with the same page, packages and tool. --keep leaves the folders of applications.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { GuideRun } from './lib/guide-run.mjs'
import {
  guides,
  hashBlocks,
  readGuide,
  readResult,
  toFingerprint,
  toResultFile,
  toStarterFolder,
} from './lib/guides.mjs'
import { getNode } from './lib/host-install.mjs'
import { withProgress } from './lib/progress.mjs'
import { fromRoot, isMain, must } from './lib/run.mjs'
import { currentVersion } from './lib/versions.mjs'
import { pack } from './pack.mjs'
import { runSteps } from './test-dist.mjs'

function writeResult(name, result) {
  const file = fromRoot(toResultFile(name))
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`)
}

async function readStarter(name) {
  const { recorded, starter } = guides[name]
  if (recorded) return `${starter}@${recorded}, recorded`
  return starter ? `${starter}@${(await must('npm', ['view', starter, 'version'])).trim()}` : 'empty folder'
}

/** Returns the steps of a guide; each run with its title. */
function toSteps(run, guide, result) {
  const step = (title, role) => (run.has(role) ? [[title, () => run.run(role)]] : [])
  const visit = (role) => async () => {
    await run.visit(role, guide)
    result[role] = 'passed'
  }
  return [
    ...step('makes the application', 'create'),
    ...step('installs', 'install'),
    ['writes the files', async () => run.writeFiles()],
    ...step('checks the types', 'check'),
    ['a user logs in and out in development', visit('development')],
    ...step('builds', 'build'),
    ['a user logs in and out in production', visit('production')],
  ]
}

async function testGuide(name, { counts, keep, tarballs }) {
  const blocks = readGuide(name)
  const program = await getNode(guides[name].node)
  const result = { development: 'failed', production: 'failed' }
  const run = new GuideRun(blocks, { program, starter: toStarterFolder(name), tarballs })
  try {
    await runSteps(name, toSteps(run, guides[name], result), counts)
    if (result.production === 'passed') {
      const { frameworks, node } = guides[name]
      writeResult(name, {
        version: currentVersion(),
        blocks: hashBlocks(blocks),
        fingerprint: toFingerprint(name, tarballs),
        starter: await readStarter(name),
        versions: Object.fromEntries(frameworks.map((each) => [each, run.readVersion(each)])),
        node: program === process.execPath ? process.versions.node : node,
        ...result,
      })
    }
  } finally {
    if (keep) console.log(`kept    ${name}: ${run.folder}`)
    else run.remove()
  }
  return result
}

function printTable(names, failed) {
  for (const name of names) {
    const { development, node, production, starter, versions } = { ...readResult(name), ...failed[name] }
    const all = Object.entries(versions ?? {}).map((entry) => entry.join(' '))
    const cells = [name, starter ?? '–', all.join(', ') || '–', node ?? '–', development, production]
    console.log(`| ${cells.join(' | ')} |`)
  }
}

/**
 * Runs guides one after another.
 *
 * @param {{ only?: string[], resume?: boolean, keep?: boolean }} [what] names of guides, all if empty
 */
export async function testGuides({ only = [], resume = false, keep = false } = {}) {
  const unknown = only.filter((name) => !(name in guides))
  if (unknown.length > 0)
    throw new Error(`no guide ${unknown.join(', ')}; known: ${Object.keys(guides).join(', ')}`)
  const names = only.length > 0 ? only : Object.keys(guides)
  const counts = { passed: 0, failed: 0, skipped: 0, failures: [] }
  const failed = {}
  const folder = mkdtempSync(join(tmpdir(), 'idp-guides-'))
  try {
    const tarballs = await withProgress('guides: packs', async () => ({
      'idp-client': await pack('packages/idp-client', folder),
      'idp-dev-provider': await pack('packages/dev-provider', folder),
    }))
    for (const name of names) {
      if (resume && readResult(name)?.fingerprint === toFingerprint(name, tarballs)) {
        console.log(`passed  ${name}: in an earlier run with the same page, packages and tool, not counted`)
        continue
      }
      const result = await testGuide(name, { counts, keep, tarballs })
      if (result.production !== 'passed') failed[name] = result
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  printTable(names, failed)
  return counts
}

if (isMain(import.meta)) {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { resume: { type: 'boolean' }, keep: { type: 'boolean' } },
  })
  const { passed, failed, skipped } = await testGuides({ only: positionals, ...values })
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
  process.exitCode = failed === 0 ? 0 : 1
}
