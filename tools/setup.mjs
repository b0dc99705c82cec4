// Prepares a fresh clone. Uses nothing but Node, because it runs before anything is installed.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fromRoot, isMain, run } from './lib/run.mjs'

const minimumNode = [20, 19]

/**
 * The Debian packages that the tests need, and how to detect each. The tests do not use servers that an installation
 * starts: every test starts its own, in a folder of its own.
 */
const systemPackages = [
  { name: 'chromium', present: () => ['chromium', 'chromium-browser', 'google-chrome'].some(onPath) },
  {
    name: 'fonts-dejavu-core',
    present: () => process.platform !== 'linux' || existsSync('/usr/share/fonts/truetype/dejavu'),
  },
  { name: 'redis-server', present: () => onPath('redis-server') && onPath('redis-cli') },
  { name: 'nginx-light', present: () => onPath('nginx') || existsSync('/usr/sbin/nginx') },
  { name: 'openssl', present: () => onPath('openssl') },
  { name: 'postgresql', present: () => onPath('initdb') || postgresPrograms() },
]

/** The further packages of the load test on distributed databases. One that is optional is left out where apt lacks it. */
export const databasePackages = [
  { name: 'pgbouncer', present: () => onPath('pgbouncer') || existsSync('/usr/sbin/pgbouncer') },
  { name: 'valkey-server', present: () => onPath('valkey-server'), optional: true },
]

/**
 * Checks the Node version and installs npm packages if they are not those of the lock.
 *
 * @returns {Promise<boolean>} false if that failed; the reason has been printed
 */
export const setup = async () => nodeIsNewEnough() && (await installPackages())

function nodeIsNewEnough() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const [needMajor, needMinor] = minimumNode
  if (major > needMajor || (major === needMajor && minor >= needMinor)) return true
  console.error(`setup: Node ${minimumNode.join('.')} or newer is needed, this is ${process.versions.node}`)
  return false
}

async function installPackages() {
  const reason = outdated()
  if (reason === null) {
    console.log('setup: npm packages are up to date')
    return true
  }
  console.log(`setup: ${reason}: npm ci`)
  const { code } = await run('npm', ['ci'], { show: true })
  if (code !== 0) console.error(`setup: npm ci failed with exit code ${code}`)
  return code === 0
}

/**
 * Why `npm ci` has to run, or null. npm leaves a record of what it installed in node_modules; it is
 * compared with the lock, so that a changed lock, an interrupted installation and a manual
 * `npm install` are all judged by what is really there.
 */
function outdated() {
  const record = fromRoot('node_modules/.package-lock.json')
  if (!existsSync(record)) return 'node_modules is missing'
  const installed = JSON.parse(readFileSync(record, 'utf8')).packages
  const wanted = JSON.parse(readFileSync(fromRoot('package-lock.json'), 'utf8')).packages
  for (const [path, entry] of Object.entries(wanted)) {
    if (!path.includes('node_modules/')) continue
    const have = installed[path]
    if (have === undefined && entry.optional) continue
    if (have === undefined) return `${path} is not installed`
    if (have.version !== entry.version) return `${path} is ${have.version}, the lock says ${entry.version}`
  }
  return null
}

/**
 * Installs what the tests need from the system, where apt can do it.
 *
 * @param {typeof databasePackages} [more] further packages
 * @returns {Promise<boolean>} false if something is missing that could not be installed; one line
 *   that names it has been printed
 */
export async function setupSystem(more = []) {
  const wanted = [...systemPackages, ...more].filter(({ present }) => !present())
  const needed = wanted.filter(({ optional }) => !optional).map(({ name }) => name)
  const canInstall = process.getuid?.() === 0 && onPath('apt-get')
  if (wanted.length === 0 || (needed.length === 0 && !canInstall)) {
    console.log('setup: system packages for the tests are there')
    return true
  }
  if (!canInstall) {
    console.error(
      `setup: the tests need these system packages, install them and try again: ${needed.join(' ')}`,
    )
    return false
  }
  const env = { DEBIAN_FRONTEND: 'noninteractive' }
  const update = await run('apt-get', ['update'], { show: true, env })
  if (update.code !== 0) console.error('setup: apt-get update failed, trying with the lists that are there')
  const missing = [...needed]
  for (const { name } of wanted.filter(({ optional }) => optional)) {
    if ((await run('apt-cache', ['show', name])).code === 0) missing.push(name)
    else console.log(`setup: this distribution has no package ${name}, which is optional`)
  }
  if (missing.length === 0) return true
  console.log(`setup: installing system packages: ${missing.join(' ')}`)
  const install = await run('apt-get', ['install', '-y', '--no-install-recommends', ...missing], {
    show: true,
    env,
  })
  if (install.code === 0) return true
  console.error(`setup: apt-get could not install: ${missing.join(' ')}`)
  return false
}

/** Debian keeps them outside the path, one folder for each version. */
function postgresPrograms() {
  const root = '/usr/lib/postgresql'
  return (
    existsSync(root) && readdirSync(root).some((version) => existsSync(join(root, version, 'bin/initdb')))
  )
}

function onPath(command) {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.some((folder) => folder !== '' && existsSync(join(folder, command)))
}

if (isMain(import.meta)) {
  const done = (await setup()) && (!process.argv.includes('--tests') || (await setupSystem()))
  process.exitCode = done ? 0 : 1
}
