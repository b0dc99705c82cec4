// npm run fuzz [-- runs]: checks the properties of the library with far more inputs than `npm test`.
import { filesBelow, readText } from './lib/files.mjs'
import { bin, runNode } from './lib/run.mjs'

const checksProperties = (path) =>
  path.endsWith('.test.ts') && readText(path).includes('/support/fast-check.ts')
const [runs = '100000'] = process.argv.slice(2)
const args = ['run', '--project', 'unit', '--project', 'flows', '--testTimeout', '0']
const tests = filesBelow('packages/idp-client', checksProperties)
const { code } = await runNode([bin.vitest, ...args, ...tests], {
  show: true,
  env: { FAST_CHECK_RUNS: runs },
})
process.exitCode = code
