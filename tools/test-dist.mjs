// npm test -- consumers, or node tools/test-dist.mjs [consumer...]: installs the packed tarballs
// outside the repository and uses them as applications do.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { consumers } from './lib/consumers.mjs'
import { withProgress } from './lib/progress.mjs'
import { fromRoot, isMain, must } from './lib/run.mjs'
import { pack, published } from './pack.mjs'

/**
 * Runs consumers, three at a time, since installations wait for the registry. A step that fails ends its consumer; the steps
 * behind it count as failed. With the variable `KEEP_CONSUMERS` set the installed folders stay, and are named.
 *
 * @param {string[]} [only] names of consumers; all if empty
 * @param {string[]} [packed] tarballs of `published`; by default they are packed
 * @returns {Promise<{ passed: number, failed: number, skipped: number, failures: string[] }>}
 */
export async function testConsumers(only = [], packed = undefined) {
  const unknown = only.filter((name) => !(name in consumers))
  if (unknown.length > 0)
    throw new Error(`no consumer ${unknown.join(', ')}; known: ${Object.keys(consumers).join(', ')}`)
  const { startDevProvider } = await import('../packages/dev-provider/dist/index.js')
  const provider = await startDevProvider({ https: true })
  const home = mkdtempSync(join(tmpdir(), 'idp-consumers-'))
  const counts = { passed: 0, failed: 0, skipped: 0, failures: [] }
  try {
    const tarballs =
      packed ??
      (await withProgress('consumers: packs both packages', () =>
        Promise.all(published.map((folder) => pack(folder, home))),
      ))
    const waiting = Object.keys(consumers).filter((name) => only.length === 0 || only.includes(name))
    const work = async () => {
      for (let name = waiting.shift(); name; name = waiting.shift())
        await testConsumer(name, { home, tarballs, provider, counts })
    }
    await Promise.all([work(), work(), work()])
  } finally {
    await provider.stop()
    if (process.env.KEEP_CONSUMERS) console.log(`consumers: kept in ${home}`)
    else rmSync(home, { recursive: true, force: true })
  }
  return counts
}

async function testConsumer(name, { home, tarballs, provider, counts }) {
  const folder = join(home, name)
  const steps = consumers[name].steps.map(([title, work]) => [title, () => work({ folder, provider })])
  await runSteps(name, [['installs', () => install(name, folder, tarballs)], ...steps], counts)
}

/** Runs the steps `[title, work()]` of one application and counts them. After a failure the rest counts as failed. */
export async function runSteps(name, steps, counts) {
  let broken = false
  for (const [title, work] of steps) {
    if (broken) {
      counts.failed += 1
      counts.failures.push(`${name}: ${title}: did not run`)
      continue
    }
    const started = performance.now()
    try {
      await withProgress(`${name}: ${title}`, work)
      counts.passed += 1
      console.log(`ok      ${name}: ${title} (${seconds(started)} s)`)
    } catch (error) {
      broken = true
      counts.failed += 1
      counts.failures.push(`${name}: ${title}`)
      console.log(`FAILED  ${name}: ${title} (${seconds(started)} s)\n${error.message}`)
    }
  }
}

const seconds = (started) => ((performance.now() - started) / 1000).toFixed(1)

async function install(name, folder, [client, devProvider]) {
  mkdirSync(folder, { recursive: true })
  for (const source of consumers[name].copies) {
    cpSync(fromRoot(`e2e/consumers/${source}`), folder, { recursive: true })
  }
  for (const { path, text } of consumers[name].files ?? []) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const file = join(folder, 'package.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  manifest.dependencies = { ...manifest.dependencies, 'idp-client': `file:${client}` }
  if (consumers[name].devProvider) manifest.dependencies['idp-dev-provider'] = `file:${devProvider}`
  writeFileSync(file, JSON.stringify(manifest, null, 2))
  await must('npm', ['install'], { cwd: folder })
}

if (isMain(import.meta)) {
  const { passed, failed, skipped } = await testConsumers(process.argv.slice(2))
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
  process.exitCode = failed === 0 ? 0 : 1
}
