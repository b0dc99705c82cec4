import { Pool } from 'pg'
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { PostgresClient, PostgresStore } from '../../src/stores/postgres.ts'
import { postgresStore } from '../../src/stores/postgres.ts'
import { storeContract } from '../../src/testing/index.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { counted, expectNoMeeting, inSeconds, later, onceByLateClock, sessionOf } from './sessions.ts'

const server = await startPostgres()
const pool = new Pool({ connectionString: server.url, max: 10 })
const strictPool = new Pool({
  connectionString: server.url,
  max: 10,
  options: '-c default_transaction_isolation=serializable',
})

afterAll(async () => {
  await Promise.all([pool.end(), strictPool.end()])
  await server.stop()
})

const stores = {
  'a pool': postgresStore(pool),
  'a pool with strict isolation': postgresStore(strictPool, { table: 'strict' }),
}
for (const store of Object.values(stores)) await store.migrate()

describe.each(Object.entries(stores))('[S016,S017,S018,S019] the store contract with %s', (_name, store) => {
  describe.concurrent('each case', () => {
    test.each(storeContract(store))('$title', ({ run }) => run())
  })
})

let tests = 0
let table: string
let store: PostgresStore

beforeEach(async () => {
  tests += 1
  table = `test_${tests}`
  store = postgresStore(pool, { table })
  await store.migrate()
})

const count = async (name: string): Promise<number> =>
  Number((await pool.query(`select count(*) as count from "${name}"`)).rows[0]?.count)

