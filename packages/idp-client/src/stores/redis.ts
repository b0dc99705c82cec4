import type { SessionDataStore, SessionRecord } from '../config/options.ts'
import { systemClock } from '../lib/clock.ts'
import { createEndings, isEndedBy, toRecordOwner } from '../session/ended-by.ts'
import type { SessionData } from '../session/model/session-data.ts'
import { escapeName, parseSession } from './record.ts'
import type { AllRedisCommands, RedisClient, RedisCommand, ReplicaWait } from './redis-commands.ts'
import { NotReplicatedError, redisCommands } from './redis-commands.ts'

export type { User } from '../session/model/session-data.ts'

export type { RedisClient, RedisCommand, ReplicaWait }

export interface RedisStoreOptions {
  /** Prefix of every key; use a different one for each application. Default `idp-client:`. */
  prefix?: string | undefined
  /**
   * Waits after each write until this many replicas have it (`WAIT`), so that a failover to one of them loses nothing.
   * Otherwise the write fails (`NotReplicatedError`): it was made on the primary and may survive. Needs a client of
   * `redis` or `ioredis`. Default: does not wait.
   */
  waitForReplicas?: ReplicaWait | undefined
}

/* Returns the current record instead of replacing it if it has changed since it was read. */
const REPLACE = `local current = redis.call('GET', KEYS[1])
if current ~= ARGV[1] then return current end
redis.call('SET', KEYS[1], ARGV[2], 'EXAT', ARGV[3])
return 1`

/*
 * Writes even if there is nothing to delete: otherwise a repeated deletion would not wait for the replicas. The first command frees
 * memory: Redis runs a script that begins with one also when it is full.
 */
const ERASE = `local current = redis.call('GET', KEYS[1])
redis.call('DEL', KEYS[1])
if not current then
  redis.call('SET', KEYS[1], '')
  redis.call('DEL', KEYS[1])
end
return current`

/* An index drops expired sessions and expires with its last session, so that it needs no cleanup. */
const ADD_TO_INDEX = `redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', redis.call('TIME')[1])
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
if last[2] then redis.call('EXPIREAT', KEYS[1], last[2]) end`

