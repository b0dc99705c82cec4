// npm run soak [-- seconds [users]]: the example of several processes under load, with processes killed and Redis
// started again; prints what was counted and fails when something was lost.
import { bin, isMain, runNode } from './lib/run.mjs'
import { setup, setupSystem } from './setup.mjs'

if (isMain(import.meta)) {
  const [seconds = '60', users = '200'] = process.argv.slice(2)
  const isReady = (await setup()) && (await setupSystem())
  if (!isReady) process.exit(1)
  const { code: built } = await runNode(['tools/build.mjs'], { show: true })
  if (built !== 0) process.exit(1)
  const env = { SOAK_SECONDS: seconds, SOAK_USERS: users }
  const { code } = await runNode([bin.vitest, 'run', '--project', 'e2e', 'e2e/soak.test.ts'], {
    show: true,
    env,
  })
  process.exitCode = code
}
