import type { LogoutToken, SessionDataStore } from '../config/options.ts'
import { invalidAtStart } from '../errors/configuration.ts'
import { systemClock } from '../lib/clock.ts'
import { createEndings, isEndedBy, toRecordOwner } from '../session/ended-by.ts'
import type { SessionData } from '../session/model/session-data.ts'
import { escapeName, parseSession } from './record.ts'

export type { User } from '../session/model/session-data.ts'

/** A pool of `pg`, or any object that runs one statement with parameters `$1`, `$2`; calls may be concurrent. */
export interface PostgresClient {
  query(
    text: string,
    values: unknown[],
  ): Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[] }>
}

export interface PostgresStoreOptions {
  /**
   * Table of the sessions, up to 48 letters, digits, `_` and `-`. A second table has the suffix `_leases`. Default
   * `idp_client_sessions`.
   */
  table?: string | undefined
  /** Schema of both tables, which must exist; same characters. Default: that of the connection. */
  schema?: string | undefined
}

export interface PostgresStore extends Required<SessionDataStore> {
  /** Creates missing tables and indexes. Several processes may call it concurrently. */
  migrate(): Promise<void>
  /** Deletes expired records in batches and returns the number of sessions. Never called automatically. */
  sweep(): Promise<number>
}

type Query = (
  text: string,
  ...values: unknown[]
) => Promise<Awaited<ReturnType<PostgresClient['query']>>['rows']>

const SERIALIZATION_FAILURE = '40001'
const BATCH = 1000

const getCode = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined

/* Every statement is independent: after a serialization failure it is simply run again. */
function queryWith(client: PostgresClient): Query {
  if (typeof client?.query !== 'function')
    throw invalidAtStart(
      'postgresStore needs a pool of pg, or an object with a function query(text, values).',
    )
  return async (text, ...values) => {
    for (;;) {
      try {
        return (await client.query(text, values)).rows
      } catch (error) {
        if (getCode(error) !== SERIALIZATION_FAILURE) throw error
      }
    }
  }
}

/* The clock of the database decides, because all processes share it. */
const LIVE = 'expires_at > clock_timestamp()'
/* A hash, because a name may be too long for an index. */
const HASHED_NAME = `encode(sha256(convert_to($1, 'UTF8')), 'hex')`

function createLocks(query: Query, table: string): Pick<PostgresStore, 'lock' | 'once'> {
  /** Acquires a name that is free or expired, for a duration. */
  async function take(name: string, token: string, milliseconds: number): Promise<boolean> {
    const rows = await query(
      `insert into ${table} as held (name, token, expires_at)
values (${HASHED_NAME}, $2, clock_timestamp() + $3::float8 * interval '1 millisecond')
on conflict (name) do update set token = excluded.token, expires_at = excluded.expires_at
where not held.${LIVE} returning name`,
      name,
      token,
      milliseconds,
    )
    return rows.length > 0
  }

  return {
    async lock(id, milliseconds) {
      const [name, token] = [`lock ${escapeName(id)}`, crypto.randomUUID()]
      if (!(await take(name, token, milliseconds))) return null
      return {
        async release() {
          await query(`delete from ${table} where name = ${HASHED_NAME} and token = $2`, name, token)
        },
      }
    },

    // With a clock that is ahead, the database would forget a name at once, and what counts once could be repeated.
    once: (name, { expiresAt }) =>
      take(`once ${escapeName(name)}`, crypto.randomUUID(), (expiresAt - systemClock()) * 1000),
  }
}

/** Columns with their place among the values. */
const COLUMNS = {
  id: '$1',
  session: '$2',
  version: '$3',
  sub: '$4',
  sid: '$5',
  iss: '$6',
  expires_at: 'to_timestamp($7::float8)',
}

const COLUMN_NAMES = Object.keys(COLUMNS)
const REPLACED_COLUMNS = COLUMN_NAMES.map((name) => `${name} = excluded.${name}`).join(', ')
const UPDATED_COLUMNS = Object.entries(COLUMNS)
  .map(([name, value]) => `${name} = ${value}`)
  .join(', ')

function toValues(id: string, session: SessionData, expiresAt: number): unknown[] {
  const { iss, sid, sub } = toRecordOwner(session)
  const [safeSid, safeIss] = [sid, iss].map((name) => (name === undefined ? null : escapeName(name)))
  return [id, JSON.stringify(session), crypto.randomUUID(), escapeName(sub), safeSid, safeIss, expiresAt]
}

type Records = Pick<PostgresStore, 'get' | 'set' | 'delete' | 'update'>

function createRecords(query: Query, table: string): Records {
  return {
    async get(id) {
      const [row] = await query(`select session from ${table} where id = $1 and ${LIVE}`, id)
      return row ? parseSession(row['session']) : null
    },

    async set(id, session, { expiresAt }) {
      await query(
        `insert into ${table} (${COLUMN_NAMES.join(', ')}) values (${Object.values(COLUMNS).join(', ')})
on conflict (id) do update set ${REPLACED_COLUMNS}`,
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
        const current = row ? parseSession(row['session']) : null
        if (!row || !current) return null
        const [written] = await query(
          `update ${table} set ${UPDATED_COLUMNS} where id = $1 and version = $8 returning session`,
          ...toValues(id, change(current), expiresAt),
          row['version'],
        )
        // Nothing is written if another process was faster: then the change is applied again to the current record.
        if (written) return parseSession(written['session'])
      }
    },
  }
}

