import { Redis } from 'ioredis'
import { createClient, createClientPool } from 'redis'
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { guarded } from '../../src/session/store/complete-store.ts'
import { redisStore } from '../../src/stores/redis.ts'
import { storeContract } from '../../src/testing/index.ts'
import { startRedis } from '../support/redis-server.ts'
import { counted, later, sessionOf } from './sessions.ts'

let tests = 0
let prefix: string

beforeEach(() => {
  tests += 1
  prefix = `test-${tests}:`
})

describe('[Q5] waitForReplicas', async () => {
  const primary = await startRedis()
  const settings = { replicaof: `127.0.0.1 ${primary.port}`, 'repl-diskless-sync-delay': '0' }
  const replica = await startRedis({ settings })
  const client = await createClient({ url: primary.url }).connect()
  const several = createClientPool({ url: primary.url })
  await several.connect()
  const clients = {
    'a client of redis': client,
    'a pool of redis': several,
    'a client of ioredis': new Redis(primary.url),
  }
  const waitForReplicas = { count: 1, timeout: 20_000 }
  const replicaClient = await createClient({ url: replica.url }).connect()
  // Later connections have written nothing, so that WAIT alone would prove nothing to them.
  await client.set('first', 'write')
  expect(await client.sendCommand(['WAIT', '1', '20000'])).toBe(1)

  afterAll(async () => {
    clients['a client of ioredis'].disconnect()
    for (const one of [client, several, replicaClient]) one.destroy()
    await Promise.all([replica.stop(), primary.stop()])
  })

  const found = async (id: string, store = redisStore(replicaClient)): Promise<unknown> =>
    (await store.get(id))?.user.sub

  describe.each(Object.entries(clients))('with %s', (name, one) => {
    const store = redisStore(one, { waitForReplicas })
    describe.concurrent('the store contract', () => {
      test.each(storeContract(store))('$title', ({ run }) => run())
    })

    test('a write that succeeds is on a replica', async () => {
      for (let index = 0; index < 50; index++) {
        await store.set(`${name} ${index}`, sessionOf('alice'), later)
        expect(await found(`${name} ${index}`)).toBe('alice')
        await store.delete(`${name} ${index}`)
        expect(await found(`${name} ${index}`)).toBeUndefined()
      }
    })
  })

  test('a write that no replica has fails, and is lost with its primary', async () => {
    const store = redisStore(client, { waitForReplicas: { count: 1, timeout: 50 } })
    await store.set('kept', sessionOf('alice'), later)
    await store.set('ended', sessionOf('alice'), later)
    // The replica goes its own way, as after a failover that this primary does not know of.
    await replicaClient.sendCommand(['REPLICAOF', 'NO', 'ONE'])
    onTestFinished(async () => {
      await replicaClient.sendCommand(['REPLICAOF', '127.0.0.1', String(primary.port)])
    })
    const writes: Record<string, () => Promise<unknown>> = {
      set: () => store.set('lost', sessionOf('alice'), later),
      update: () => store.update('kept', counted, later),
      delete: () => store.delete('ended'),
      'delete again': () => store.delete('ended'),
      lock: () => store.lock('kept', 600_000),
      once: () => store.once('name', later),
      deleteByLogoutToken: () => store.deleteByLogoutToken({ sub: 'alice', iat: later.expiresAt }),
    }
    for (const [operation, write] of Object.entries(writes)) {
      await expect(guarded('set', write)(), operation).rejects.toMatchObject({
        code: 'SESSION_STORE_FAILED',
        reason: 'NotReplicatedError',
      })
    }
    await redisStore(client).set('lost too', sessionOf('alice'), later)
    expect([await found('lost'), await found('lost too'), await found('ended')]).toEqual([
      undefined,
      undefined,
      'alice',
    ])
    // A lock and a name that were not confirmed are free again: otherwise a logout token would count as replayed.
    expect(await redisStore(client).lock('kept', 1000)).not.toBeNull()
    expect(await redisStore(client).once('name', later)).toBe(true)
  })

  test('a write that fewer replicas have than it has to wait for fails', async () => {
    // The replica may still catch up after another test.
    await redisStore(client, { prefix, waitForReplicas }).set('id', sessionOf('alice'), later)
    const store = redisStore(client, { prefix, waitForReplicas: { count: 2, timeout: 50 } })
    await expect(store.set('id', sessionOf('alice'), later)).rejects.toThrow('of 2 replicas')
  })

  test('a deletion that no replica has confirmed fails again when it is repeated, until a replica has it', async () => {
    const store = redisStore(client, { prefix, waitForReplicas })
    const impatient = redisStore(client, { prefix, waitForReplicas: { count: 1, timeout: 50 } })
    for (const id of ['by sid', 'by sub']) await store.set(id, sessionOf(id, { sid: id }), later)
    await replicaClient.sendCommand(['REPLICAOF', 'NO', 'ONE'])
    const follow = async () => {
      await replicaClient.sendCommand(['REPLICAOF', '127.0.0.1', String(primary.port)])
    }
    onTestFinished(follow)
    for (const attempt of ['first', 'second', 'third']) {
      for (const deletion of [
        () => impatient.deleteByLogoutToken({ sid: 'by sid' }),
        () => impatient.deleteBySubject('by sub'),
      ])
        await expect(deletion(), attempt).rejects.toThrow('0 of 1 replicas')
      expect(await impatient.listBySubject('by sub')).toEqual([])
    }
    await follow()
    await store.deleteByLogoutToken({ sid: 'by sid' })
    expect(await store.deleteBySubject('by sub')).toBe(0)
    expect(await replicaClient.exists(['by sid', 'by sub'].map((id) => `${prefix}session:{${id}}`))).toBe(0)
    expect(await client.exists([`${prefix}sid:by sid`, `${prefix}sub:by sub`])).toBe(0)
  })

  test('a deletion that another process repeats fails, too, while the replica has not confirmed the first', async () => {
    const own = new Redis(primary.url)
    onTestFinished(() => own.disconnect())
    await own.ping()
    const impatient = { prefix, waitForReplicas: { count: 1, timeout: 50 } }
    await redisStore(client, { prefix, waitForReplicas }).set('id', sessionOf('alice'), later)
    const pid = Number(/process_id:(\d+)/.exec(await replicaClient.info('server'))?.[1])
    process.kill(pid, 'SIGSTOP')
    try {
      await expect(redisStore(client, impatient).delete('id')).rejects.toThrow('0 of 1 replicas')
      await expect(redisStore(own, impatient).delete('id')).rejects.toThrow('0 of 1 replicas')
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await redisStore(own, { prefix, waitForReplicas }).delete('id')
    expect(await found('id', redisStore(replicaClient, { prefix }))).toBeUndefined()
  })

  test('every write to a record waits, not only that to its indexes, which may be on another node', async () => {
    const alone = new Set<string | undefined>()
    const queued: string[][] = []
    const watched = {
      sendCommand: (command: string[]) => {
        alone.add(command[0])
        return client.sendCommand(command)
      },
      multi: () => ({
        addCommand: (command: string[]) => queued.push(command),
        execAsPipeline: () => Promise.all(queued.splice(0).map((command) => client.sendCommand(command))),
      }),
    }
    const store = redisStore(watched, { prefix, waitForReplicas })
    await store.set('id', sessionOf('alice', { sid: 'sid' }), later)
    await store.update('id', counted, later)
    await store.deleteByLogoutToken({ sid: 'sid', iat: 0 })
    await store.delete('id')
    await store.lock('id', 1000)
    await store.once('name', later)
    expect([...alone].sort()).toEqual(['GET', 'ZRANGE', 'ZREM'])
  })

  test('a sentinel of redis sends all commands to the primary, those of a pipeline too', async () => {
    const sent: unknown[][] = []
    const sentinel = {
      getMasterNode: () => undefined,
      sendCommand: async (...command: unknown[]) => void sent.push(command),
      multi: () => ({
        addCommand: (...command: unknown[]) => sent.push(command),
        execAsPipeline: async () => ['OK', 1],
      }),
    }
    expect(await redisStore(sentinel, { prefix: '', waitForReplicas }).once('a', later)).toBe(true)
    expect(await redisStore(sentinel, { prefix: '' }).get('a')).toBeNull()
    expect(sent).toEqual([
      [false, ['SET', 'once:a', expect.any(String), 'NX', 'EX', expect.stringMatching(/^3\d{3}$/)]],
      [false, ['WAIT', '1', '20000']],
      [false, ['GET', 'session:{a}']],
    ])
  })

  test('a redirected write is sent again to the node that a single command has found', async () => {
    const sent: unknown[][] = []
    const queued: unknown[][] = []
    const moved = {
      masters: [],
      sendCommand: async (...command: unknown[]) => sent.push(command),
      multi: () => ({
        addCommand: (...command: unknown[]) => queued.push(command),
        execAsPipeline: async () => {
          sent.push(queued.splice(0))
          if (sent.length === 1) throw new Error('MOVED 7 127.0.0.1:7000')
          return ['OK', 2]
        },
      }),
    }
    expect(await redisStore(moved, { prefix: '', waitForReplicas: { count: 2 } }).once('a', later)).toBe(true)
    const key = 'once:a'
    const pipeline = [
      [key, false, ['SET', key, expect.any(String), 'NX', 'EX', expect.stringMatching(/^3\d{3}$/)]],
      [key, false, ['WAIT', '2', '500']],
    ]
    expect(sent).toEqual([pipeline, [key, false, ['TTL', key]], pipeline])
  })

  test('a failure of a command in a pipeline of ioredis is thrown, and no redirection is followed for it', async () => {
    const commands: unknown[] = []
    const replies = (...given: unknown[]) => ({
      call: async (...command: unknown[]) => commands.push(command),
      pipeline: () => ({ exec: async () => given }),
    })
    const take = (client: object) =>
      redisStore(client as never, { prefix: '', waitForReplicas: { count: 1 } }).once('a', later)
    await expect(take(replies([new Error('OOM command not allowed'), null], [null, 1]))).rejects.toThrow(
      'OOM',
    )
    // Both replies are missing where the connection was closed.
    await expect(take({ ...replies(), pipeline: () => ({ exec: async () => null }) })).rejects.toThrow()
    expect(commands.filter((command) => String(command).includes('TTL'))).toEqual([])
  })

  test.each([
    ['a function', () => redisStore(async () => null, { waitForReplicas })],
    ['a count of 0', () => redisStore(client, { waitForReplicas: { count: 0 } })],
    ['no count', () => redisStore(client, { waitForReplicas: {} as never })],
    ['a timeout of 0', () => redisStore(client, { waitForReplicas: { count: 1, timeout: 0 } })],
    ['half a millisecond', () => redisStore(client, { waitForReplicas: { count: 1, timeout: 0.5 } })],
  ])('%s is rejected', (_name, create) => {
    expect(create).toThrow(expect.objectContaining({ code: 'INVALID_CONFIGURATION' }))
  })
})
