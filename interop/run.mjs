// npm run interop [-- provider] [host] [part of a title]: the built library against real providers.
import { fromRoot, isMain, runNode } from '../tools/lib/run.mjs'
import { setup } from '../tools/setup.mjs'
import { serverCertificate } from './support/credentials.mjs'
import { missingCommands } from './support/program.mjs'

const needed = ['java', 'mvn', 'openssl', 'redis-server']

if (isMain(import.meta)) {
  const missing = missingCommands(needed)
  if (missing.length > 0) {
    console.error(
      `interop: needs ${needed.join(', ')} (Java 17 or newer); not installed: ${missing.join(', ')}`,
    )
    process.exit(1)
  }
  const isReady = (await setup()) && (await runNode([fromRoot('tools/build.mjs')], { show: true })).code === 0
  if (!isReady) process.exit(1)
  // Node reads trusted certificates when it starts.
  const { key, certificate } = await serverCertificate()
  const env = { NODE_EXTRA_CA_CERTS: certificate, INTEROP_KEY: key, INTEROP_CERTIFICATE: certificate }
  const { code } = await runNode([fromRoot('interop/main.mjs'), ...process.argv.slice(2)], {
    show: true,
    env,
  })
  process.exitCode = code
}
