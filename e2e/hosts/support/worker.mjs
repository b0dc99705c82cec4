// Serves a Worker in workerd, from a bundle as wrangler makes it. The installed packages are in the folder above the application.
import { spawn } from 'node:child_process'
import { copyFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** Variables of the application, which workerd passes on from its own. */
const variables = [
  'APP_BASE_URL',
  'CONTRACT_HTTP_TIMEOUT',
  'CONTRACT_LOG',
  'CONTRACT_PROCESS_LASTS',
  'CONTRACT_PROXY',
  'CONTRACT_STORE',
  'CONTRACT_UPSTREAM',
  'IDP_DOMAIN',
  'IDP_CLIENT_ID',
  'IDP_CLIENT_SECRET',
  'IDP_SECRET',
  'NODE_ENV',
].filter((name) => process.env[name] !== undefined)

/** Keeps the update of the contract running that continues after its response. */
const waitUntil = `
import { waitUntil } from 'cloudflare:workers'
globalThis.contractWaitUntil = waitUntil
`

/** Returns the configuration of workerd for `worker.js`, on a port of the loopback address. */
const toConfiguration = ({ flags, port, trusted }) => `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "application", worker = .application),
    (name = "internet", network = (
      allow = ["public", "private"],
      tlsOptions = (trustBrowserCas = true, trustedCertificates = [${trusted}]),
    )),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "application")],
);

const application :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-07-01",
  compatibilityFlags = [${flags.map((flag) => `"${flag}"`).join(', ')}],
  bindings = [${variables.map((name) => `(name = "${name}", fromEnvironment = "${name}")`).join(', ')}],
);
`

/**
 * Serves the default export of a module in the current folder, and returns the process.
 *
 * @param {string} contents of the module
 * @param {string[]} [flags] compatibility flags
 */
export async function serveWorker(contents, flags = []) {
  const { NODE_EXTRA_CA_CERTS: certificates, PORT: port } = process.env
  const { CONTRACT_WORKER_FLAG: further, CONTRACT_WITHOUT_WAIT_UNTIL: withoutWaitUntil } = process.env
  await build({
    stdin: { contents: contents + waitUntil, resolveDir: process.cwd() },
    bundle: true,
    format: 'esm',
    target: 'es2022',
    // The library finds `waitUntil` by the first one.
    conditions: [...(withoutWaitUntil ? [] : ['workerd']), 'worker', 'browser'],
    external: ['node:*', 'cloudflare:*'],
    outfile: 'worker.js',
  })
  if (certificates !== undefined) copyFileSync(certificates, 'ca.pem')
  const trusted = certificates === undefined ? '' : 'embed "ca.pem"'
  writeFileSync(
    'worker.capnp',
    toConfiguration({ flags: further ? [...flags, further] : flags, port, trusted }),
  )
  const program = fileURLToPath(new URL('../../node_modules/.bin/workerd', import.meta.url))
  return spawn(program, ['serve', 'worker.capnp'], { stdio: 'inherit' })
}
