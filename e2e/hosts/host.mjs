// Installs the applications of a host with the packed library, and runs them.
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { hosts } from '../../tools/hosts.mjs'
import { readJson } from '../../tools/lib/files.mjs'
import { freePort } from '../../tools/lib/ports.mjs'
import { fromRoot, must } from '../../tools/lib/run.mjs'
import { running } from '../../tools/lib/server-process.mjs'
import { dependencies as ownDependencies } from '../../tools/rules/entries.mjs'

/** Folder of all installations. */
export const cache = fromRoot('e2e/hosts/.cache')

/** The option `secret` of every application. */
export const secret = 'a5f1c3e8b7d94e20a5f1c3e8b7d94e20a5f1c3e8b7d94e20a5f1c3e8b7d94e20'

/** Variables of applications in production; none of ours is inherited from the shell. */
const production = {
  NODE_ENV: 'production',
  HOST: '127.0.0.1',
  APP_BASE_URL: undefined,
  IDP_DOMAIN: undefined,
  IDP_CLIENT_ID: undefined,
  IDP_CLIENT_SECRET: undefined,
  IDP_SECRET: undefined,
}

const commandLine = {
  NODE_ENV: 'production',
  CI: '1',
  NUXT_TELEMETRY_DISABLED: '1',
  ASTRO_TELEMETRY_DISABLED: '1',
}

/** Returns the folder of the contract application that a host runs. */
export const toContractFolder = ({ application, contract = application }) => `e2e/hosts/${contract}`

/** Returns a hash of some texts. */
export const hash = (...parts) => {
  const sum = createHash('sha256')
  for (const part of parts) sum.update(part)
  return sum.digest('hex')
}

/** Returns the manifest of a host's applications: that of the example, with other versions, and without our packages. */
export function readManifest({ application, versions = {} }) {
  const { dependencies, devDependencies = {}, ...manifest } = readJson(`examples/${application}/package.json`)
  const { 'idp-client': _, ...own } = dependencies
  const { 'idp-dev-provider': __, ...ownForTests } = devDependencies
  const replaced = (all) =>
    Object.fromEntries(Object.entries(all).map(([name, version]) => [name, versions[name] ?? version]))
  const further = Object.entries(versions).filter(([name]) => !(name in { ...own, ...ownForTests }))
  return {
    ...manifest,
    dependencies: replaced(own),
    devDependencies: { ...replaced(ownForTests), ...Object.fromEntries(further) },
  }
}

const programs = new Map()

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
    await must('npm', ['install', `${distribution}@${version}`], { cwd: folder })
  }
  return program
}

/** The two applications of a host: `example` and `contract`. */
export class Host {
  #program

  /**
   * @param {string} name
   * @param {Partial<import('../../tools/hosts.mjs').Host>} [row] default: that of tools/hosts.mjs
   */
  constructor(name, row = hosts[name]) {
    this.row = row
    this.folder = join(cache, name)
  }

  /** Installs the framework if its lockfile changed, the library always, and copies both applications. */
  async install(tarball) {
    const { application, files = {}, node, versions } = this.row
    this.#program = await getNode(node)
    const manifest = JSON.stringify(readManifest(this.row), null, 2)
    const lock = readFileSync(fromRoot(`examples/${application}/package-lock.json`))
    const stamp = hash(manifest, lock)
    const stampFile = join(this.folder, 'installed')
    if (!existsSync(stampFile) || readFileSync(stampFile, 'utf8') !== stamp) {
      rmSync(this.folder, { recursive: true, force: true })
      mkdirSync(this.folder, { recursive: true })
      writeFileSync(join(this.folder, 'package.json'), manifest)
      if (!versions) writeFileSync(join(this.folder, 'package-lock.json'), lock)
      const env = { PATH: `${dirname(this.#program)}${delimiter}${process.env.PATH}` }
      await must('npm', [versions ? 'install' : 'ci'], { cwd: this.folder, env })
      writeFileSync(stampFile, stamp)
    }
    const library = this.#empty('node_modules/idp-client')
    await must('tar', ['-xzf', tarball, '-C', library, '--strip-components=1'])
    for (const name of ownDependencies)
      cpSync(fromRoot(`node_modules/${name}`), this.#empty(`node_modules/${name}`), { recursive: true })
    for (const [source, target] of [
      [`examples/${application}`, this.#empty('example')],
      [toContractFolder(this.row), this.#empty('contract')],
      ['e2e/hosts/support', join(this.folder, 'contract/support')],
    ]) {
      const filter = (path) => !/[\\/]node_modules$|package-lock\.json$/.test(path)
      cpSync(fromRoot(source), target, { recursive: true, filter })
    }
    for (const [path, text] of Object.entries(files)) this.#replace(path, text)
  }

  #empty(path) {
    const target = join(this.folder, path)
    rmSync(target, { recursive: true, force: true })
    mkdirSync(target, { recursive: true })
    return target
  }

  #replace(path, text) {
    for (const target of /^(?:example|contract)\//.test(path) ? [''] : ['example', 'contract']) {
      const file = join(this.folder, target, path)
      if (text === null) rmSync(file)
      else writeFileSync(file, text)
    }
  }

  /** Returns the arguments of Node with the paths of installed programs. */
  #resolve(args) {
    return args.map((arg) => (arg.startsWith('node_modules/') ? join(this.folder, arg) : arg))
  }

  /** Runs programs, one after the other, in the folder of an application. */
  async run(commands, application, env) {
    for (const args of commands)
      await must(this.#program, this.#resolve(args), {
        cwd: join(this.folder, application),
        env: { ...commandLine, ...this.row.env, ...env },
      })
  }

  /**
   * Runs `work` while the application in a folder runs, with its address and its output. `toEnv` returns its variables for an
   * address; `start` are the arguments of Node, default those of the row.
   */
  async serve(folder, toEnv, work, start = this.row.start) {
    const port = await freePort()
    const base = `http://127.0.0.1:${port}`
    const env = {
      ...production,
      ...this.row.env,
      ...toEnv(base),
      PORT: String(port),
      NITRO_PORT: String(port),
    }
    const args = this.#resolve(start)
    const application = { args, base, env, folder: join(this.folder, folder), program: this.#program }
    await running(application, (output) => work(base, output))
  }

  /** Returns the command that runs `support/certificate.mjs` in a runtime. */
  toCommand(runtime) {
    const program = runtime === 'node' ? this.#program : join(this.folder, 'node_modules/.bin', runtime)
    const args = runtime === 'deno' ? ['run', '--allow-all'] : []
    return { program, args: [...args, 'certificate.mjs'], cwd: join(this.folder, 'contract/support') }
  }

  /** Returns the installed versions of the packages that the matrix names. */
  readVersions() {
    const { frameworks, node } = this.row
    const version = (name) =>
      JSON.parse(readFileSync(join(this.folder, 'node_modules', name, 'package.json'), 'utf8')).version
    const runtime = this.#program === process.execPath ? process.versions.node : node
    const entries = frameworks.map((name) => [name, version(name)])
    return Object.fromEntries(node ? [...entries, ['Node.js', runtime]] : entries)
  }
}
