import { postgresStore } from 'idp-client/stores/postgres'
import { redisStore } from 'idp-client/stores/redis'
import pg from 'pg'
import { createClient, createCluster, createSentinel } from 'redis'

/** Fails instead of queueing commands while the connection is down, so that no request waits for the store. */
const socket = { connectTimeout: 2000, reconnectStrategy: (retries) => Math.min(retries * 50, 500) }
const clientOptions = { socket, disableOfflineQueue: true }

const split = (list) => list.split(',')

function createRedis(env) {
  if (env.REDIS_CLUSTER) {
    const rootNodes = split(env.REDIS_CLUSTER).map((url) => ({ url }))
    return createCluster({ rootNodes, defaults: clientOptions })
  }
  if (env.REDIS_SENTINELS) {
    const sentinelRootNodes = split(env.REDIS_SENTINELS).map((address) => {
      const [host, port] = address.split(':')
      return { host, port: Number(port) }
    })
    return createSentinel({ name: env.REDIS_GROUP, sentinelRootNodes, nodeClientOptions: clientOptions })
  }
  return createClient({ url: env.REDIS_URL ?? 'redis://127.0.0.1:6379', ...clientOptions })
}

async function openRedis(env) {
  const redis = createRedis(env)
  // Without a listener a lost connection would end the process. It is told once; then the store reports what fails.
  redis.once('error', ({ code, message }) => process.stderr.write(`no Redis: ${code ?? message}\n`))
  redis.on('error', () => {})
  await redis.connect()
  const count = Number(env.WAIT_FOR_REPLICAS ?? 0)
  const wait = count > 0 ? { waitForReplicas: { count, timeout: 5000 } } : {}
  return { store: redisStore(redis, wait), close: () => redis.destroy() }
}

async function openPostgres(connectionString) {
  const pool = new pg.Pool({ connectionString, connectionTimeoutMillis: 5000, query_timeout: 10_000 })
  pool.on('error', () => {})
  const store = postgresStore(pool)
  await store.migrate()
  return { store, close: () => pool.end() }
}

/** The session store that the variables name, and how to close it. */
export const openStore = (env) => (env.DATABASE_URL ? openPostgres(env.DATABASE_URL) : openRedis(env))
