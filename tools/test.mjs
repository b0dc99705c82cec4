// npm test [-- part... | -- --all]: everything, from a fresh clone. A long part that has passed with the same files is not run
// again, which it says, unless it is named or --all is given. The last line is the totals line.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { applications, fingerprint, readLastPass, writeLastPass } from './lib/last-pass.mjs'
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
  consumers: () => vitest('consumers', 'verbose'),
  migration: () => vitest('migration', 'verbose'),
  hosts: () => vitest('hosts', 'verbose'),
  demo: async () =>
    (await runNode([fromRoot('tools/demo.mjs'), '--check'], { show: true })).code === 0 ? passed : failed,
  e2e: () => vitest('e2e'),
}

/** Parts that run before every selection. */
const foundation = ['setup', 'build']

/** Applications take minutes, so each of their tests is printed when it ends. */
async function vitest(project, reporter = 'default') {
  const folder = mkdtempSync(join(tmpdir(), 'idp-test-'))
  const report = join(folder, 'report.json')
  try {
    const reporters = [`--reporter=${reporter}`, '--reporter=json', `--outputFile.json=${report}`]
    const { code } = await runNode([bin.vitest, 'run', '--project', project, ...reporters], { show: true })
    return countReport(JSON.parse(readFileSync(report, 'utf8')), code)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function runPart(name) {
  const started = performance.now()
  const counts = await parts[name]().catch((error) => {
    console.error(error instanceof Error ? error.message : error)
    return failed
  })
  return { name, seconds: Math.round((performance.now() - started) / 1000), ...counts }
}

/** Runs a long part unless it has passed with the same files. */
async function runUnlessUnchanged(name, isForced) {
  const files = fingerprint(applications[name])
  const last = readLastPass(name, files)
  if (last && !isForced) {
    console.log(`unchanged: ${last.passed} tests passed with the same files on ${last.date} UTC`)
    return { name, unchanged: last.passed }
  }
  const result = await runPart(name)
  if (result.failed > 0 || result.passed === 0) return result
  writeLastPass(name, { fingerprint: files, passed: result.passed })
  return { ...result, note: ', not again until its files change' }
}

/** @param {{ isForced: boolean }} options whether long parts run in any case */
async function runParts(names, { isForced }) {
  const results = []
  for (const name of names) {
    console.log(`\n== ${name}`)
    results.push(await (name in applications ? runUnlessUnchanged(name, isForced) : runPart(name)))
    if (name === 'setup' && results[0].failed > 0) break
  }
  return results
}

function summarize(results) {
  console.log('\n== summary')
  for (const { name, seconds, failures = [], note = '', unchanged, ...counts } of results) {
    const mark = counts.failed > 0 || total([counts]) === 0 ? 'FAILED' : 'ok    '
    console.log(
      unchanged
        ? `same    ${name}: ${unchanged} unchanged, not run`
        : `${mark}  ${name}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped (${seconds} s${note})`,
    )
    for (const failure of failures) console.log(`        ${failure}`)
  }
}

const total = (results) =>
  results.reduce((sum, { passed, failed, skipped }) => sum + passed + failed + skipped, 0)
const sum = (results, key) => results.reduce((value, result) => value + (result[key] ?? 0), 0)

if (isMain(import.meta)) {
  const given = process.argv.slice(2)
  const wanted = given.filter((name) => name !== '--all')
  const unknown = wanted.filter((name) => !(name in parts))
  if (unknown.length > 0)
    throw new Error(`test: no part ${unknown.join(', ')}; known: ${Object.keys(parts).join(', ')}`)
  const names = Object.keys(parts).filter(
    (name) => wanted.length === 0 || wanted.includes(name) || foundation.includes(name),
  )
  const all = await runParts(names, { isForced: given.length > 0 })
  summarize(all)
  const results = all.filter(({ unchanged }) => !unchanged)
  // A part without a single test proves nothing, so it counts as a failure.
  const empty = results.filter((result) => total([result]) === 0).length
  const failures = sum(results, 'failed') + empty
  process.exitCode = failures === 0 ? 0 : 1
  if (results.length < all.length)
    console.log(`${sum(all, 'unchanged')} unchanged, not run: npm test -- --all runs them`)
  console.log(`${sum(results, 'passed')} passed, ${failures} failed, ${sum(results, 'skipped')} skipped`)
}
