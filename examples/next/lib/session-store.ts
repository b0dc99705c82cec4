import type { SessionDataStore } from 'idp-client'

const stores = ['cookie', 'memory', 'redis', 'postgres'] as const

export type StoreKind = (typeof stores)[number]

/** `SESSION_STORE`; default encrypted cookies. */
export const storeKind: StoreKind = readKind(process.env['SESSION_STORE'] || 'cookie')

/** Undefined with cookies. A driver is loaded only if it is used. */
export const sessionStore: SessionDataStore | undefined = await open(storeKind)

function readKind(value: string): StoreKind {
  const kind = stores.find((one) => one === value)
  if (kind) return kind
  throw new Error(`SESSION_STORE has to be one of ${stores.join(', ')}.`)
}

async function open(kind: StoreKind): Promise<SessionDataStore | undefined> {
  if (kind === 'memory') return (await import('idp-client/stores/memory')).memoryStore()
  if (kind === 'redis') return openRedis(variable('REDIS_URL'))
  if (kind === 'postgres') return openPostgres(variable('DATABASE_URL'))
  return undefined
}

async function openRedis(url: string): Promise<SessionDataStore> {
  const { createClient } = await import('redis')
  const { redisStore } = await import('idp-client/stores/redis')
  const client = createClient({ url })
  // Without a listener, a lost connection would end the process. The library reports failed requests.
  client.on('error', () => {})
  await client.connect()
  return redisStore(client)
}

async function openPostgres(connectionString: string): Promise<SessionDataStore> {
  const { Pool } = await import('pg')
  const { postgresStore } = await import('idp-client/stores/postgres')
  const pool = new Pool({ connectionString })
  pool.on('error', () => {})
  const store = postgresStore(pool)
  await store.migrate()
  return store
}

function variable(name: string): string {
  const value = process.env[name]
  if (value) return value
  throw new Error(`SESSION_STORE=${storeKind} needs ${name}.`)
}
