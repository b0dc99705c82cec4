import { createClient } from 'redis'
import { freePort, startProgram, until } from './program.mjs'

/** A Redis server that keeps nothing on disk; `url` is its address. */
export async function startRedis() {
  const port = await freePort()
  const options = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const program = startProgram('redis-server', ['--port', String(port), ...options])
  const url = `redis://127.0.0.1:${port}`
  await until('Redis to respond', () => responds(url))
  return { url, stop: () => program.stop() }
}

async function responds(url) {
  const client = createClient({ url, socket: { reconnectStrategy: false } })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.quit()
    return true
  } catch {
    return false
  }
}
