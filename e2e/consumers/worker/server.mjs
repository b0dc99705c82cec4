// Bundles the Worker to one file, as wrangler does, and serves it with workerd, the runtime of Cloudflare Workers.
import { spawn } from 'node:child_process'
import { copyFileSync, writeFileSync } from 'node:fs'
import { build } from 'esbuild'
import workerd from 'workerd'

const { NODE_EXTRA_CA_CERTS, PORT } = process.env
const variables = ['APP_BASE_URL', 'IDP_DOMAIN', 'IDP_CLIENT_ID', 'IDP_CLIENT_SECRET', 'IDP_SECRET']

await build({
  entryPoints: ['worker.ts'],
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  conditions: ['workerd', 'worker', 'browser'],
  // As `wrangler` does.
  external: ['node:*', 'cloudflare:*'],
  outfile: 'worker.js',
})
copyFileSync(NODE_EXTRA_CA_CERTS, 'ca.pem')
writeFileSync(
  'worker.capnp',
  `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "application", worker = .application),
    (name = "internet", network = (
      allow = ["public", "private"],
      tlsOptions = (trustBrowserCas = true, trustedCertificates = [embed "ca.pem"]),
    )),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${PORT}", http = (), service = "application")],
);

const application :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-07-01",
  compatibilityFlags = ["nodejs_compat"],
  bindings = [${variables.map((name) => `(name = "${name}", fromEnvironment = "${name}")`).join(', ')}],
);
`,
)
spawn(workerd.default, ['serve', 'worker.capnp'], { stdio: 'inherit' }).on('exit', (code) =>
  process.exit(code ?? 1),
)
