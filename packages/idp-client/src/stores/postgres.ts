import type { LogoutToken, SessionDataStore } from '../config/options.ts'
import { InvalidConfigurationError } from '../errors/configuration.ts'
import type { SessionData } from '../session/model/session-data.ts'
import type { PostgresStoreOptions } from './postgres-tables.ts'
import { toTableNames } from './postgres-tables.ts'
import { endedName, isMeant, plain, REMEMBERED_SECONDS, sessionIn, toOwner } from './record.ts'

export type { User } from '../session/model/session-data.ts'

export type { PostgresStoreOptions }

type Row = Readonly<Record<string, unknown>>

/** A pool of `pg`, or anything else that runs one statement with parameters `$1`, `$2`, several at once. */
export interface PostgresClient {
  query(text: string, values: unknown[]): Promise<{ readonly rows: readonly Row[] }>
}

export interface PostgresStore extends Required<SessionDataStore> {
  /** Creates tables and indexes where they are missing. Any number of processes may call it, also at once. */
  migrate(): Promise<void>
  /** Deletes what is over, in batches; gives how many sessions. Nothing calls it by itself. */
  sweep(): Promise<number>
}

type Query = (text: string, ...values: unknown[]) => Promise<readonly Row[]>

const SERIALIZATION_FAILURE = '40001'
const BATCH = 1000

const getCode = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined

function checked(client: PostgresClient): PostgresClient {
  if (typeof client?.query === 'function') return client
  const detail = 'postgresStore needs a pool of pg, or an object with a function query(text, values).'
  throw new InvalidConfigurationError('INVALID_CONFIGURATION', { detail })
}

/* Every statement stands alone: where the database isolates strictly, one that met another is simply run again. */
const queryWith =
  (client: PostgresClient): Query =>
  async (text, ...values) => {
    for (;;) {
      try {
        return (await client.query(text, values)).rows
      } catch (error) {
        if (getCode(error) !== SERIALIZATION_FAILURE) throw error
      }
    }
  }

/* The clock of the database decides, which all processes share. */
const LIVE = 'expires_at > clock_timestamp()'
const NAME = `encode(sha256(convert_to($1, 'UTF8')), 'hex')`

type Leases = Required<Pick<SessionDataStore, 'lock' | 'once'>>

function createLeases(query: Query, table: string): Leases {
  /** Takes a name that nobody has, or whose time is over; `until` is an expression of `$3`. */
  async function take(name: string, token: string, [until, value]: [string, number]): Promise<boolean> {
    const taken = await query(
      `insert into ${table} as lease (name, token, expires_at) values (${NAME}, $2, ${until})
on conflict (name) do update set token = excluded.token, expires_at = excluded.expires_at
where not lease.${LIVE} returning name`,
      name,
      token,
      value,
    )
    return taken.length > 0
  }

  return {
    async lock(id, milliseconds) {
      const [name, token] = [`lock ${plain(id)}`, crypto.randomUUID()]
      const until = `clock_timestamp() + $3::float8 * interval '1 millisecond'`
      if (!(await take(name, token, [until, milliseconds]))) return null
      return {
        async release() {
          await query(`delete from ${table} where name = ${NAME} and token = $2`, name, token)
        },
      }
    },

    once: (name, { expiresAt }) =>
      take(`once ${plain(name)}`, crypto.randomUUID(), ['to_timestamp($3::float8)', expiresAt]),
  }
}

/** Each with its place among the values. */
const COLUMNS = {
  id: '$1',
  session: '$2',
  version: '$3',
  sub: '$4',
  sid: '$5',
  iss: '$6',
  expires_at: 'to_timestamp($7::float8)',
}

const NAMES = Object.keys(COLUMNS)
const INSERTED = NAMES.map((name) => `${name} = excluded.${name}`).join(', ')
const UPDATED = Object.entries(COLUMNS)
  .map(([name, value]) => `${name} = ${value}`)
  .join(', ')

function toValues(id: string, session: SessionData, expiresAt: number): unknown[] {
  const { iss, sid, sub } = toOwner(session)
  const [safeSid, safeIss] = [sid, iss].map((name) => (name === undefined ? null : plain(name)))
  return [id, JSON.stringify(session), crypto.randomUUID(), plain(sub), safeSid, safeIss, expiresAt]
}

type Records = Required<Pick<SessionDataStore, 'get' | 'set' | 'delete' | 'update'>>

function createRecords(query: Query, table: string): Records {
  return {
    async get(id) {
      const [row] = await query(`select session from ${table} where id = $1 and ${LIVE}`, id)
      return row ? sessionIn(row['session']) : null
    },

    async set(id, session, { expiresAt }) {
      await query(
        `insert into ${table} (${NAMES.join(', ')}) values (${Object.values(COLUMNS).join(', ')})
on conflict (id) do update set ${INSERTED}`,
        ...toValues(id, session, expiresAt),
      )
    },

    async delete(id) {
      await query(`delete from ${table} where id = $1`, id)
    },

    async update(id, change, { expiresAt }) {
      for (;;) {
        const [row] = await query(
          `select session, version::text as version from ${table} where id = $1 and ${LIVE}`,
          id,
        )
        const current = row ? sessionIn(row['session']) : null
        if (!row || !current) return null
        const [written] = await query(
          `update ${table} set ${UPDATED} where id = $1 and version = $8 returning session`,
          ...toValues(id, change(current), expiresAt),
          row['version'],
        )
        // Nothing is written if another writer was quicker: then the change is applied again, to the current record.
        if (written) return sessionIn(written['session'])
      }
    },
  }
}

