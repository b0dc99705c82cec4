import { relative } from 'node:path'
import { fromRoot } from './run.mjs'

/**
 * Returns the counts of a vitest JSON report, and one line for each failure: file, title and the first line of its message.
 * A file that could not be loaded has no tests and counts as one failure; so does a run that failed for a reason that the
 * report does not name, for example an unhandled rejection. Tests of a failed file that did not run count as failed: vitest
 * reports those of a suite whose set-up failed as skipped.
 *
 * @returns {{ passed: number, failed: number, skipped: number, failures: string[] }}
 */
export function countReport(report, exitCode) {
  const files = report.testResults
  const tests = files.flatMap(({ assertionResults }) => assertionResults)
  const failures = files.filter(hasFailed).flatMap(describeFailures)
  if (exitCode !== 0 && failures.length === 0) failures.push('an error outside the tests, see above')
  return {
    passed: tests.filter(hasPassed).length,
    failed: failures.length,
    skipped: files.filter((file) => !hasFailed(file)).flatMap(testsThatDidNotPass).length,
    failures,
  }
}

function describeFailures(file) {
  const path = relative(fromRoot('.'), file.name)
  const failed = testsThatDidNotPass(file)
  if (failed.length === 0) return [`${path} did not load: ${firstLine(file.message)}`]
  return failed.map((test) => `${path}: ${test.fullName}: ${describe(test, file)}`)
}

const describe = (test, file) =>
  hasFailed(test) ? firstLine(test.failureMessages?.[0]) : `did not run: ${firstLine(file.message)}`

const testsThatDidNotPass = ({ assertionResults }) => assertionResults.filter((test) => !hasPassed(test))

const firstLine = (text = '') => text.split('\n', 1)[0]

const hasPassed = ({ status }) => status === 'passed'
const hasFailed = ({ status }) => status === 'failed'
