import { readFile } from 'node:fs/promises'
import { Cluster, Redis } from 'ioredis'
import { createClient, createClientPool, createCluster } from 'redis'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { pause } from '../../src/lib/pause.ts'
import { redisStore } from '../../src/stores/redis.ts'
import { storeContract } from '../../src/testing/index.ts'
import { startRedis } from '../support/redis-server.ts'
import { counted, expectNoMeeting, inSeconds, later, onceByLateClock, sessionOf } from './sessions.ts'

const server = await startRedis()
const clusterServer = await startRedis({ cluster: true })
const { url } = server
const rootNodes = [{ url: clusterServer.url }]

const nodeRedis = await createClient({ url }).connect()
const resp2 = await createClient({ url, RESP: 2 }).connect()
const pool = createClientPool({ url })
await pool.connect()
const cluster = await createCluster({ rootNodes }).connect()
const ioRedis = new Redis(url)
const ioCluster = new Cluster([{ host: '127.0.0.1', port: clusterServer.port }])

afterAll(async () => {
  ioRedis.disconnect()
  ioCluster.disconnect()
  cluster.destroy()
  pool.destroy()
  resp2.destroy()
  nodeRedis.destroy()
  await Promise.all([server.stop(), clusterServer.stop()])
})

const stores = {
  'a client of redis': redisStore(nodeRedis),
  'a client of redis with RESP 2': redisStore(resp2),
  'a pool of redis': redisStore(pool),
  'a cluster of redis': redisStore(cluster),
  'a client of ioredis': redisStore(ioRedis),
  'a cluster of ioredis': redisStore(ioCluster),
  'a function': redisStore((command) => nodeRedis.sendCommand(command)),
}

describe.each(Object.entries(stores))('[S016,S017,S018,S019] the store contract with %s', (_name, store) => {
  describe.concurrent('each case', () => {
    test.each(storeContract(store))('$title', ({ run }) => run())
  })
})

let tests = 0
let prefix: string

beforeEach(() => {
  tests += 1
  prefix = `test-${tests}:`
})

const keys = (): Promise<string[]> => ioRedis.keys(`${prefix}*`)

