// Sessions in memory, in Redis and in PostgreSQL: the store of idp-client, that of nextjs-auth0, and the read of the floor.
import { postgresStore } from 'idp-client/stores/postgres'
import { redisStore } from 'idp-client/stores/redis'
import { Pool } from 'pg'
import { createClient } from 'redis'
import { builds } from './builds.mjs'
import { loadDatabaseServers } from './internals.mjs'

/**
 * @typedef {object} Backend
 * @property {string} floor how the floor reads a record
 * @property {(build: number) => object} createStore the store of a build of idp-client; databases have that of this repository
 * @property {(id: string) => unknown} get text of a record, or nothing
 * @property {(id: string, text: string) => unknown} set
 * @property {(id: string) => unknown} remove
 * @property {() => Promise<void>} stop
 */

/** The store of nextjs-auth0 as its documentation shows it. */
export const toPeerStore = ({ get, remove, set }) => ({
  async get(id) {
    const text = await get(id)
    return text ? JSON.parse(text) : null
  },
  set: (id, session) => set(id, JSON.stringify(session)),
  delete: (id) => remove(id),
  deleteByLogoutToken: async () => {},
})

function startMemory() {
  const records = new Map()
  return {
    floor: 'Map.get',
    createStore: (build) => builds[build].memoryStore({ name: `bench-${build}` }),
    get: (id) => records.get(id),
    set: (id, text) => records.set(id, text),
    remove: (id) => records.delete(id),
    stop: async () => {},
  }
}

async function startRedis() {
  const { onPath, startRedis: start } = await loadDatabaseServers()
  if (onPath('redis-server') === null) throw new Error('redis-server is not installed')
  const server = await start()
  const client = await createClient({ url: server.url }).connect()
  return {
    floor: 'GET by the driver redis',
    createStore: () => redisStore(client),
    get: (id) => client.get(id),
    set: (id, text) => client.set(id, text),
    remove: (id) => client.del(id),
    async stop() {
      client.destroy()
      await server.stop()
    },
  }
}

async function startPostgres() {
  const { startPostgres: start } = await loadDatabaseServers()
  const server = await start()
  const pool = new Pool({ connectionString: server.url })
  const store = postgresStore(pool)
  await store.migrate()
  await pool.query('create table records (id text primary key, data text not null)')
  const upsert = 'insert into records values ($1, $2) on conflict (id) do update set data = excluded.data'
  return {
    floor: 'SELECT by primary key by the driver pg',
    createStore: () => store,
    get: async (id) => (await pool.query('select data from records where id = $1', [id])).rows[0]?.data,
    set: (id, text) => pool.query(upsert, [id, text]),
    remove: (id) => pool.query('delete from records where id = $1', [id]),
    async stop() {
      await pool.end()
      await server.stop()
    },
  }
}

/** Starts of the backends by name. A start fails where the server is not installed. */
export const backends = { Memory: startMemory, Redis: startRedis, PostgreSQL: startPostgres }
