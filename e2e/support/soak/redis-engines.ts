import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { pause } from '../../../packages/idp-client/src/lib/pause.ts'
import type { RedisServer } from '../../../packages/idp-client/test/support/redis-server.ts'
import { startRedis } from '../../../packages/idp-client/test/support/redis-server.ts'
import { onFreePort, startService } from '../../../packages/idp-client/test/support/service.ts'

const run = promisify(execFile)

/** Several servers that act as one. */
export interface Engine {
  /** Variables of the example that connect to it. */
  readonly env: Readonly<Record<string, string>>
  /** Kills a primary, waits until another server has taken its place, and that the rest is as before. */
  failOver(): Promise<void>
  stop(): Promise<void>
}

async function ask(port: number, ...command: string[]): Promise<string> {
  return (await run('redis-cli', ['-p', String(port), ...command])).stdout
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition().catch(() => false))) await pause(100)
}

const isPrimary = async ({ port }: RedisServer): Promise<boolean> =>
  (await ask(port, 'role')).startsWith('master')

const isReplicaInSync = async ({ port }: RedisServer): Promise<boolean> =>
  (await ask(port, 'info', 'replication')).includes('master_link_status:up')

/** A replica that is in sync counts for `WAIT` once the primary has its first confirmation. */
const isConfirmed = async ({ port }: RedisServer, count: number): Promise<boolean> =>
  Number(await ask(port, 'wait', String(count), '100')) >= count

/**
 * Kills a primary whose replicas are behind: for a moment it accepts commands, but no replica. Its clients stay connected.
 */
async function killBehind(primary: RedisServer): Promise<void> {
  await ask(primary.port, 'config', 'set', 'requirepass', 'closed')
  await run('redis-cli', ['-p', String(primary.port), '-a', 'closed', 'client', 'kill', 'type', 'replica'])
  await pause(500)
  await primary.crash()
}

/* Nothing is written to disk: a killed server has lost what no other has. */
const replication = { 'repl-diskless-sync-delay': '0', 'repl-ping-replica-period': '1' }

/** Three primaries, each with a replica. */
export async function startRedisCluster(program: string): Promise<Engine> {
  const settings = { ...replication, 'cluster-enabled': 'yes', 'cluster-node-timeout': '2000' }
  const servers = await Promise.all(Array.from({ length: 6 }, () => startRedis({ program, settings })))
  const addresses = servers.map(({ port }) => `127.0.0.1:${port}`)
  await run('redis-cli', [
    ...['--cluster', 'create', ...addresses],
    ...['--cluster-replicas', '1', '--cluster-yes'],
  ])
  const primaries = async (): Promise<RedisServer[]> => {
    const found = await Promise.all(
      servers.map(async (server) => ((await isPrimary(server).catch(() => false)) ? [server] : [])),
    )
    return found.flat()
  }
  const isWhole = async (): Promise<boolean> => {
    const states = await Promise.all(servers.map(({ port }) => ask(port, 'cluster', 'info')))
    if (!states.every((state) => state.includes('cluster_state:ok'))) return false
    const replicas = await Promise.all(servers.map(isReplicaInSync))
    if (replicas.filter((isInSync) => isInSync).length !== 3) return false
    const confirmed = await Promise.all((await primaries()).map((server) => isConfirmed(server, 1)))
    return confirmed.every((isReady) => isReady)
  }
  await until(isWhole)
  return {
    env: { REDIS_CLUSTER: addresses.map((address) => `redis://${address}`).join(',') },
    async failOver() {
      const [first] = await primaries()
      if (!first) throw new Error('the cluster has no primary')
      await killBehind(first)
      await until(async () => (await primaries()).length === 3)
      await first.restart()
      await until(isWhole)
    },
    async stop() {
      await Promise.all(servers.map((server) => server.stop()))
    },
  }
}

const GROUP = 'sessions'

type Watcher = Pick<RedisServer, 'port' | 'stop'>

/** Two of three Sentinels decide. */
async function startSentinel(program: string, primary: RedisServer): Promise<Watcher> {
  const folder = await mkdtemp(join(tmpdir(), 'idp-sentinel-'))
  const file = join(folder, 'sentinel.conf')
  const rules = [
    `monitor ${GROUP} 127.0.0.1 ${primary.port} 2`,
    `down-after-milliseconds ${GROUP} 2000`,
    `failover-timeout ${GROUP} 20000`,
  ]
  const { port, service } = await onFreePort(async (port) => {
    const lines = [`port ${port}`, 'bind 127.0.0.1', ...rules.map((rule) => `sentinel ${rule}`)]
    await writeFile(file, `${lines.join('\n')}\n`)
    const args = [file, '--sentinel']
    const started = await startService({ command: program, args, ready: /Sentinel ID is/, cwd: folder })
    return { port, service: started }
  })
  return {
    port,
    async stop() {
      await service.end('SIGTERM')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A primary with two replicas, and three Sentinels. */
export async function startRedisSentinel(program: string): Promise<Engine> {
  const primary = await startRedis({ program, settings: replication })
  const settings = { ...replication, replicaof: `127.0.0.1 ${primary.port}` }
  const replicas = await Promise.all([1, 2].map(() => startRedis({ program, settings })))
  await until(async () => (await Promise.all(replicas.map(isReplicaInSync))).every((isInSync) => isInSync))
  await until(() => isConfirmed(primary, replicas.length))
  const sentinels = await Promise.all([1, 2, 3].map(() => startSentinel(program, primary)))
  const knows = async ({ port }: Watcher, name: string, count: number): Promise<boolean> =>
    (await ask(port, 'sentinel', name, GROUP)).split('\n').filter((line) => line === 'runid').length === count
  await until(async () => {
    const known = await Promise.all(
      sentinels.flatMap((server) => [knows(server, 'replicas', 2), knows(server, 'sentinels', 2)]),
    )
    return known.every((isKnown) => isKnown)
  })
  const namesPrimary = async ({ port }: Watcher): Promise<number> =>
    Number((await ask(port, 'sentinel', 'get-master-addr-by-name', GROUP)).split('\n')[1])
  const servers = [primary, ...replicas]
  const addresses = sentinels.map(({ port }) => `127.0.0.1:${port}`)
  return {
    env: { REDIS_SENTINELS: addresses.join(','), REDIS_GROUP: GROUP },
    async failOver() {
      await killBehind(primary)
      // About a second after the promotion: until then they send clients to the old one, which is empty after its restart.
      await until(async () =>
        (await Promise.all(sentinels.map(namesPrimary))).every((port) => port !== primary.port),
      )
      await primary.restart()
      // A Sentinel makes it a replica of the new primary.
      await until(() => isReplicaInSync(primary))
    },
    async stop() {
      await Promise.all([...sentinels, ...servers].map((server) => server.stop()))
    },
  }
}
