/**
 * Ends a gate script: prints the problems, or one line of good news, and sets the exit code.
 *
 * @param {string[]} problems one line each, beginning with file and line where there is one
 * @param {string} summary what was looked at, for the good case
 */
export function finish(problems, summary) {
  if (problems.length === 0) {
    console.log(summary)
    return
  }
  for (const problem of problems) console.log(problem)
  console.log(`${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}`)
  process.exitCode = 1
}
