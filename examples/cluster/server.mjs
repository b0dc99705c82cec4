// Several processes behind one port, all with the same sessions: what one of them does, every other sees.
import cluster from 'node:cluster'
import { startWorker } from './worker.mjs'

// Every process accepts connections itself, so that a process that ends breaks only its own connections.
cluster.schedulingPolicy = cluster.SCHED_NONE

const port = Number(process.env.PORT ?? 3000)
const workers = Number(process.env.WORKERS ?? 4)

if (cluster.isPrimary) {
  let stopping = false
  let listening = 0
  cluster.on('listening', () => {
    listening += 1
    if (listening === workers) process.stdout.write(`Open http://localhost:${port} (${workers} processes)\n`)
  })
  // A process that dies takes nothing with it: its sessions are in the store.
  cluster.on('exit', (_worker, code, signal) => {
    if (stopping) return
    process.stdout.write(`a process ended (${signal ?? code}); another takes its place\n`)
    cluster.fork()
  })
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => {
      stopping = true
      for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGTERM')
    })
  }
  for (let index = 0; index < workers; index++) cluster.fork()
} else {
  await startWorker({ port, env: process.env })
}
