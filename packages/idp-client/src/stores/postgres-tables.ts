import { invalidStore } from './record.ts'

export interface PostgresStoreOptions {
  /**
   * Table of the sessions, up to 48 letters, digits, `_` and `-`. A second table has the suffix `_leases`. Default
   * `idp_client_sessions`.
   */
  table?: string | undefined
  /** Schema of both tables, which must exist; same characters. Default: that of the connection. */
  schema?: string | undefined
}

/** Quoted names for statements. */
export interface Tables {
  readonly sessions: string
  readonly leases: string
  /** Statement that creates missing tables and indexes. */
  readonly definition: string
}

function assertName(name: string): string {
  if (/^[\w-]{1,48}$/.test(name)) return name
  throw invalidStore('table and schema of postgresStore are up to 48 letters, digits, _ and -.')
}

/* Subjects and provider session ids may be too long for a B-tree index; a hash index accepts any length. */
const toDefinition = (table: string, sessions: string, leases: string): string => `do $$ begin
perform pg_advisory_xact_lock(hashtext('idp-client ${table}'));
create table if not exists ${sessions} (id text primary key, session text not null, version uuid not null,
sub text not null, sid text, iss text, expires_at timestamptz not null);
create index if not exists "${table}_sub" on ${sessions} using hash (sub);
create index if not exists "${table}_sid" on ${sessions} using hash (sid);
create index if not exists "${table}_expires_at" on ${sessions} (expires_at);
create table if not exists ${leases} (name text primary key, token uuid not null, expires_at timestamptz not null);
create index if not exists "${table}_leases_expires_at" on ${leases} (expires_at);
end $$`

/** @throws InvalidConfigurationError a name has other characters */
export function toTableNames({ schema, table = 'idp_client_sessions' }: PostgresStoreOptions): Tables {
  const place = schema === undefined ? '' : `"${assertName(schema)}".`
  const [sessions, leases] = [`${place}"${assertName(table)}"`, `${place}"${table}_leases"`]
  return { sessions, leases, definition: toDefinition(table, sessions, leases) }
}
