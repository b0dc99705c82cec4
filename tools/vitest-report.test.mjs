import { expect, test } from 'vitest'
import { countReport } from './lib/vitest-report.mjs'

const report = (changes) => ({
  numPassedTests: 2,
  numFailedTests: 0,
  numPendingTests: 1,
  numTodoTests: 1,
  testResults: [],
  ...changes,
})

test('counts what ran, and what was left out', () => {
  expect(countReport(report({}), 0)).toEqual({ passed: 2, failed: 0, skipped: 2 })
})

test('a file that did not load is a failure', () => {
  const testResults = [
    { status: 'failed', assertionResults: [] },
    { status: 'passed', assertionResults: [{ status: 'passed' }] },
  ]
  expect(countReport(report({ testResults }), 1).failed).toBe(1)
})

test('a failed test is counted once', () => {
  const testResults = [{ status: 'failed', assertionResults: [{ status: 'failed' }] }]
  expect(countReport(report({ numFailedTests: 1, testResults }), 1).failed).toBe(1)
})

test('an exit code without a failed test is a failure', () => {
  expect(countReport(report({}), 1).failed).toBe(1)
})