describe('postgresStore', () => {
  test('migrate may run any number of times, also concurrently, and changes no existing table', async () => {
    await store.set('id', sessionOf('alice'), later)
    const fresh = `fresh_${tests}`
    const all = Array.from({ length: 16 }, (_, index) =>
      postgresStore(pool, { table: index % 2 ? table : fresh }),
    )
    await Promise.all(all.map((each) => each.migrate()))
    expect((await store.get('id'))?.user.sub).toBe('alice')
    const names = await pool.query(
      'select indexname as name from pg_indexes where tablename like $1 order by 1',
      [`${fresh}%`],
    )
    expect(names.rows.map(({ name }) => name.slice(fresh.length))).toEqual([
      '_expires_at',
      '_leases_expires_at',
      '_leases_pkey',
      '_pkey',
      '_sid',
      '_sub',
    ])
  })

  test('queries use an index', async () => {
    const plans: string[] = []
    const connection = await pool.connect()
    onTestFinished(() => connection.release())
    await connection.query('set enable_seqscan = off')
    const explaining: PostgresClient = {
      query: async (text, values) => {
        const { rows } = await connection.query(`explain ${text}`, values)
        plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
        return { rows: [] }
      },
    }
    const explained = postgresStore(explaining, { table })
    await explained.deleteByLogoutToken({ sub: 'alice' })
    await explained.listBySubject('alice')
    await explained.deleteBySubject('alice')
    await explained.deleteByLogoutToken({ sid: 'sid' })
    await explained.get('id')
    expect(plans.map((plan) => /Index Scan (?:using|on) "?(\w+)/.exec(plan)?.[1])).toEqual([
      `${table}_sub`,
      `${table}_sub`,
      `${table}_sub`,
      `${table}_sid`,
      `${table}_pkey`,
    ])
  })

  test('sweep deletes expired records only, in batches', async () => {
    const dead = Array.from({ length: 2300 }, (_, index) => `dead ${index}`)
    await Promise.all(dead.map((id) => store.set(id, sessionOf('alice'), inSeconds(-10))))
    await store.set('alive', sessionOf('alice'), later)
    await store.once('dead', inSeconds(-10))
    await store.once('alive', later)
    await store.lock('alive', 60_000)
    expect([await count(table), await count(`${table}_leases`)]).toEqual([2301, 3])
    const swept = await Promise.all([store.sweep(), store.sweep()])
    expect(swept.reduce((sum, deleted) => sum + deleted, 0)).toBe(2300)
    expect([await count(table), await count(`${table}_leases`)]).toEqual([1, 2])
    expect(await store.sweep()).toBe(0)
    expect((await store.get('alive'))?.user.sub).toBe('alice')
    expect([await store.once('alive', later), await store.lock('alive', 1)]).toEqual([false, null])
  })

  test('a name is remembered for its time, also if the clock of the server is ahead', async () => {
    expect(await onceByLateClock(store)).toEqual([true, false])
  })

  test('expired sessions are neither returned nor counted before they are swept', async () => {
    await store.set('dead', sessionOf('alice', { sid: 'dead' }), inSeconds(-10))
    await store.set('alive', sessionOf('alice'), later)
    expect([await store.get('dead'), await store.update('dead', counted, later)]).toEqual([null, null])
    expect((await store.listBySubject('alice')).map(({ id }) => id)).toEqual(['alive'])
    expect([await store.deleteBySubject('alice'), await count(table)]).toEqual([1, 0])
  })

  test('any subject, sid, id and name is stored unchanged', async () => {
    await expectNoMeeting(store)
  })

  test('a subject is readable in its column unless a character needs an escape', async () => {
    await store.set('id', sessionOf('auth0|Jürgen', { sid: 'sid-1', iss: 'https://idp.example.com/' }), later)
    const { rows } = await pool.query(`select sub, sid, iss from ${table}`)
    expect(rows).toEqual([{ sub: 'auth0|Jürgen', sid: 'sid-1', iss: 'https://idp.example.com/' }])
  })

  test.each(['case', 'Select', 'mixed-Case', 'a'.repeat(48)])(
    'table and schema may have the name %s',
    async (name) => {
      await pool.query(`create schema if not exists "${name}"`)
      const named = postgresStore(pool, { table: name, schema: name })
      await named.migrate()
      await named.set('id', sessionOf('alice'), later)
      await named.once('name', later)
      expect([await count(`${name}"."${name}`), await count(`${name}"."${name}_leases`)]).toEqual([1, 1])
      expect(await named.deleteBySubject('alice')).toBe(1)
    },
  )

  test.each([undefined, null, {}, 'postgres://127.0.0.1', { query: 'select' }])(
    '%j is rejected as a client',
    (client) => {
      const make = postgresStore as (client: unknown) => unknown
      expect(() => make(client)).toThrow(expect.objectContaining({ code: 'INVALID_CONFIGURATION' }))
    },
  )

  test.each(['', 'a'.repeat(49), 'a b', 'a"b', "a'b", 'a;b', 'a.b', 'a$$b', 'a\u0000', 'ä'])(
    '%j is rejected as a table or schema name',
    (name) => {
      for (const options of [{ table: name }, { schema: name }]) {
        expect(() => postgresStore(pool, options)).toThrow(
          expect.objectContaining({ code: 'INVALID_CONFIGURATION' }),
        )
      }
    },
  )

  test('a record that is not a session is ignored, and affects no other session', async () => {
    for (const garbage of ['garbage', '"garbage"', 'null', '[]', '7', '{}', '']) {
      await store.set('good', sessionOf('alice'), later)
      await store.set('bad', sessionOf('alice'), later)
      await pool.query(`update ${table} set session = $1 where id = 'bad'`, [garbage])
      expect([await store.get('bad'), await store.update('bad', counted, later)]).toEqual([null, null])
      expect((await store.listBySubject('alice')).map(({ id }) => id)).toEqual(['good'])
      await store.delete('bad')
      expect(await count(table)).toBe(1)
    }
  })

  test('every method rejects if the database does, and none returns null', async () => {
    const missing = postgresStore(pool, { table: `never_migrated_${tests}` })
    const failing = {
      get: () => missing.get('id'),
      set: () => missing.set('id', sessionOf('alice'), later),
      delete: () => missing.delete('id'),
      update: () => missing.update('id', counted, later),
      lock: () => missing.lock('id', 1000),
      once: () => missing.once('name', later),
      deleteByLogoutToken: () => missing.deleteByLogoutToken({ sub: 'alice' }),
      listBySubject: () => missing.listBySubject('alice'),
      deleteBySubject: () => missing.deleteBySubject('alice'),
      sweep: () => missing.sweep(),
    }
    for (const [name, call] of Object.entries(failing)) {
      await expect(call(), name).rejects.toThrow('does not exist')
    }
  })

  test('a connection that was lost while idle is replaced', async () => {
    const few = new Pool({ connectionString: server.url, max: 1 }).on('error', () => {})
    onTestFinished(() => few.end())
    const own = postgresStore(few, { table })
    await own.set('id', sessionOf('alice'), later)
    const { rows } = await few.query('select pg_backend_pid() as pid')
    const removed = new Promise((resolve) => few.once('remove', resolve))
    await pool.query('select pg_terminate_backend($1)', [rows[0]?.pid])
    await removed
    expect((await own.get('id'))?.user.sub).toBe('alice')
  })
})
