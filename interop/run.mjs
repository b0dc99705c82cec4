// npm run interop [-- provider | stores] [host] [part of a title]: the built library against real providers, and its session
// stores on databases of several servers.
import { bin, fromRoot, isMain, runNode } from '../tools/lib/run.mjs'
import { databasePackages, setup, setupSystem } from '../tools/setup.mjs'
import { serverCertificate } from './support/credentials.mjs'
import { missingCommands } from './support/program.mjs'

const needed = ['java', 'mvn', 'openssl', 'redis-server']

async function runProviders(args) {
  const missing = missingCommands(needed)
  if (missing.length > 0) {
    console.error(
      `interop: needs ${needed.join(', ')} (Java 17 or newer); not installed: ${missing.join(', ')}`,
    )
    return 1
  }
  // Node reads trusted certificates when it starts.
  const { key, certificate } = await serverCertificate()
  const env = { NODE_EXTRA_CA_CERTS: certificate, INTEROP_KEY: key, INTEROP_CERTIFICATE: certificate }
  const { code } = await runNode([fromRoot('interop/main.mjs'), ...args], { show: true, env })
  return code
}

/** The part of the soak test that needs no load: every engine meets the store contract. */
async function runStores() {
  if (!(await setupSystem(databasePackages))) return 1
  const title = 'meets the store contract'
  const { code, output } = await runNode([bin.vitest, 'run', '--project', 'soak', '-t', title])
  console.log(output)
  // vitest succeeds if it leaves out all tests.
  return output.includes('cases of the store contract') ? code : 1
}

if (isMain(import.meta)) {
  const args = process.argv.slice(2)
  const isReady = (await setup()) && (await runNode([fromRoot('tools/build.mjs')], { show: true })).code === 0
  const onlyStores = args[0] === 'stores'
  const providers = isReady && !onlyStores ? await runProviders(args) : 0
  const stores = isReady && (onlyStores || args.length === 0) ? await runStores() : 0
  process.exitCode = isReady && providers === 0 && stores === 0 ? 0 : 1
}
