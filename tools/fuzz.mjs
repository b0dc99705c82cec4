// npm run fuzz [-- runs]: checks the properties of the library with far more inputs than `npm test`.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bin, fromRoot, isMain, runNode } from './lib/run.mjs'

/** The test files that check properties, relative to the repository root. */
function propertyTests() {
  const folder = 'packages/idp-client'
  return ['src', 'test']
    .flatMap((part) =>
      readdirSync(fromRoot(join(folder, part)), { recursive: true }).map((name) => join(folder, part, name)),
    )
    .filter(
      (path) =>
        path.endsWith('.test.ts') && readFileSync(fromRoot(path), 'utf8').includes('/support/fast-check.ts'),
    )
}

if (isMain(import.meta)) {
  const [runs = '100000'] = process.argv.slice(2)
  const args = ['run', '--project', 'unit', '--project', 'flows', '--testTimeout', '0', ...propertyTests()]
  const { code } = await runNode([bin.vitest, ...args], { show: true, env: { FAST_CHECK_RUNS: runs } })
  process.exitCode = code
}
