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
// The run `init-<guide>` makes the same application by `idp-client init --provider dev --yes`: on the starter, or in an empty folder
// without a manifest; then it runs the command that `init` ends with, and visits the application in development. The run
// `create-<guide>` makes it by `npm create idp-app`. Files of a
// starter that `init` replaces are in e2e/guides/starters/files.json, which the run of the guide extends.
//
// Results of guides that passed are written to e2e/guides/results; a test (`tools/guides.test.mjs`) compares them with the pages. With
// --resume a guide is left out that passed with the same page, packages and tool; --keep leaves the folders of applications,
// below the temporary folder of the system.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { readJson } from '../../tools/lib/files.mjs'
import {
  createRuns,
  guides,
  hashBlocks,
  initRuns,
  readGuide,
  readResult,
  toFingerprint,
  toResultFile,
} from '../../tools/lib/guides.mjs'
import { createInitData, starterFilesPath } from '../../tools/lib/init-data.mjs'
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
  'create-idp-app': await pack('packages/create-idp-app', folder),
}
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function readStarter({ recorded, starter }) {
  if (recorded) return `${starter}@${recorded}, recorded`
  return starter ? `${starter}@${(await must('npm', ['view', starter, 'version'])).trim()}` : 'empty folder'
}

async function writeResult(name, guideName, result) {
  const common = {
    version: currentVersion(),
    blocks: hashBlocks(readGuide(guideName)),
    fingerprint: toFingerprint(guideName, tarballs),
    starter: await readStarter(guides[guideName]),
  }
  writeFileSync(fromRoot(toResultFile(name)), `${JSON.stringify({ ...common, ...result }, null, 2)}\n`)
}

/** Adds what the starter created in place of printed files to those of its earlier versions. */
function recordStarterFiles(name, hashes) {
  const all = readJson(starterFilesPath)
  const known = all[name] ?? {}
  for (const [path, hash] of Object.entries(hashes))
    known[path] = [...new Set([...(known[path] ?? []), hash])]
  if (Object.keys(known).length > 0) all[name] = known
  writeFileSync(fromRoot(starterFilesPath), `${JSON.stringify(all, null, 2)}\n`)
}

async function createRun(name) {
  const { node, recorded } = guides[name]
  const program = await getNode(node)
  const starter = recorded && fromRoot(`e2e/guides/starters/${name}`)
  return {
    run: new GuideRun(readGuide(name), { program, starter, tarballs }),
    node: program === process.execPath ? process.versions.node : node,
  }
}

function testGuide(name) {
  const guide = guides[name]
  let made
  let starterFiles
  const steps = [
    [
      'makes the application',
      async () => {
        made = await createRun(name)
        await made.run.run('create')
        starterFiles = made.run.hashStarterFiles()
      },
    ],
    ['installs', () => made.run.run('install')],
    ['writes the files', async () => made.run.writeFiles()],
    ['checks the types', () => made.run.run('check')],
    ['a user logs in and out in development', () => made.run.visit('development', guide)],
    ['builds', () => made.run.run('build')],
    ['a user logs in and out in production', () => made.run.visit('production', guide)],
  ]
  const write = () => {
    recordStarterFiles(name, starterFiles)
    const versions = guide.frameworks.map((each) => [each, made.run.readVersion(each)])
    const passed = { development: 'passed', production: 'passed' }
    return writeResult(name, name, { versions: Object.fromEntries(versions), node: made.node, ...passed })
  }
  return { steps, write, remove: () => made?.run.remove() }
}

/** Measures steps; the seconds are part of the result. */
function createTimer() {
  const seconds = {}
  const time = async (step, work) => {
    const start = performance.now()
    const value = await work()
    seconds[step] = Math.round((performance.now() - start) / 100) / 10
    return value
  }
  return { seconds, time }
}

/** The same application by `init`. */
function testInit(runName, name) {
  const { starter, ...guide } = guides[name]
  const { seconds, time } = createTimer()
  let made
  let commands
  // An application that has the framework already is recognized.
  const { packages, dependencies } = createInitData().guides[name]
  const host = packages.some((each) => !(each in dependencies)) ? [] : ['--host', name]
  const args = ['--provider', 'dev', '--yes', ...host]
  const make = async () => {
    made = await createRun(name)
    await time('create', () => (starter ? made.run.run('create') : made.run.makeFolder()))
  }
  const init = async () => {
    commands = await time('init', () => made.run.init(args))
  }
  const steps = [
    [starter ? 'makes the application of the starter' : 'makes an empty folder', make],
    ['adds login and logout by init', init],
    ['installs', () => time('install', () => made.run.runCommands(commands.slice(0, -1)))],
    [
      'a user logs in and out, after one command',
      () => time('visit', () => made.run.visitCommand(commands.at(-1), guide)),
    ],
  ]
  const write = () => {
    const run = [`idp-client init ${args.join(' ')}`, ...commands].join(' && ')
    return writeResult(runName, name, { node: made.node, commands: run, seconds, development: 'passed' })
  }
  return { steps, write, remove: () => made?.run.remove() }
}

/** A new application by `npm create idp-app`. */
function testCreate(runName, name) {
  const { seconds, time } = createTimer()
  let made
  let command
  const make = async () => {
    made = await createRun(name)
    const [only] = await time('create', () => made.run.createApp(['--host', name]))
    command = only
  }
  const steps = [
    ['makes and installs the application', make],
    [
      'a user logs in and out, after one command',
      () => time('visit', () => made.run.visitCommand(command, guides[name])),
    ],
  ]
  const write = () => {
    const commands = `npm create idp-app my-app -- --host ${name} && cd my-app && ${command}`
    return writeResult(runName, name, { node: made.node, commands, seconds, development: 'passed' })
  }
  return { steps, write, remove: () => made?.run.remove() }
}

const runs = {
  ...Object.fromEntries(Object.keys(guides).map((name) => [name, [name, testGuide]])),
  ...Object.fromEntries(
    Object.entries(initRuns).map(([run, name]) => [run, [name, (guide) => testInit(run, guide)]]),
  ),
  ...Object.fromEntries(
    Object.entries(createRuns).map(([run, name]) => [run, [name, (guide) => testCreate(run, guide)]]),
  ),
}

for (const run of selectNames(Object.keys(runs))) {
  const [name, test] = runs[run]
  const { steps, write, remove } = test(name)
  const isKnown = RESUME === '1' && readResult(run)?.fingerprint === toFingerprint(name, tarballs)
  const known = ['has passed with the same page, packages and tool', async () => {}]
  testApplication(run, isKnown ? [known] : steps, async (hasPassed) => {
    if (!isKnown && hasPassed) await write()
    if (KEEP !== '1') remove()
  })
}
