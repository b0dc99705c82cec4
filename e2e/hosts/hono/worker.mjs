import { copyFileSync, writeFileSync } from 'node:fs'
import { build } from 'esbuild'

/** Variables of the application, which workerd passes on from its own. */
const variables = [
  'APP_BASE_URL',
  'CONTRACT_PROXY',
  'IDP_DOMAIN',
  'IDP_CLIENT_ID',
  'IDP_CLIENT_SECRET',
  'IDP_SECRET',
  'NODE_ENV',
].filter((name) => process.env[name] !== undefined)

/** Bundles `app.mjs` of the current folder to one file, as wrangler does, and writes the configuration of workerd beside it. */
export async function configureWorker(certificates, port) {
  await build({
    stdin: { contents: `export { app as default } from './app.mjs'`, resolveDir: process.cwd() },
    bundle: true,
    format: 'esm',
    target: 'es2022',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*'],
    outfile: 'worker.js',
  })
  if (certificates !== undefined) copyFileSync(certificates, 'ca.pem')
  const trusted = certificates === undefined ? '' : 'embed "ca.pem"'
  writeFileSync(
    'worker.capnp',
    `using Workerd = import "/workerd/workerd.capnp";

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
  # A case of the contract lets one request continue the update of an earlier one.
  compatibilityFlags = ["nodejs_compat", "no_handle_cross_request_promise_resolution"],
  bindings = [${variables.map((name) => `(name = "${name}", fromEnvironment = "${name}")`).join(', ')}],
);
`,
  )
}
