// npm run release -- version: turns the changesets into a new version, in the files of the repository.
// npm run release -- pack [folder]: makes and tests the tarballs of this version; publishes nothing.
// npm run release -- --dry [folder]: both in a temporary copy. `--without-consumers` leaves out the slow tests.
import { createHash } from 'node:crypto'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { build } from './build.mjs'
import { runGates } from './check.mjs'
import { packageProblems } from './check-package.mjs'
import { largest, readSteps, removeChangesets } from './lib/changesets.mjs'
import { filesBelow, readJson } from './lib/files.mjs'
import { fromRoot, isMain, must } from './lib/run.mjs'
import { currentVersion, isInChangelog, toNextVersion, writeVersion } from './lib/versions.mjs'
import { pack, published } from './pack.mjs'

/** `npm publish --dry-run` asks the registry about nothing that a release needs to know: it gets none. */
const withoutRegistry = { npm_config_registry: 'http://127.0.0.1:9', npm_config_fetch_retries: '0' }

/** Replaces the changesets by a version in the manifests, the lock, the library's constant, the changelog and the pages. */
async function version() {
  const step = largest(readSteps())
  if (step === undefined) throw new Error('release: no changeset; see .changeset/README.md')
  const current = currentVersion()
  const next = toNextVersion(current, step, isInChangelog(current))
  writeVersion(next, new Date().toISOString().slice(0, 10))
  removeChangesets()
  // Pages with the manifests of applications.
  await must(process.execPath, [fromRoot('tools/generate.mjs')])
  // Fails where the lock does not fit the manifests.
  await must('npm', ['ci', '--dry-run', '--offline', '--ignore-scripts'])
  const { failures } = await runGates(['reference'])
  if (failures.length > 0) throw new Error(`release: gates failed: ${failures.join(', ')}`)
  console.log(`release: ${current} → ${next} (${step})`)
}

/**
 * Makes the tarballs of all packages, with their checksums in `SHA256SUMS`, and tests the files themselves: what they
 * contain, the consumers, and what npm says of them.
 */
async function packRelease(folder, { consumers }) {
  assertReleased()
  await build({ force: true })
  rmSync(folder, { recursive: true, force: true })
  const tarballs = []
  for (const each of published) {
    const tarball = await pack(each, folder)
    const problems = await packageProblems(each, tarball)
    if (problems.length > 0) throw new Error(`release: ${problems.join('\n')}`)
    tarballs.push(tarball)
  }
  if (consumers) process.stdout.write(await testConsumers(tarballs))
  for (const tarball of tarballs) {
    const args = ['publish', tarball, '--dry-run', '--ignore-scripts', '--access', 'public']
    await must('npm', args, { env: withoutRegistry })
    console.log(`release: npm publish --dry-run accepts ${basename(tarball)}`)
  }
  const sums = tarballs.map((tarball) => `${sha256(tarball)}  ${basename(tarball)}\n`).join('')
  writeFileSync(join(folder, 'SHA256SUMS'), sums)
  process.stdout.write(sums)
}

const sha256 = (file) => createHash('sha256').update(readFileSync(file)).digest('hex')

function assertReleased() {
  const current = currentVersion()
  const { GITHUB_REF_NAME: tag, GITHUB_REF_TYPE: type } = process.env
  if (readSteps().length > 0) throw new Error('release: changesets are left: npm run release -- version')
  if (!isInChangelog(current)) throw new Error(`release: CHANGELOG.md has no section for ${current}`)
  if (type === 'tag' && tag !== `v${current}`)
    throw new Error(`release: the tag of ${current} is v${current}`)
}

const testConsumers = (tarballs) =>
  must(process.execPath, [fromRoot('tools/test-project.mjs'), 'consumers'], {
    env: { TARBALLS: tarballs.join(',') },
  })

/**
 * Releases a copy of the repository up to what would be published.
 *
 * @param {string} folder where the tarballs are written
 * @param {{ consumers: boolean, files?: Record<string, string> }} options `files`: written into the copy first
 * @returns {Promise<string>} the output
 */
export async function dryRelease(folder, { consumers, files = {} }) {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), 'idp-release-')))
  try {
    copyRepository(copy)
    for (const [path, text] of Object.entries(files)) writeFileSync(join(copy, path), text)
    prepare(copy)
    const run = (...args) => must(process.execPath, [join(copy, 'tools/release.mjs'), ...args], { cwd: copy })
    const versioned = await run('version')
    const packed = await run('pack', resolve(folder), ...(consumers ? [] : ['--without-consumers']))
    return versioned + packed
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

/** Copies the files and links the installed packages, except those of the workspace. */
function copyRepository(copy) {
  for (const path of filesBelow('')) {
    mkdirSync(dirname(join(copy, path)), { recursive: true })
    cpSync(fromRoot(path), join(copy, path))
  }
  mkdirSync(join(copy, 'node_modules'))
  const own = Object.entries(readJson('package-lock.json').packages).filter(([, { link }]) => link)
  const link = (target, path) => symlinkSync(target, join(copy, path), 'junction')
  for (const [path, { resolved }] of own) link(join(copy, resolved), path)
  for (const name of readdirSync(fromRoot('node_modules'))) {
    const isOwn = own.some(([path]) => path === `node_modules/${name}`)
    if (!isOwn && !name.startsWith('.')) link(fromRoot(`node_modules/${name}`), `node_modules/${name}`)
  }
}

/** Adds what a release needs, and what the repository does not have directly after one. */
function prepare(copy) {
  const changesets = readdirSync(join(copy, '.changeset')).filter((name) => name !== 'README.md')
  if (changesets.length === 0)
    writeFileSync(join(copy, '.changeset/dry-run.md'), "---\n'idp-client': patch\n---\n")
  const file = join(copy, 'CHANGELOG.md')
  const changelog = readFileSync(file, 'utf8')
  writeFileSync(file, changelog.replace(/\n## \[Unreleased\]\n+(?=## |$)/, '$&- Dry run.\n\n'))
}

if (isMain(import.meta)) {
  const args = process.argv.slice(2)
  const [command, folder = fromRoot('release')] = args.filter((each) => each !== '--without-consumers')
  const options = { consumers: !args.includes('--without-consumers') }
  const commands = {
    version,
    pack: () => packRelease(resolve(folder), options),
    '--dry': async () => process.stdout.write(await dryRelease(folder, options)),
  }
  if (!(command in commands)) throw new Error(`release: say one of ${Object.keys(commands).join(', ')}`)
  await commands[command]().catch((error) => {
    console.error(error.message)
    process.exitCode = 1
  })
}
