import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bin, fromRoot, runNode } from './lib/run.mjs'
import { countReport } from './lib/vitest-report.mjs'

const file = (changes) => ({
  name: fromRoot('a.test.ts'),
  status: 'passed',
  assertionResults: [],
  ...changes,
})

const assertion = (status, changes) => ({ status, fullName: `a test that is ${status}`, ...changes })

const count = (testResults, exitCode = 1) => countReport({ testResults }, exitCode)

test('counts tests that ran, and tests that were skipped', () => {
  const assertionResults = ['passed', 'passed', 'skipped', 'todo'].map((status) => assertion(status))
  expect(count([file({ assertionResults })], 0)).toEqual({ passed: 2, failed: 0, skipped: 2, failures: [] })
})

test('a file that did not load is a failure', () => {
  const broken = file({ status: 'failed', message: 'no such route\n  at x' })
  const { failed, failures } = count([broken, file({ assertionResults: [assertion('passed')] })])
  expect(failed).toBe(1)
  expect(failures).toEqual(['a.test.ts did not load: no such route'])
})

test('a failed test is counted once, with the first line of its message', () => {
  const failure = { fullName: 'login redirects', failureMessages: ['expected 302\n  at y'] }
  const { failed, failures } = count([
    file({ status: 'failed', assertionResults: [assertion('failed', failure)] }),
  ])
  expect(failed).toBe(1)
  expect(failures).toEqual(['a.test.ts: login redirects: expected 302'])
})

test('[Q0] tests whose set-up failed count as failed, not as skipped', async () => {
  mkdirSync(fromRoot('.cache'), { recursive: true })
  const folder = mkdtempSync(fromRoot('.cache/report-'))
  try {
    const source = [
      "import { beforeAll, describe, test } from 'vitest'",
      "describe('suite', () => { beforeAll(() => { throw new Error('no browser') }); test('one', () => {}) })",
      "test('two', () => {})",
    ]
    writeFileSync(join(folder, 'vitest.config.mjs'), 'export default {}')
    writeFileSync(join(folder, 'set-up.test.mjs'), source.join('\n'))
    const report = join(folder, 'report.json')
    const args = ['run', '--reporter=json', `--outputFile=${report}`]
    const { code } = await runNode([bin.vitest, ...args], { cwd: folder })
    const { failed, passed, skipped } = countReport(JSON.parse(readFileSync(report, 'utf8')), code)
    expect({ failed, passed, skipped }).toEqual({ failed: 1, passed: 1, skipped: 0 })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('an exit code without a failed test is a failure', () => {
  expect(count([]).failed).toBe(1)
})