type Subjects = Pick<
  PostgresStore,
  'deleteByLogoutToken' | 'endedAt' | 'rememberEnd' | 'listBySubject' | 'deleteBySubject'
>

/* The time is stored in the column of the token, so that the table needs no further column. */
const TIME_AS_UUID = `lpad(to_hex($2::bigint), 32, '0')::uuid`
const UUID_AS_TIME = `('x' || right(replace(token::text, '-', ''), 16))::bit(64)::bigint::text`

function createEndedTimes(query: Query, nameTable: string) {
  const toKey = (name: string): string => `ended ${escapeName(name)}`
  return createEndings({
    async keep(name, iat, seconds) {
      await query(
        `insert into ${nameTable} as ended (name, token, expires_at)
values (${HASHED_NAME}, ${TIME_AS_UUID}, clock_timestamp() + $3::float8 * interval '1 second')
on conflict (name) do update set token = greatest(ended.token, excluded.token),
expires_at = greatest(ended.expires_at, excluded.expires_at)`,
        toKey(name),
        Math.floor(iat),
        seconds,
      )
    },

    async read(name) {
      const found = `select ${UUID_AS_TIME} as iat from ${nameTable} where name = ${HASHED_NAME} and ${LIVE}`
      const [row] = await query(found, toKey(name))
      return row ? Number(row['iat']) : null
    },
  })
}

function createSubjects(query: Query, table: string, nameTable: string): Subjects {
  const { rememberToken, ...endings } = createEndedTimes(query, nameTable)

  /** Deletes the user's sessions that a token without `sid` ends: when they began is only in the records. */
  async function deleteByUser(sub: string, token: LogoutToken): Promise<void> {
    const rows = await query(`select id, session from ${table} where sub = $1`, escapeName(sub))
    for (const row of rows) {
      const session = parseSession(row['session'])
      if (session && !isEndedBy(toRecordOwner(session), token)) continue
      await query(`delete from ${table} where id = $1`, row['id'])
    }
  }

  return {
    ...endings,

    async deleteByLogoutToken(token) {
      const { iss, sid, sub } = token
      await rememberToken(token)
      if (sid !== undefined)
        await query(
          `delete from ${table} where sid = $1 and (iss is null or $2::text is null or iss = $2)`,
          escapeName(sid),
          iss === undefined ? null : escapeName(iss),
        )
      else if (sub !== undefined) await deleteByUser(sub, token)
    },

    async listBySubject(sub) {
      const rows = await query(`select id, session from ${table} where sub = $1 and ${LIVE}`, escapeName(sub))
      return rows.flatMap((row) => {
        const session = parseSession(row['session'])
        return session ? [{ id: String(row['id']), session }] : []
      })
    },

    async deleteBySubject(sub) {
      const deleted = `delete from ${table} where sub = $1 returning (${LIVE})::text as live`
      return (await query(deleted, escapeName(sub))).filter(({ live }) => live === 'true').length
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

function assertName(name: string): string {
  if (/^[\w-]{1,48}$/.test(name)) return name
  throw invalidAtStart('table and schema of postgresStore are up to 48 letters, digits, _ and -.')
}

/* Subjects and provider session ids may be too long for a B-tree index; a hash index accepts any length. */
const toDefinition = (table: string, sessions: string, nameTable: string): string => `do $$ begin
perform pg_advisory_xact_lock(hashtext('idp-client ${table}'));
create table if not exists ${sessions} (id text primary key, session text not null, version uuid not null,
sub text not null, sid text, iss text, expires_at timestamptz not null);
create index if not exists "${table}_sub" on ${sessions} using hash (sub);
create index if not exists "${table}_sid" on ${sessions} using hash (sid);
create index if not exists "${table}_expires_at" on ${sessions} (expires_at);
create table if not exists ${nameTable} (name text primary key, token uuid not null, expires_at timestamptz not null);
create index if not exists "${table}_leases_expires_at" on ${nameTable} (expires_at);
end $$`

/**
 * Returns quoted names for statements, and the statement that creates missing tables and indexes.
 *
 * @throws InvalidConfigurationError a name has other characters
 */
function toTableNames({ schema, table = 'idp_client_sessions' }: PostgresStoreOptions) {
  const place = schema === undefined ? '' : `"${assertName(schema)}".`
  const [sessions, nameTable] = [`${place}"${assertName(table)}"`, `${place}"${table}_leases"`]
  return { sessions, nameTable, definition: toDefinition(table, sessions, nameTable) }
}

/**
 * Creates a session store in two tables of PostgreSQL 13 or newer, in a database with the encoding UTF8; `migrate`
 * creates them. It holds no transaction open and no state in a connection, so that it works with every pool, including
 * external ones such as PgBouncer. `update` and `lock` work across processes.
 *
 * @throws InvalidConfigurationError `client` has no `query`, or `table` or `schema` has other characters than allowed
 */
export function postgresStore(client: PostgresClient, options: PostgresStoreOptions = {}): PostgresStore {
  const { definition, nameTable, sessions } = toTableNames(options)
  const query = queryWith(client)
  return {
    ...createRecords(query, sessions),
    ...createSubjects(query, sessions, nameTable),
    ...createLocks(query, nameTable),

    async migrate() {
      await query(definition)
    },

    async sweep() {
      await sweep(query, nameTable)
      return sweep(query, sessions)
    },
  }
}
