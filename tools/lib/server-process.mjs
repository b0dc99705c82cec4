import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * Starts a server program in a process group of its own, so that stopping it also stops what it
 * started.
 *
 * @param {string[]} args of Node
 * @param {{
 *   cwd: string,
 *   env: Record<string, string | undefined>,
 *   show?: (line: string, stream: 'stdout' | 'stderr') => void,
 *   program?: string,
 * }} options a variable that is `undefined` is not passed on; `program` is another Node than the running one
 */
export function startServer(args, { cwd, env, show, program = process.execPath }) {
  const merged = { ...process.env, ...env }
  for (const [name, value] of Object.entries(merged)) if (value === undefined) delete merged[name]
  const child = spawn(program, args, {
    cwd,
    env: merged,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const output = []
  for (const name of ['stdout', 'stderr']) {
    child[name].on('data', (chunk) => {
      output.push(chunk)
      if (!show) return
      for (const line of chunk.toString('utf8').split('\n')) if (line.trim() !== '') show(line, name)
    })
  }
  const ended = once(child, 'close')
  return {
    /** Output that was not shown yet. */
    output: () => (show ? '' : Buffer.concat(output).toString('utf8')),
    ended,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      signal(child, 'SIGTERM')
      const guard = setTimeout(() => signal(child, 'SIGKILL'), 10_000)
      await ended
      clearTimeout(guard)
    },
  }
}

/**
 * Waits until a URL responds with a status below 500.
 *
 * @throws when the server ended before, or after two minutes
 */
export async function untilResponds(url, server) {
  const deadline = performance.now() + 120_000
  let last = 'no response'
  while (performance.now() < deadline) {
    if (server.hasEnded()) throw new Error(`the server ended before it responded\n${server.output()}`)
    try {
      const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(60_000) })
      await response.arrayBuffer()
      if (response.status < 500) return response.status
      last = `status ${response.status}`
    } catch (error) {
      last = error instanceof Error ? error.message : String(error)
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`${url} is not ready: ${last}\n${server.output()}`)
}

/** Starts a program, waits until it responds, runs the work with its output, and stops it. */
export async function running({ folder, args, env, base, program }, work) {
  const server = startServer(args, { cwd: folder, env, program })
  try {
    await untilResponds(`${base}/`, server)
    await work(server.output)
  } catch (error) {
    throw new Error(`${error.message}\nOutput of the server:\n${server.output().slice(-4000)}`)
  } finally {
    await server.stop()
  }
}

function signal(child, name) {
  try {
    process.kill(-child.pid, name)
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}
