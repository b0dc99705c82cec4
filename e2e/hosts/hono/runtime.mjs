// node runtime.mjs <bun|deno|workerd>: serves `app.mjs` of the current folder in another runtime.
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
    const { configureWorker } = await import('./worker.mjs')
    await configureWorker(NODE_EXTRA_CA_CERTS, PORT)
    return spawn(bin('workerd'), ['serve', 'worker.capnp'], { stdio: 'inherit' })
  },
}

const runtime = await runtimes[process.argv[2]]()
runtime.on('exit', (code) => process.exit(code ?? 1))
