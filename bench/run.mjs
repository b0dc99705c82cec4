// npm run bench [-- --quick] [-- --write] [-- --against <folder>] [-- group ...]: installs, measures, prints the tables.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { arch, cpus, release, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { setup } from '../tools/setup.mjs'
import { findUnusedBudgets } from './lib/budgets.mjs'
import { mergeOrders, mergeRuns, toMarkdown, toText, toWorseRows } from './lib/report.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('..', import.meta.url))
const library = join(root, 'packages/idp-client')

/** Groups by whether they are measured three times on each version of Node.js, or once on the running one. */
const groups = {
  sealing: true,
  next: true,
  web: true,
  express: true,
  stores: true,
  resource: true,
  signing: true,
  proxy: true,
  login: true,
  growth: false,
  refresh: false,
  sizes: false,
  servers: false,
}
/** Groups that can compare two builds. */
const comparable = ['next', 'web', 'express', 'stores', 'login']
const versions = ['20.20.2', '22.23.3', '24.21.0']
const RUNS = 3

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    against: { type: 'string' },
    table: { type: 'string' },
  },
})
const known = values.against ? comparable : Object.keys(groups)
const unknown = positionals.filter((name) => !known.includes(name))
if (unknown.length > 0) {
  console.error(`bench: unknown group ${unknown.join(', ')}; there are ${known.join(', ')}`)
  process.exit(1)
}
const chosen = positionals.length > 0 ? positionals : known
const effort = {
  isQuick: values.quick,
  rounds: values.quick ? 9 : 21,
  calls: 640,
  isAgainst: values.against !== undefined,
  table: values.table,
}
/** The builds that a process measures, in the order in which it loads them: the engine favours the later one by some percent. */
const orders = values.against
  ? [
      ['idp-client', 'idp-client-before'],
      ['idp-client-before', 'idp-client'],
    ]
  : [['idp-client']]

function must(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error(`bench: ${command} ${args.join(' ')} failed`)
}

/** Copies a build, the folder `dist`, into `node_modules`, with the manifest beside it or that of this repository. */
function copyBuild(dist, name) {
  const target = join(here, 'node_modules', name)
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  cpSync(dist, join(target, 'dist'), { recursive: true })
  const manifest = [join(dist, '../package.json'), join(library, 'package.json')].find(existsSync)
  const content = { ...JSON.parse(readFileSync(manifest, 'utf8')), name }
  writeFileSync(join(target, 'package.json'), JSON.stringify(content, null, 2))
  const missing = Object.keys(content.dependencies).filter(
    (each) => !existsSync(join(here, 'node_modules', each)),
  )
  if (missing.length > 0)
    throw new Error(`bench: bench/package.json lacks ${missing.join(', ')}, which ${name} needs`)
}

/** Installs what the build needs, the other libraries, and the library as it is published. */
async function install() {
  if (!(await setup())) process.exit(1)
  const lock = readFileSync(join(here, 'package-lock.json'), 'utf8')
  const installed = join(here, 'node_modules/.installed.json')
  if (!existsSync(installed) || readFileSync(installed, 'utf8') !== lock) {
    console.log('bench: installing the other libraries (about 450 MB)')
    must('npm', ['ci', '--no-audit', '--no-fund'], here)
    writeFileSync(installed, lock)
  }
  must('npm', ['run', 'build'], root)
  copyBuild(join(library, 'dist'), 'idp-client')
  if (values.against) copyBuild(resolve(values.against), 'idp-client-before')
}

const toMajor = (version) => version.replace(/^v/, '').split('.', 1)[0]

/** Returns the program of a version of Node.js, which is installed unless it is the running one. */
function getNode(version) {
  if (toMajor(version) === toMajor(process.version)) return process.execPath
  const distribution = `node-${process.platform}-${process.arch}`
  const folder = join(here, '.cache', `node-${version}`)
  const program = join(folder, 'node_modules', distribution, 'bin/node')
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }))
    must('npm', ['install', '--no-audit', '--no-fund', `${distribution}@${version}`], folder)
  }
  return program
}

/** Measures a group in a process of its own, which loads `builds`, and returns its tables. */
function measureOnce(group, program, builds) {
  const { status, stdout } = spawnSync(
    program,
    ['--expose-gc', 'run-group.mjs', group, JSON.stringify(effort)],
    {
      cwd: here,
      encoding: 'utf8',
      maxBuffer: 1e8,
      env: {
        ...process.env,
        BENCH_BUILDS: builds.join(' '),
        BETTER_AUTH_TELEMETRY: '0',
        NODE_ENV: 'production',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  if (status !== 0) throw new Error(`bench: ${group} failed`)
  return JSON.parse(stdout)
}

function measure(group) {
  const start = performance.now()
  const isRepeated = groups[group] && !values.quick
  const lastRun = isRepeated || values.against ? RUNS : 1
  const runs = []
  for (const version of isRepeated ? versions : [process.version])
    for (let run = 1; run <= lastRun; run++) {
      console.log(`bench: ${group}, Node.js ${toMajor(version)}, run ${run}`)
      const byOrder = orders.map((builds) => measureOnce(group, getNode(version), builds))
      runs.push({ version: toMajor(version), tables: mergeOrders(byOrder) })
    }
  const tables = mergeRuns(runs)
  for (const table of tables) console.log(toText(table))
  console.log(`bench: ${group} took ${Math.round((performance.now() - start) / 1000)} s`)
  return tables
}

await install()
const tables = chosen.flatMap(measure)
if (values.against) {
  const worse = tables.flatMap(toWorseRows)
  console.log(worse.length > 0 ? `Worse than before:\n${worse.join('\n')}` : 'No row is worse than before.')
}
const isComplete = positionals.length === 0 && !values.against
const unused = isComplete ? findUnusedBudgets(tables) : []
if (unused.length > 0) throw new Error(`bench: no table has the rows of these budgets: ${unused.join(', ')}`)
if (values.write) {
  const run = {
    command: ['npm run bench --', ...process.argv.slice(2)].join(' '),
    cpu: `${cpus().length} × ${cpus()[0]?.model.trim() || arch()}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    system: `Linux ${release().split('-')[0]}`,
    date: new Date().toISOString().slice(0, 10),
  }
  writeFileSync(join(root, 'docs/benchmarks.md'), toMarkdown(tables, run))
}
