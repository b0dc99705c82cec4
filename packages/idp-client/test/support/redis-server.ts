import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { pause } from '../../src/lib/pause.ts'
import type { Service } from './service.ts'
import { onFreePort, startService } from './service.ts'

/** A Redis of its own, on loopback. */
export interface RedisServer {
  readonly port: number
  readonly url: string
  /** Ends it in the middle of whatever it does. */
  crash(): Promise<void>
  /** Starts it again on the same port, with what it wrote to disk. */
  restart(): Promise<void>
  /** Ends it and removes its folder. */
  stop(): Promise<void>
}

export interface RedisOptions {
  /** Whether every write is on disk before the response. Default: nothing is written to disk. */
  readonly persistent?: boolean
  /** Whether it is a cluster, of this one node. */
  readonly cluster?: boolean
  /** The server that runs. Default `redis-server`. */
  readonly program?: string
  /** Further settings of the server. */
  readonly settings?: Readonly<Record<string, string>>
}

const run = promisify(execFile)

/** Gives a cluster of one node all slots. */
async function allSlots(port: number): Promise<void> {
  const ask = async (...args: string[]): Promise<string> =>
    (await run('redis-cli', ['-p', String(port), 'cluster', ...args])).stdout
  await ask('addslotsrange', '0', '16383')
  while (!(await ask('info')).includes('cluster_state:ok')) await pause(50)
}

export async function startRedis({
  cluster = false,
  persistent = false,
  program = 'redis-server',
  settings: furtherSettings = {},
}: RedisOptions = {}): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'idp-redis-'))
  const settings = {
    bind: '127.0.0.1',
    save: '',
    dir: folder,
    appendonly: persistent ? 'yes' : 'no',
    appendfsync: 'always',
    'cluster-enabled': cluster ? 'yes' : 'no',
    'cluster-announce-ip': '127.0.0.1',
    ...furtherSettings,
  }
  const start = (port: number): Promise<Service> =>
    startService({
      command: program,
      args: Object.entries({ port: String(port), ...settings }).flatMap(([name, value]) => [
        `--${name}`,
        value,
      ]),
      ready: /Ready to accept connections/,
      cwd: folder,
    })
  let { port, service } = await onFreePort(async (port) => ({ port, service: await start(port) }))
  if (cluster) await allSlots(port)
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    crash: () => service.end('SIGKILL'),
    async restart() {
      if (!service.hasEnded()) await service.end('SIGTERM')
      service = await start(port)
    },
    async stop() {
      await service.end('SIGTERM')
      await rm(folder, { recursive: true, force: true })
    },
  }
}
