// npm run test:hosts, test:guides, test:migration [-- name... | -- --flag], node tools/test-project.mjs <project> [name... | --flag]:
// runs a project of vitest whose tests are applications. They read the names from the variable ONLY, and a flag such as --resume as
// RESUME=1.
import { bin, runNode } from './lib/run.mjs'

const [project, ...args] = process.argv.slice(2)
const flags = args.filter((each) => each.startsWith('--'))
const env = {
  ONLY: args.filter((each) => !each.startsWith('--')).join(',') || 'all',
  ...Object.fromEntries(flags.map((flag) => [flag.slice(2).toUpperCase(), '1'])),
}
const vitest = [bin.vitest, 'run', '--project', project, '--reporter', 'verbose']
process.exitCode = (await runNode(vitest, { show: true, env })).code
