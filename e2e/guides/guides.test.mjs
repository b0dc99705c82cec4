// The project `guides` (npm run test:guides [-- guide... | -- --resume | -- --keep]): makes the application that each guide of a host prints, literally, and uses it.
// Needs the npm registry, Chromium, and free printed ports (3000, 4400).
//
// A page (docs/guides/hosts/<name>.md, or what tools/hosts.mjs names) prints:
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
// of the next `cd`. Commands have the npm settings of all tests (tools/lib/run.mjs), local fonts in place of those that the template of
// Next.js loads, and none of our variables.
//
// The pages of the application, which `visitExample` in e2e/support/example-visit.mjs visits: `/` says "Signed out" with links "Log in" and
// "Account", or "Signed in" with links "Account" and "Log out"; `/account` is protected, has the `sub` in the element `#user` and
// a link "Home"; `/api/me` is JSON with `sub`, or 401. With `action` (`visitAction`) `/account` also has a form with a field
// labelled "Theme" and a button "Save", which stores the text in the session; the element `#theme` shows it. Without a session
// the action leads to the login, or an element of the role `alert` says why not.
//
// Results of guides that passed are written to e2e/guides/results; a test (`tools/guides.test.mjs`) compares them with the pages. With
// --resume a guide is left out that passed with the same page, packages and tool; --keep leaves the folders of applications,
// below the temporary folder of the system.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import {
  guides,
  hashBlocks,
  readGuide,
  readResult,
  toFingerprint,
  toResultFile,
} from '../../tools/lib/guides.mjs'
import { fromRoot, must } from '../../tools/lib/run.mjs'
import { currentVersion } from '../../tools/lib/versions.mjs'
import { pack } from '../../tools/pack.mjs'
import { getNode } from '../hosts/host.mjs'
import { selectNames, testApplication } from '../support/applications.mjs'
import { GuideRun } from './guide-run.mjs'

const { KEEP, RESUME } = process.env

const folder = mkdtempSync(join(tmpdir(), 'idp-guides-'))
const tarballs = {
  'idp-client': await pack('packages/idp-client', folder),
  'idp-dev-provider': await pack('packages/dev-provider', folder),
}
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function readStarter({ recorded, starter }) {
  if (recorded) return `${starter}@${recorded}, recorded`
  return starter ? `${starter}@${(await must('npm', ['view', starter, 'version'])).trim()}` : 'empty folder'
}

async function writeResult(name, run, program) {
  const { frameworks, node } = guides[name]
  const result = {
    version: currentVersion(),
    blocks: hashBlocks(readGuide(name)),
    fingerprint: toFingerprint(name, tarballs),
    starter: await readStarter(guides[name]),
    versions: Object.fromEntries(frameworks.map((each) => [each, run.readVersion(each)])),
    node: program === process.execPath ? process.versions.node : node,
    development: 'passed',
    production: 'passed',
  }
  writeFileSync(fromRoot(toResultFile(name)), `${JSON.stringify(result, null, 2)}\n`)
}

for (const name of selectNames(Object.keys(guides))) {
  const guide = guides[name]
  const blocks = readGuide(name)
  let program
  let run
  const steps = [
    [
      'makes the application',
      async () => {
        program = await getNode(guide.node)
        const starter = guide.recorded && fromRoot(`e2e/guides/starters/${name}`)
        run = new GuideRun(blocks, { program, starter, tarballs })
        await run.run('create')
      },
    ],
    ['installs', () => run.run('install')],
    ['writes the files', async () => run.writeFiles()],
    ['checks the types', () => run.run('check')],
    ['a user logs in and out in development', () => run.visit('development', guide)],
    ['builds', () => run.run('build')],
    ['a user logs in and out in production', () => run.visit('production', guide)],
  ]
  const isKnown = RESUME === '1' && readResult(name)?.fingerprint === toFingerprint(name, tarballs)
  const known = ['has passed with the same page, packages and tool', async () => {}]
  testApplication(name, isKnown ? [known] : steps, async (hasPassed) => {
    if (run && hasPassed) await writeResult(name, run, program)
    if (KEEP !== '1') run?.remove()
  })
}
