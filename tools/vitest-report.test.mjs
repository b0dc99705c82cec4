import { expect, test } from 'vitest'
import { fromRoot } from './lib/run.mjs'
import { countReport } from './lib/vitest-report.mjs'

const report = (changes) => ({
  numPassedTests: 2,
  numFailedTests: 0,
  numPendingTests: 1,
  numTodoTests: 1,
  testResults: [],
  ...changes,
})

test('counts tests that ran, and tests that were skipped', () => {
  expect(countReport(report({}), 0)).toEqual({ passed: 2, failed: 0, skipped: 2, failures: [] })
})

test('a file that did not load is a failure', () => {
  const testResults = [
    {
      name: fromRoot('e2e/next16.test.ts'),
      status: 'failed',
      message: 'no such route\n  at x',
      assertionResults: [],
    },
    { status: 'passed', assertionResults: [{ status: 'passed' }] },
  ]
  const { failed, failures } = countReport(report({ testResults }), 1)
  expect(failed).toBe(1)
  expect(failures).toEqual(['e2e/next16.test.ts did not load: no such route'])
})

test('a failed test is counted once, with the first line of its message', () => {
  const assertion = {
    status: 'failed',
    fullName: 'login redirects',
    failureMessages: ['expected 302\n  at y'],
  }
  const testResults = [{ name: fromRoot('a.test.ts'), status: 'failed', assertionResults: [assertion] }]
  const { failed, failures } = countReport(report({ numFailedTests: 1, testResults }), 1)
  expect(failed).toBe(1)
  expect(failures).toEqual(['a.test.ts: login redirects: expected 302'])
})

test('an exit code without a failed test is a failure', () => {
  expect(countReport(report({}), 1).failed).toBe(1)
})
