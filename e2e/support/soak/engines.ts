import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { redisStore } from 'idp-client/stores/redis'
import { Cluster, Redis } from 'ioredis'
import { onPath } from '../../../packages/idp-client/test/support/service.ts'
import { startPostgresPair } from './postgres-engine.ts'
import type { Engine } from './redis-engines.ts'
import { startRedisCluster, startRedisSentinel } from './redis-engines.ts'

export interface EngineRow {
  readonly name: string
  /** Whether an acknowledged write survives the failure of a server; otherwise what is lost is only counted. */
  readonly isDurable: boolean
  /** Whether the example waits for a replica. */
  readonly env: Variables
  start(): Promise<Engine>
}

const WAIT = { WAIT_FOR_REPLICAS: '1' }

type Variables = Readonly<Record<string, string>>
type Store = ReturnType<typeof redisStore>

/** Opens the same database with `ioredis`, the client that the example does not use. */
export function openWithIoRedis(env: Variables): { store: Store; close(): void } | null {
  const { REDIS_CLUSTER, REDIS_GROUP, REDIS_SENTINELS, WAIT_FOR_REPLICAS } = env
  const count = Number(WAIT_FOR_REPLICAS ?? 0)
  const wait = count > 0 ? { waitForReplicas: { count, timeout: 5000 } } : {}
  const sentinels = (REDIS_SENTINELS ?? '').split(',').map((address) => {
    const [host = '', port] = address.split(':')
    return { host, port: Number(port) }
  })
  if (!REDIS_CLUSTER && !REDIS_GROUP) return null
  const client = REDIS_CLUSTER
    ? new Cluster(REDIS_CLUSTER.split(','))
    : new Redis({ sentinels, name: REDIS_GROUP ?? '' })
  client.on('error', () => {})
  return { store: redisStore(client, wait), close: () => client.disconnect() }
}

/** The first number in the output of `--version`. */
export async function readVersion(program: string): Promise<string> {
  const { stdout } = await promisify(execFile)(program, ['--version'])
  return /\d+\.\d[\d.]*/.exec(stdout)?.[0] ?? 'unknown version'
}

async function redisRows(product: string, program: string): Promise<EngineRow[]> {
  const version = await readVersion(program)
  const kinds = [
    { name: `${product} Cluster ${version}, 6 nodes`, start: () => startRedisCluster(program) },
    { name: `${product} ${version}, 3 servers, 3 Sentinels`, start: () => startRedisSentinel(program) },
  ]
  return kinds.flatMap(({ name, start }) => [
    { name: `${name}, waitForReplicas`, isDurable: true, env: WAIT, start },
    { name, isDurable: false, env: {}, start },
  ])
}

/** The rows of this machine. Valkey is left out, with a line that says so, where it is not installed. */
export async function engineRows(): Promise<EngineRow[]> {
  const hasValkey = onPath('valkey-server') !== null
  if (!hasValkey) process.stdout.write('soak: Valkey is not available: valkey-server is not installed\n')
  return [
    ...(await redisRows('Redis', 'redis-server')),
    ...(hasValkey ? await redisRows('Valkey', 'valkey-server') : []),
    { name: 'PostgreSQL, 2 servers, PgBouncer', isDurable: true, env: {}, start: startPostgresPair },
  ]
}
