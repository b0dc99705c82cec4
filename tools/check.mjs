// npm run check [gate...]: all gates, one line each.

import { withProgress } from './lib/progress.mjs'
import { fromRoot, isMain, runNode } from './lib/run.mjs'
import { gates } from './rules/gates.mjs'

/**
 * Runs gates on the built packages, two at a time.
 *
 * @param {string[]} [only] names of gates; all if empty
 * @returns {Promise<{ passed: number, failed: number, failures: string[] }>} `failures`: names of gates
 */
export async function runGates(only = []) {
  const unknown = only.filter((name) => !gates.some((gate) => gate.name === name))
  if (unknown.length > 0)
    throw new Error(
      `check: no gate ${unknown.join(', ')}; known: ${gates.map((gate) => gate.name).join(', ')}`,
    )
  const waiting = gates.filter((gate) => only.length === 0 || only.includes(gate.name))
  const totals = { passed: 0, failed: 0, failures: [] }
  const work = async () => {
    for (let gate = waiting.shift(); gate; gate = waiting.shift()) {
      const passed = await runGate(gate)
      totals[passed ? 'passed' : 'failed'] += 1
      if (!passed) totals.failures.push(gate.name)
    }
  }
  await Promise.all([work(), work()])
  return totals
}

async function runGate({ name, args }) {
  const started = performance.now()
  const { code, output } = await withProgress(name, () => runNode(args))
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  const shown = code === 0 ? lines.filter((line) => line.startsWith('note: ')) : lines
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'}  ${name}  (${seconds} s)`)
  for (const line of shown) console.log(`        ${line}`)
  return code === 0
}

if (isMain(import.meta)) {
  const built = await runNode([fromRoot('tools/build.mjs')], { show: true })
  if (built.code !== 0)
    console.log('FAILED  build: gates that look at the built packages see an older build or none')
  const { passed, failed } = await runGates(process.argv.slice(2))
  console.log(`${passed} gates passed, ${failed} failed`)
  process.exitCode = failed === 0 && built.code === 0 ? 0 : 1
}