type Subjects = Required<
  Pick<SessionDataStore, 'deleteByLogoutToken' | 'endedAt' | 'listBySubject' | 'deleteBySubject'>
>

/* A time takes the place of the token: the table is as it was when leases had nothing else to hold. */
const TIME_AS_UUID = `lpad(to_hex($2::bigint), 32, '0')::uuid`
const UUID_AS_TIME = `('x' || right(replace(token::text, '-', ''), 16))::bit(64)::bigint::text`

function createEndings(query: Query, leases: string) {
  const nameOf = (sid: string, iss: string | undefined): string => `ended ${plain(endedName(sid, iss))}`
  return {
    async remember(sid: string, iss: string | undefined, iat: number): Promise<void> {
      await query(
        `insert into ${leases} as ended (name, token, expires_at)
values (${NAME}, ${TIME_AS_UUID}, clock_timestamp() + interval '${REMEMBERED_SECONDS} seconds')
on conflict (name) do update set token = greatest(ended.token, excluded.token), expires_at = excluded.expires_at`,
        nameOf(sid, iss),
        Math.floor(iat),
      )
    },

    async endedAt(sid: string, iss?: string): Promise<number | null> {
      const found = `select ${UUID_AS_TIME} as iat from ${leases} where name = ${NAME} and ${LIVE}`
      const [row] = await query(found, nameOf(sid, iss))
      return row ? Number(row['iat']) : null
    },
  }
}

function createSubjects(query: Query, table: string, leases: string): Subjects {
  const { endedAt, remember } = createEndings(query, leases)

  /** Of all that a user has, those that began before the token: only their records tell when. */
  async function deleteOlder(sub: string, token: LogoutToken): Promise<void> {
    const rows = await query(`select id, session from ${table} where sub = $1`, plain(sub))
    for (const row of rows) {
      const session = sessionIn(row['session'])
      if (session && !isMeant(toOwner(session), token)) continue
      await query(`delete from ${table} where id = $1`, row['id'])
    }
  }

  return {
    endedAt,

    async deleteByLogoutToken(token) {
      const { iat, iss, sid, sub } = token
      if (sid !== undefined && iat !== undefined) await remember(sid, iss, iat)
      if (sid === undefined && sub !== undefined && iat !== undefined) return deleteOlder(sub, token)
      const [column, name] = sid === undefined ? ['sub', sub] : ['sid', sid]
      if (name === undefined) return
      await query(
        `delete from ${table} where ${column} = $1 and (iss is null or $2::text is null or iss = $2)`,
        plain(name),
        iss === undefined ? null : plain(iss),
      )
    },

    async listBySubject(sub) {
      const rows = await query(`select id, session from ${table} where sub = $1 and ${LIVE}`, plain(sub))
      return rows.flatMap((row) => {
        const session = sessionIn(row['session'])
        return session ? [{ id: String(row['id']), session }] : []
      })
    },

    async deleteBySubject(sub) {
      const deleted = `delete from ${table} where sub = $1 returning (${LIVE})::text as live`
      return (await query(deleted, plain(sub))).filter(({ live }) => live === 'true').length
    },
  }
}

async function sweep(query: Query, table: string): Promise<number> {
  let total = 0
  for (;;) {
    const [row] = await query(
      `with gone as (delete from ${table} where ctid = any (array(select ctid from ${table}
where expires_at <= now() limit ${BATCH} for update skip locked)) returning 1)
select count(*) as count from gone`,
    )
    const count = Number(row?.['count'])
    total += count
    if (!(count >= BATCH)) return total
  }
}

/**
 * Sessions in two tables of PostgreSQL 13 or newer, in a database with the encoding UTF8; `migrate` creates them. No
 * transaction is held open and nothing is kept in a connection, so that every pool will do, also one in front of the
 * database. `update` and `lock` hold across processes.
 *
 * @throws InvalidConfigurationError `client` has no `query`, or `table` or `schema` other characters than those named
 */
export function postgresStore(client: PostgresClient, options: PostgresStoreOptions = {}): PostgresStore {
  const { definition, leases, sessions } = toTableNames(options)
  const query = queryWith(checked(client))
  return {
    ...createRecords(query, sessions),
    ...createSubjects(query, sessions, leases),
    ...createLeases(query, leases),

    async migrate() {
      await query(definition)
    },

    async sweep() {
      await sweep(query, leases)
      return sweep(query, sessions)
    },
  }
}