const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end`

/* Logout tokens may arrive in a different order than they were issued. What is remembered for longer stays so. */
const REMEMBER = `local known = tonumber(redis.call('GET', KEYS[1]) or ARGV[1])
local latest = known > tonumber(ARGV[1]) and tostring(known) or ARGV[1]
local seconds = math.max(redis.call('TTL', KEYS[1]), tonumber(ARGV[2]))
redis.call('SET', KEYS[1], latest, 'EX', string.format('%d', seconds))`

type Index = 'sub' | 'sid'

/** Rounds up to a positive integer, as the commands require. */
const whole = (value: number): string => String(Math.max(1, Math.ceil(value)))

type Locks = Required<Pick<SessionDataStore, 'lock' | 'once'>>

function createLocks({ durable, run }: AllRedisCommands, prefix: string): Locks {
  /** Sets a key that has no value yet, and returns how to delete it again, or null if it has one. */
  async function take(key: string, ...expiry: string[]): Promise<(() => Promise<void>) | null> {
    const token = crypto.randomUUID()
    const release = async (): Promise<void> => {
      await run(RELEASE, key, token)
    }
    try {
      return (await durable.send('SET', key, token, 'NX', ...expiry)) === null ? null : release
    } catch (error) {
      // The primary has the key, which nobody would delete.
      if (error instanceof NotReplicatedError) await release().catch(() => {})
      throw error
    }
  }

  return {
    async lock(id, milliseconds) {
      const release = await take(`${prefix}lock:{${escapeName(id)}}`, 'PX', whole(milliseconds))
      return release && { release }
    },

    // For a duration: with a clock that is ahead, Redis would forget the name at once, and what counts once could be repeated.
    once: async (name, { expiresAt }) =>
      (await take(`${prefix}once:${escapeName(name)}`, 'EX', whole(expiresAt - systemClock()))) !== null,
  }
}

interface IndexEntry {
  readonly id: string
  readonly session: SessionData | null
}

function createRecords({ durable, send }: AllRedisCommands, prefix: string) {
  const key = (id: string): string => `${prefix}session:{${escapeName(id)}}`
  const indexKey = (by: Index, name: string): string => `${prefix}${by}:${escapeName(name)}`

  function indexKeys(session: SessionData): string[] {
    const { sid, sub } = toRecordOwner(session)
    return [indexKey('sub', sub), ...(sid === undefined ? [] : [indexKey('sid', sid)])]
  }

  async function removeFromIndexes({ id, session }: SessionRecord): Promise<void> {
    await Promise.all(indexKeys(session).map((index) => send('ZREM', index, id)))
  }

  /** Deletes a session and returns its JSON, or null if there was none. */
  const erase = (id: string): Promise<unknown> => durable.run(ERASE, key(id))

  /** Returns the entries of an index; `session` is null if it has expired or was deleted. */
  async function find(by: Index, name: string): Promise<IndexEntry[]> {
    const ids = ((await send('ZRANGE', indexKey(by, name), '0', '-1')) as unknown[]).map(String)
    const read = async (id: string): Promise<IndexEntry> => ({
      id,
      session: parseSession(await send('GET', key(id))),
    })
    const entries = await Promise.all(ids.map(read))
    return entries.filter(({ session }) => !session || toRecordOwner(session)[by] === name)
  }

  return {
    key,
    removeFromIndexes,
    erase,
    find,

    /** Adds the session to the indexes of its `sub` and `sid`. */
    async addToIndexes(id: string, session: SessionData, expiresAt: number): Promise<void> {
      await Promise.all(
        indexKeys(session).map((index) => durable.run(ADD_TO_INDEX, index, whole(expiresAt), id)),
      )
    },

    /** Deletes the sessions of an index that match, and returns how many there were. */
    async remove(by: Index, name: string, matches: (session: SessionData) => boolean): Promise<number> {
      // Deletes absent sessions again: the replicas may not have confirmed an earlier deletion. Then removes the entry.
      const found = (await find(by, name)).filter(({ session }) => !session || matches(session))
      const end = async ({ id, session }: IndexEntry): Promise<boolean> => {
        const erased = await erase(id)
        await (session ? removeFromIndexes({ id, session }) : send('ZREM', indexKey(by, name), id))
        return session !== null && erased !== null
      }
      return (await Promise.all(found.map(end))).filter(Boolean).length
    },
  }
}

/**
 * Creates a session store in Redis 6.2 or newer, or Valkey, standalone or as a cluster. Sessions expire automatically,
 * `update` and `lock` work across processes. The indexes by `sub` and `sid` are written after the session itself.
 *
 * @throws InvalidConfigurationError `client` is not supported, or `waitForReplicas` is not valid or not possible with it
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): Required<SessionDataStore> {
  const { prefix = 'idp-client:', waitForReplicas } = options
  const commands = redisCommands(client, waitForReplicas)
  const { durable, send } = commands
  const records = createRecords(commands, prefix)
  const endedKey = (name: string): string => `${prefix}ended:${escapeName(name)}`
  const { rememberToken, ...endings } = createEndings({
    async keep(name, iat, seconds) {
      await durable.run(REMEMBER, endedKey(name), String(Math.floor(iat)), whole(seconds))
    },
    async read(name) {
      const stored = await send('GET', endedKey(name))
      return stored === null ? null : Number(stored)
    },
  })

  return {
    ...createLocks(commands, prefix),
    ...endings,

    get: async (id) => parseSession(await send('GET', records.key(id))),

    async set(id, session, { expiresAt }) {
      await durable.send('SET', records.key(id), JSON.stringify(session), 'EXAT', whole(expiresAt))
      await records.addToIndexes(id, session, expiresAt)
    },

    async delete(id) {
      const session = parseSession(await records.erase(id))
      if (session) await records.removeFromIndexes({ id, session })
    },

    async update(id, change, { expiresAt }) {
      let stored = await send('GET', records.key(id))
      for (;;) {
        const current = parseSession(stored)
        if (!current) return null
        const [before, after] = [String(stored), JSON.stringify(change(current))]
        stored = await durable.run(REPLACE, records.key(id), before, after, whole(expiresAt))
        if (String(stored) === '1') {
          const session = JSON.parse(after) as SessionData
          await records.addToIndexes(id, session, expiresAt)
          return session
        }
        // Only bytes that are not valid UTF-8 read the same and still differ: they would never be replaced.
        if (String(stored) === before) throw new Error('a session in Redis is not UTF-8')
      }
    },

    async deleteByLogoutToken(token) {
      const { sid, sub } = token
      const remove = async (): Promise<void> => {
        const [by, name] = sid === undefined ? (['sub', sub] as const) : (['sid', sid] as const)
        if (name !== undefined)
          await records.remove(by, name, (session) => isEndedBy(toRecordOwner(session), token))
      }
      try {
        await rememberToken(token)
      } catch {
        // A full Redis has memory for it after a deletion.
        await remove()
        await rememberToken(token)
      }
      // After it is remembered, so that a login that completes during the deletion is found to have ended.
      await remove()
    },

    async listBySubject(sub) {
      const found = await records.find('sub', sub)
      return found.flatMap(({ id, session }) => (session ? [{ id, session }] : []))
    },

    deleteBySubject: (sub) => records.remove('sub', sub, () => true),
  }
}
