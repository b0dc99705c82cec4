// node runtime.mjs <bun|deno|workerd|lambda>: serves `app.mjs` of the current folder in another runtime, or `lambda.mjs` as AWS
// Lambda does, in this process.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const { NODE_EXTRA_CA_CERTS, PORT } = process.env
const bin = (name) => fileURLToPath(new URL(`../node_modules/.bin/${name}`, import.meta.url))
const server = fileURLToPath(new URL('runtime-server.mjs', import.meta.url))

const runtimes = {
  bun: () => spawn(bin('bun'), [server], { stdio: 'inherit' }),
  deno: () =>
    spawn(bin('deno'), ['run', '--allow-all', server], {
      stdio: 'inherit',
      env: { ...process.env, DENO_CERT: NODE_EXTRA_CA_CERTS },
    }),
  workerd: async () => {
    const { serveWorker } = await import('./support/worker.mjs')
    return serveWorker(`export { app as default } from './app.mjs'`, ['nodejs_compat'])
  },
  lambda: async () => {
    const { serveFunction } = await import('./lambda-front.mjs')
    await serveFunction(Number(PORT))
  },
}

const runtime = await runtimes[process.argv[2]]()
runtime?.on('exit', (code) => process.exit(code ?? 1))