describe('redisStore', () => {
  test('updates, locks and names work across clients of different kinds', async () => {
    const [one, two] = [redisStore(nodeRedis, { prefix }), redisStore(ioRedis, { prefix })]
    await one.set('id', sessionOf('alice'), later)
    const both = Array.from({ length: 50 }, () => [one, two]).flat()
    await Promise.all(both.map((store) => store.update('id', counted, later)))
    expect((await two.get('id'))?.['count']).toBe(100)
    const locks = await Promise.all(both.map((store) => store.lock('id', 60_000)))
    expect(locks.filter((lock) => lock !== null)).toHaveLength(1)
    const names = await Promise.all(both.map((store) => store.once('name', later)))
    expect(names.filter((isNew) => isNew)).toHaveLength(1)
  })

  test('every key expires, and an index with its last session', async () => {
    const store = redisStore(nodeRedis, { prefix })
    await store.set('short', sessionOf('alice', { sid: 's1' }), inSeconds(100))
    await store.set('long', sessionOf('alice', { sid: 's2' }), inSeconds(1000))
    await store.set('short', sessionOf('alice', { sid: 's1' }), inSeconds(200))
    await store.update('short', counted, inSeconds(300))
    await store.once('name', inSeconds(100))
    await store.lock('short', 60_000)
    const names = await keys()
    expect(names.sort()).toEqual(
      ['lock:{short}', 'once:name', 'session:{long}', 'session:{short}', 'sid:s1', 'sid:s2', 'sub:alice'].map(
        (name) => prefix + name,
      ),
    )
    for (const name of names) expect(await ioRedis.ttl(name), name).toBeGreaterThan(0)
    const ends = await ioRedis.expiretime(`${prefix}sub:alice`)
    expect(ends).toBe(await ioRedis.expiretime(`${prefix}session:{long}`))
  })

  test('a name is remembered for its time, also if the clock of the server is ahead', async () => {
    expect(await onceByLateClock(redisStore(nodeRedis, { prefix }))).toEqual([true, false])
    expect(await ioRedis.ttl(`${prefix}once:name`)).toBeLessThanOrEqual(60)
    expect(await redisStore(nodeRedis, { prefix }).once('over', inSeconds(-10))).toBe(true)
  })

  test('ended sessions leave no index', async () => {
    const store = redisStore(nodeRedis, { prefix })
    for (const end of [
      () => store.delete('id'),
      () => store.deleteByLogoutToken({ sid: 'sid' }),
      () => store.deleteByLogoutToken({ sub: 'alice' }),
      () => store.deleteBySubject('alice'),
    ]) {
      await store.set('id', sessionOf('alice', { sid: 'sid' }), later)
      expect(await keys()).toHaveLength(3)
      await end()
      expect(await keys()).toEqual([])
    }
    await store.set('id', sessionOf('alice'), later)
    await store.set('gone', sessionOf('alice'), inSeconds(-10))
    expect(await ioRedis.zrange(`${prefix}sub:alice`, '0', '-1')).toEqual(['id'])
  })

  test('two processes that delete the sessions of a user at once count each only once', async () => {
    const both = [redisStore(nodeRedis, { prefix }), redisStore(ioRedis, { prefix })] as const
    for (const id of ['one', 'two', 'three']) await both[0].set(id, sessionOf('alice'), later)
    const counts = await Promise.all(both.map((store) => store.deleteBySubject('alice')))
    expect(counts.reduce((sum, deleted) => sum + deleted)).toBe(3)
  })

  test('stale entries of an index are skipped, and removed by deletions; missing ones are added by the next write', async () => {
    const store = redisStore(nodeRedis, { prefix })
    for (const id of ['lost', 'kept', 'another']) await store.set(id, sessionOf('alice', { sid: id }), later)
    await store.set('foreign', sessionOf('bob'), later)
    await ioRedis.del(`${prefix}session:{lost}`)
    await ioRedis.zadd(`${prefix}sub:alice`, String(later.expiresAt), 'foreign')
    expect((await store.listBySubject('alice')).map(({ id }) => id).sort()).toEqual(['another', 'kept'])
    await store.deleteByLogoutToken({ sid: 'lost' })
    expect(await ioRedis.exists(`${prefix}sid:lost`)).toBe(0)
    await store.deleteByLogoutToken({ sub: 'alice', iat: 0 })
    expect((await store.listBySubject('alice')).map(({ id }) => id).sort()).toEqual(['another', 'kept'])
    expect(await ioRedis.zscore(`${prefix}sub:alice`, 'lost')).toBeNull()
    expect((await store.get('foreign'))?.user.sub).toBe('bob')

    await ioRedis.del(`${prefix}sub:alice`)
    expect(await store.listBySubject('alice')).toEqual([])
    await store.update('kept', counted, later)
    await store.set('another', sessionOf('alice'), later)
    expect((await store.listBySubject('alice')).map(({ id }) => id).sort()).toEqual(['another', 'kept'])
  })

  test('applications with different prefixes are separate', async () => {
    const [one, two] = [redisStore(ioRedis, { prefix }), redisStore(ioRedis, { prefix: `${prefix}b:` })]
    await one.set('id', sessionOf('alice'), later)
    await two.deleteByLogoutToken({ sub: 'alice' })
    expect([
      await two.get('id'),
      await two.listBySubject('alice'),
      await two.deleteBySubject('alice'),
    ]).toEqual([null, [], 0])
    expect([await one.once('name', later), await two.once('name', later)]).toEqual([true, true])
    expect((await one.get('id'))?.user.sub).toBe('alice')
  })

  test('any subject, sid, id and name is stored unchanged', async () => {
    const store = redisStore(nodeRedis, { prefix })
    await expectNoMeeting(store)
  })

  test('a record that is not a session is ignored, and affects no other session', async () => {
    const store = redisStore(nodeRedis, { prefix })
    for (const garbage of ['garbage', '"garbage"', 'null', '[]', '7', '{}', '{"user":{"sub":"alice"}}', '']) {
      await store.set('good', sessionOf('alice'), later)
      await store.set('bad', sessionOf('alice'), later)
      await ioRedis.set(`${prefix}session:{bad}`, garbage)
      expect([await store.get('bad'), await store.update('bad', counted, later)]).toEqual([null, null])
      expect((await store.listBySubject('alice')).map(({ id }) => id)).toEqual(['good'])
      await store.delete('bad')
      expect(await ioRedis.exists(`${prefix}session:{bad}`)).toBe(0)
    }
  })

  test('a record that is not a string is rejected, not replaced', async () => {
    const store = redisStore(nodeRedis, { prefix })
    await store.set('id', sessionOf('alice'), later)
    const text = JSON.stringify({ ...sessionOf('alice'), broken: 'here' })
    const bytes = Buffer.from(text.replace('here', '\u00ff'), 'latin1')
    await ioRedis.set(`${prefix}session:{id}`, bytes)
    await expect(store.update('id', counted, later)).rejects.toThrow('not UTF-8')
  })

  test('a client that parses what it reads is rejected, with an explanation', async () => {
    const parsing = async (command: string[]): Promise<unknown> => {
      const reply: unknown = await nodeRedis.sendCommand(command)
      return typeof reply === 'string' && reply.startsWith('{') ? JSON.parse(reply) : reply
    }
    const store = redisStore(parsing, { prefix })
    await store.set('id', sessionOf('alice'), later)
    const failure = {
      code: 'SESSION_STORE_FAILED',
      detail: expect.stringContaining('automaticDeserialization'),
    }
    await expect(store.get('id')).rejects.toMatchObject(failure)
    await expect(store.update('id', counted, later)).rejects.toMatchObject(failure)
  })

  test('a logout ends a login that completes before its end is remembered, also if that fails at first', async () => {
    const plain = redisStore(nodeRedis, { prefix })
    let hasFailed = false
    const failing = async (command: string[]): Promise<unknown> => {
      if (!hasFailed && command.some((part) => part.startsWith(`${prefix}ended:`))) {
        hasFailed = true
        throw new Error('the connection was lost')
      }
      const reply = await nodeRedis.sendCommand(command)
      if (command[0] === 'ZRANGE') await plain.set('new', sessionOf('alice', { sid: 'sid' }), later)
      return reply
    }
    const token = { sid: 'sid', iat: inSeconds(0).expiresAt }
    await redisStore(failing, { prefix }).deleteByLogoutToken(token)
    expect([await plain.endedAt({ sid: 'sid' }), await plain.get('new')]).toEqual([token.iat, null])
  })

  test('errors of Redis reject', async () => {
    const store = redisStore(nodeRedis, { prefix })
    await ioRedis.lpush(`${prefix}session:{id}`, 'a list')
    await ioRedis.set(`${prefix}sub:alice`, 'no index')
    await expect(store.get('id')).rejects.toThrow('WRONGTYPE')
    await expect(store.listBySubject('alice')).rejects.toThrow('WRONGTYPE')
    await expect(store.deleteByLogoutToken({ sub: 'alice' })).rejects.toThrow('WRONGTYPE')
  })

  test.each([undefined, null, {}, 'redis://127.0.0.1', 7])('%j is rejected as a client', (client) => {
    const make = redisStore as (client: unknown) => unknown
    expect(() => make(client)).toThrow(expect.objectContaining({ code: 'INVALID_CONFIGURATION' }))
  })
})

