import { relative } from 'node:path'
import { fromRoot } from './run.mjs'

/**
 * Counts of a vitest JSON report, and one line for each failure: file, title and the first line of its message. A file that could not be loaded has no tests and counts as one
 * failure; so does a run that failed for a reason the report does not name, an unhandled rejection
 * for example.
 *
 * @returns {{ passed: number, failed: number, skipped: number, failures: string[] }}
 */
export function countReport(report, exitCode) {
  const counts = {
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    skipped: report.numPendingTests + report.numTodoTests,
  }
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some(hasFailed),
  )
  counts.failed += broken.length
  const failures = [...report.testResults.flatMap(describeFailedTests), ...broken.map(describeBrokenFile)]
  if (exitCode !== 0 && counts.failed === 0) {
    counts.failed = 1
    failures.push('an error outside the tests, see above')
  }
  return { ...counts, failures }
}

const describeFailedTests = (file) =>
  file.assertionResults
    .filter(hasFailed)
    .map(({ fullName, failureMessages }) => `${path(file)}: ${fullName}: ${firstLine(failureMessages?.[0])}`)

const describeBrokenFile = (file) => `${path(file)} did not load: ${firstLine(file.message)}`

const path = (file) => relative(fromRoot('.'), file.name)
const firstLine = (text = '') => text.split('\n', 1)[0]

const hasFailed = (assertion) => assertion.status === 'failed'
