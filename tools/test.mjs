// npm test [-- part...]: everything, from a fresh clone. The last line is the totals line.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bin, fromRoot, isMain, runNode } from './lib/run.mjs'
import { countReport } from './lib/vitest-report.mjs'
import { setup, setupSystem } from './setup.mjs'

const passed = { passed: 1, failed: 0, skipped: 0 }
const failed = { passed: 0, failed: 1, skipped: 0 }

/**
 * The parts in their order. Each returns its counts and may list its failures for the summary; a part that throws
 * counts as one failure. The modules of later parts are loaded when it is their turn, because they need installed
 * packages.
 */
const parts = {
  setup: async () => ((await setup()) ? passed : failed),
  system: async () => ((await setupSystem()) ? passed : failed),
  build: async () =>
    (await runNode([fromRoot('tools/build.mjs')], { show: true })).code === 0 ? passed : failed,
  check: async () => {
    const { runGates } = await import('./check.mjs')
    return { skipped: 0, ...(await runGates()) }
  },
  unit: () => vitest('unit'),
  flows: () => vitest('flows'),
  'dev-provider': () => vitest('dev-provider'),
  tools: () => vitest('tools'),
  consumers: () => vitest('consumers'),
  migration: () => vitest('migration'),
  hosts: () => vitest('hosts'),
  demo: async () =>
    (await runNode([fromRoot('tools/demo.mjs'), '--check'], { show: true })).code === 0 ? passed : failed,
  e2e: () => vitest('e2e'),
}

/** Parts that run before every selection. */
const foundation = ['setup', 'build']

async function vitest(project) {
  const folder = mkdtempSync(join(tmpdir(), 'idp-test-'))
  const report = join(folder, 'report.json')
  try {
    const args = [
      'run',
      '--project',
      project,
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
    ]
    const { code } = await runNode([bin.vitest, ...args], { show: true })
    return countReport(JSON.parse(readFileSync(report, 'utf8')), code)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function runParts(names) {
  const results = []
  for (const name of names) {
    console.log(`\n== ${name}`)
    const started = performance.now()
    const counts = await parts[name]().catch((error) => {
      console.error(error instanceof Error ? error.message : error)
      return failed
    })
    results.push({ name, seconds: Math.round((performance.now() - started) / 1000), ...counts })
    if (name === 'setup' && counts.failed > 0) break
  }
  return results
}

function summarize(results) {
  console.log('\n== summary')
  for (const { name, seconds, failures = [], ...counts } of results) {
    const mark = counts.failed > 0 || total([counts]) === 0 ? 'FAILED' : 'ok    '
    console.log(
      `${mark}  ${name}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped (${seconds} s)`,
    )
    for (const failure of failures) console.log(`        ${failure}`)
  }
}

const total = (results) =>
  results.reduce((sum, { passed, failed, skipped }) => sum + passed + failed + skipped, 0)
const sum = (results, key) => results.reduce((value, result) => value + result[key], 0)

if (isMain(import.meta)) {
  const wanted = process.argv.slice(2)
  const unknown = wanted.filter((name) => !(name in parts))
  if (unknown.length > 0)
    throw new Error(`test: no part ${unknown.join(', ')}; known: ${Object.keys(parts).join(', ')}`)
  const names = Object.keys(parts).filter(
    (name) => wanted.length === 0 || wanted.includes(name) || foundation.includes(name),
  )
  const results = await runParts(names)
  summarize(results)
  // A part without a single test proves nothing, so it counts as a failure.
  const empty = results.filter((result) => total([result]) === 0).length
  const failures = sum(results, 'failed') + empty
  process.exitCode = failures === 0 ? 0 : 1
  console.log(`${sum(results, 'passed')} passed, ${failures} failed, ${sum(results, 'skipped')} skipped`)
}
