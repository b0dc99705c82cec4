// npm run bench [-- --quick] [-- --write] [-- group ...]: installs the other libraries here, measures, prints the tables.
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { arch, cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { setup } from '../tools/setup.mjs'
import { findUnusedBudgets } from './lib/budgets.mjs'
import { toChart } from './lib/chart.mjs'
import { toMarkdown, toText } from './lib/report.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('..', import.meta.url))
const groups = ['sealing', 'requests', 'stores', 'login', 'refresh', 'growth', 'sizes', 'servers']

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, write: { type: 'boolean', default: false } },
})
const unknown = positionals.filter((name) => !groups.includes(name))
if (unknown.length > 0) {
  console.error(`bench: unknown group ${unknown.join(', ')}; there are ${groups.join(', ')}`)
  process.exit(1)
}
const effort = values.quick ? ['5', '30'] : ['21', '100']

function must(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error(`bench: ${command} ${args.join(' ')} failed`)
}

/** Installs what the build needs, the other libraries, and the library as it is published. */
async function install() {
  if (!(await setup())) process.exit(1)
  const [lock, installed] = ['package-lock.json', 'node_modules/.installed.json'].map((path) =>
    join(here, path),
  )
  if (!existsSync(installed) || readFileSync(installed, 'utf8') !== readFileSync(lock, 'utf8')) {
    console.log('bench: installing the other libraries (about 450 MB)')
    must('npm', ['ci', '--no-audit', '--no-fund'], here)
    copyFileSync(lock, installed)
  }
  must('npm', ['run', 'build'], root)
  const target = join(here, 'node_modules/idp-client')
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  const source = join(root, 'packages/idp-client')
  cpSync(join(source, 'dist'), join(target, 'dist'), { recursive: true })
  cpSync(join(source, 'package.json'), join(target, 'package.json'))
  const { dependencies } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
  const missing = Object.keys(dependencies).filter((name) => !existsSync(join(here, 'node_modules', name)))
  if (missing.length > 0)
    throw new Error(`bench: bench/package.json lacks ${missing.join(', ')}, which idp-client needs`)
}

function measure(group) {
  console.log(`bench: ${group}`)
  const start = performance.now()
  const { status, stdout } = spawnSync(process.execPath, ['run-group.mjs', group, ...effort], {
    cwd: here,
    encoding: 'utf8',
    maxBuffer: 1e8,
    env: { ...process.env, NODE_ENV: 'production', BETTER_AUTH_TELEMETRY: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status !== 0) throw new Error(`bench: ${group} failed`)
  const tables = JSON.parse(stdout)
  for (const table of tables) console.log(toText(table))
  console.log(`bench: ${group} took ${Math.round((performance.now() - start) / 1000)} s`)
  return tables
}

await install()
const tables = (positionals.length > 0 ? positionals : groups).flatMap(measure)
const unused = positionals.length > 0 ? [] : findUnusedBudgets(tables)
if (unused.length > 0) throw new Error(`bench: no table has the rows of these budgets: ${unused.join(', ')}`)
if (values.write) {
  const run = {
    command: ['npm run bench --', ...process.argv.slice(2)].join(' '),
    cpu: `${cpus().length} × ${cpus()[0]?.model.trim() || arch()}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    system: `Linux ${release().split('-')[0]}`,
    node: process.version,
    date: new Date().toISOString().slice(0, 10),
  }
  writeFileSync(join(root, 'docs/benchmarks.md'), toMarkdown(tables, run))
  const pictures = join(root, 'docs/benchmarks')
  rmSync(pictures, { recursive: true, force: true })
  mkdirSync(pictures, { recursive: true })
  for (const table of tables) {
    const chart = toChart(table)
    if (chart) writeFileSync(join(pictures, chart.file), chart.svg)
  }
}
