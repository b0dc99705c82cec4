// Serves `worker.mjs` of the current folder in workerd, without Node.js compatibility.
import { serveWorker } from './support/worker.mjs'

const runtime = await serveWorker(`export { default } from './worker.mjs'`)
runtime.on('exit', (code) => process.exit(code ?? 1))
