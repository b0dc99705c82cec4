// Servers in processes of their own, on loopback.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../tools/lib/ports.mjs'
import { variables } from './settings.mjs'

const endWithParent = fileURLToPath(new URL('../servers/end-with-parent.cjs', import.meta.url))

/**
 * Starts a server program of Node.js and waits until it prints `Ready`. It ends with this process, at the latest.
 *
 * @param {{ args: (port: number) => string[], cwd: string }} program
 * @returns {Promise<{ origin: string, pid: number, stop: () => Promise<void> }>}
 */
export async function startServer({ args, cwd }) {
  const port = await freePort()
  const child = spawn(process.execPath, ['--require', endWithParent, ...args(port)], {
    cwd,
    env: { ...process.env, ...variables, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close')
  let output = ''
  await new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text
        if (output.includes('Ready')) resolve()
      })
    }
    child.once('close', () => reject(new Error(`bench: ${args(port).join(' ')} ended\n${output}`)))
  })
  return {
    origin: `http://127.0.0.1:${port}`,
    pid: child.pid,
    async stop() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Starts programs, runs `work` with the servers, and stops them. */
export async function withServers(programs, work) {
  const servers = []
  try {
    for (const program of programs) servers.push({ name: program.name, ...(await startServer(program)) })
    return await work(servers)
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
  }
}
