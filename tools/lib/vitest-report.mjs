/**
 * Counts of a vitest JSON report. A file that could not be loaded has no tests and counts as one
 * failure; so does a run that failed for a reason the report does not name, an unhandled rejection
 * for example.
 *
 * @returns {{ passed: number, failed: number, skipped: number }}
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
  if (exitCode !== 0 && counts.failed === 0) counts.failed = 1
  return counts
}

const hasFailed = (assertion) => assertion.status === 'failed'
