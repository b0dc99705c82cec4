// npm run soak [-- seconds [users]]: the example of several processes under load, with processes killed and Redis
// started again; prints what was counted and fails when something was lost.
// npm run soak -- cluster [seconds [users]]: the same on databases of several servers, whose primary is killed.
import { bin, isMain, runNode } from './lib/run.mjs'
import { databasePackages, setup, setupSystem } from './setup.mjs'

if (isMain(import.meta)) {
  const args = process.argv.slice(2)
  const isCluster = args[0] === 'cluster'
  const [seconds = '60', users = isCluster ? '50' : '200'] = isCluster ? args.slice(1) : args
  const isReady = (await setup()) && (await setupSystem(isCluster ? databasePackages : []))
  if (!isReady) process.exit(1)
  const { code: built } = await runNode(['tools/build.mjs'], { show: true })
  if (built !== 0) process.exit(1)
  const tests = isCluster ? ['soak'] : ['e2e', 'e2e/soak.test.ts']
  const { code } = await runNode([bin.vitest, 'run', '--project', ...tests], {
    show: true,
    env: { SOAK_SECONDS: seconds, SOAK_USERS: users },
  })
  process.exitCode = code
}