describe('the user of Redis in the guide', async () => {
  const guide = await readFile(new URL('../../../../docs/guides/session-stores.md', import.meta.url), 'utf8')
  const [name = '', ...rules] = /ACL SETUSER (.*)/.exec(guide)?.[1]?.split(' ') ?? []
  const client = createClient({ url, username: name, password: 'password' })

  beforeAll(async () => {
    await ioRedis.acl('SETUSER', name, ...rules)
    await client.connect()
  })
  afterAll(() => client.destroy())

  describe.concurrent('may run what the store contract needs', () => {
    test.each(storeContract(redisStore(client, { prefix: 'shop:' })))('$title', ({ run }) => run())
  })

  test('may run the command that follows a redirection', async () => {
    const sent: string[][] = []
    const moved = {
      sendCommand: async (command: string[]) => sent.push(command),
      multi: () => ({
        addCommand: () => {},
        execAsPipeline: async () => {
          if (sent.length === 0) throw new Error('MOVED 7 127.0.0.1:7000')
          return ['OK', 1]
        },
      }),
    }
    await redisStore(moved, { prefix: 'shop:', waitForReplicas: { count: 1 } }).once('name', later)
    for (const command of sent) await client.sendCommand(command)
    expect(sent).toHaveLength(1)
  })
})

