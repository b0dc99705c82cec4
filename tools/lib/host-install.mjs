// Installs Node.js, frameworks and the packed library for the applications of hosts.
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { readJson } from './files.mjs'
import { hosts } from './hosts.mjs'
import { fromRoot, must } from './run.mjs'

/** Folder of all installations. */
export const cache = fromRoot('e2e/hosts/.cache')
/** The library's own dependencies, in the versions of this repository. */
export const ownDependencies = ['cookie-es', 'jose', 'oauth4webapi']

/** Returns the name of the folder of a host's example. */
export const toExampleName = (name) => hosts[name].application ?? name

/** Returns the name of the folder of the contract application that a host runs. */
export const toContractName = (name) => hosts[name].contract ?? toExampleName(name)

/** Returns a hash of some texts. */
export const hash = (...parts) => {
  const sum = createHash('sha256')
  for (const part of parts) sum.update(part)
  return sum.digest('hex')
}

/** Returns the manifest of an example without the library, and with other versions of some packages, or further packages. */
function toManifest({ dependencies, devDependencies, ...manifest }, versions = {}) {
  const replaced = (all) =>
    Object.fromEntries(
      Object.entries(all ?? {}).flatMap(([name, version]) =>
        name === 'idp-client' ? [] : [[name, versions[name] ?? version]],
      ),
    )
  const known = { ...dependencies, ...devDependencies }
  const further = Object.fromEntries(Object.entries(versions).filter(([name]) => !(name in known)))
  return {
    ...manifest,
    dependencies: replaced(dependencies),
    devDependencies: { ...replaced(devDependencies), ...further },
  }
}

/** Returns the manifest of a host's applications, without the library. */
export const readManifest = (name) =>
  toManifest(readJson(`examples/${toExampleName(name)}/package.json`), hosts[name].versions)

const programs = new Map()

/** Returns the path of Node for a host. */
export const nodeProgram = (name) => getNode(hosts[name].node)

/** Returns the path of Node, of a version that is installed if its major version is later than that of the running one. */
export function getNode(version) {
  if (!version || Number.parseInt(process.versions.node, 10) >= Number.parseInt(version, 10))
    return process.execPath
  if (!programs.has(version)) programs.set(version, installNode(version))
  return programs.get(version)
}

async function installNode(version) {
  const distribution = `node-${process.platform}-${process.arch}`
  const folder = join(cache, `node-${version}`)
  const program = join(folder, 'node_modules', distribution, 'bin/node')
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }))
    const what = `${distribution}@${version}`
    await must('npm', ['install', what], { cwd: folder })
  }
  return program
}

/** Installs the framework if its lockfile changed, the library always, and copies both applications. */
export async function install({ name, folder, program, tarball }) {
  const source = toExampleName(name)
  const { files = {}, versions } = hosts[name]
  const manifest = readManifest(name)
  const lock = readFileSync(fromRoot(`examples/${source}/package-lock.json`))
  const stamp = hash(JSON.stringify(manifest), lock)
  const stampFile = join(folder, 'installed')
  if (!existsSync(stampFile) || readFileSync(stampFile, 'utf8') !== stamp) {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, null, 2))
    if (!versions) writeFileSync(join(folder, 'package-lock.json'), lock)
    const command = versions ? 'install' : 'ci'
    const env = { PATH: `${dirname(program)}${delimiter}${process.env.PATH}` }
    await must('npm', [command], { cwd: folder, env })
    writeFileSync(stampFile, stamp)
  }
  const library = join(folder, 'node_modules/idp-client')
  rmSync(library, { recursive: true, force: true })
  mkdirSync(library, { recursive: true })
  await must('tar', ['-xzf', tarball, '-C', library, '--strip-components=1'])
  for (const each of ownDependencies) {
    const target = join(folder, 'node_modules', each)
    rmSync(target, { recursive: true, force: true })
    cpSync(fromRoot(`node_modules/${each}`), target, { recursive: true })
  }
  const copies = [
    [`examples/${source}`, 'example'],
    [`e2e/hosts/${toContractName(name)}`, 'contract'],
    ['e2e/hosts/support', 'contract/support'],
  ]
  for (const target of ['example', 'contract']) rmSync(join(folder, target), { recursive: true, force: true })
  for (const [source, target] of copies)
    cpSync(fromRoot(source), join(folder, target), {
      recursive: true,
      filter: (path) => !/[\\/]node_modules$|package-lock\.json$/.test(path),
    })
  for (const [path, text] of Object.entries(files))
    for (const target of /^(?:example|contract)\//.test(path) ? [''] : ['example', 'contract']) {
      const file = join(folder, target, path)
      if (text === null) rmSync(file)
      else writeFileSync(file, text)
    }
}