/** Repeats a read as long as Redis, which accepts connections earlier, still loads its data. */
async function whenLoaded<T>(read: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await read()
    } catch (error) {
      if (!String(error).includes('LOADING')) throw error
      await pause(20)
    }
  }
}

describe('a Redis that crashes', () => {
  test('loses no stored session, and clients reconnect', async () => {
    const persistent = await startRedis({ persistent: true })
    onTestFinished(() => persistent.stop())
    const one = createClient({ url: persistent.url }).on('error', () => {})
    const two = new Redis(persistent.url).on('error', () => {})
    onTestFinished(() => {
      one.destroy()
      two.disconnect()
    })
    await one.connect()
    for (const store of [redisStore(one, { prefix: 'one:' }), redisStore(two, { prefix: 'two:' })]) {
      const ids = Array.from({ length: 20 }, (_, index) => `id ${index}`)
      await Promise.all(ids.map((id) => store.set(id, sessionOf('alice', { sid: id }), later)))
      await Promise.all(ids.map((id) => store.update(id, counted, later)))
      const lock = await store.lock('id 1', 600_000)
      await persistent.crash()
      const asked = Promise.all(ids.map((id) => whenLoaded(() => store.get(id))))
      await persistent.restart()
      expect((await asked).map((session) => session?.['count'])).toEqual(ids.map(() => 1))
      expect(await store.listBySubject('alice')).toHaveLength(20)
      expect(await store.lock('id 1', 600_000)).toBeNull()
      await lock?.release()
      expect(await store.lock('id 1', 600_000)).not.toBeNull()
      await store.deleteByLogoutToken({ sid: 'id 7' })
      expect([await store.get('id 7'), await store.deleteBySubject('alice')]).toEqual([null, 19])
    }
  })

  test('makes every method reject while it is down, and none return null', async () => {
    const mortal = await startRedis()
    onTestFinished(() => mortal.stop())
    const client = new Redis(mortal.url, {
      enableOfflineQueue: false,
      retryStrategy: () => null,
      lazyConnect: true,
    })
    client.on('error', () => {})
    await client.connect()
    const store = redisStore(client)
    await store.set('id', sessionOf('alice'), later)
    await mortal.crash()
    const failing = {
      get: () => store.get('id'),
      set: () => store.set('id', sessionOf('alice'), later),
      delete: () => store.delete('id'),
      update: () => store.update('id', counted, later),
      lock: () => store.lock('id', 1000),
      once: () => store.once('name', later),
      deleteByLogoutToken: () => store.deleteByLogoutToken({ sub: 'alice' }),
      listBySubject: () => store.listBySubject('alice'),
      deleteBySubject: () => store.deleteBySubject('alice'),
    }
    for (const [name, call] of Object.entries(failing)) await expect(call(), name).rejects.toThrow()
  })
})

describe('a Redis that is full', () => {
  test('ends sessions, which frees its memory, but stores none', async () => {
    const full = await startRedis({ settings: { 'maxmemory-policy': 'noeviction' } })
    onTestFinished(() => full.stop())
    const client = await createClient({ url: full.url }).connect()
    onTestFinished(() => client.destroy())
    const store = redisStore(client)
    for (const id of ['one', 'two', 'three']) await store.set(id, sessionOf('alice', { sid: id }), later)
    await client.configSet('maxmemory', '1')
    await expect(store.set('four', sessionOf('alice'), later)).rejects.toThrow('OOM')
    await store.delete('one')
    await store.delete('one')
    // The end itself cannot be remembered.
    const token = { iss: 'https://idp.example', sid: 'two', iat: inSeconds(0).expiresAt }
    await expect(store.deleteByLogoutToken(token)).rejects.toThrow('OOM')
    expect(await store.listBySubject('alice')).toMatchObject([{ id: 'three' }])
    expect(await store.deleteBySubject('alice')).toBe(1)
    expect(await client.dbSize()).toBe(0)
  })
})
