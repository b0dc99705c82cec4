import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { onFreePort, onPath, startService } from './service.ts'

/** A PostgreSQL of its own, on loopback, with an empty database `postgres` in UTF-8. */
export interface PostgresServer {
  readonly port: number
  /** For every client of PostgreSQL. */
  readonly url: string
  /** Ends it without a checkpoint, in the middle of whatever it does. */
  crash(): Promise<void>
  /** Makes a standby the primary. */
  promote(): Promise<void>
  /** Ends it and removes its data; callers close their connections before. */
  stop(): Promise<void>
}

export interface PostgresOptions {
  /** Further settings of the server. Default: fast, and not safe from a crash. */
  readonly settings?: Readonly<Record<string, string>>
  /** The primary whose standby it becomes. */
  readonly standbyOf?: PostgresServer
}

const run = promisify(execFile)

/** Debian keeps the programs of each version in a folder of their own, outside the path. */
function programs(): string {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).sort((one, other) => Number(other) - Number(one)) : []
  const folders = versions.map((version) => join(root, version, 'bin'))
  const folder = folders.find((candidate) => existsSync(join(candidate, 'initdb')))
  const elsewhere = onPath('initdb')
  if (folder === undefined && elsewhere === null)
    throw new Error('the programs of PostgreSQL are not installed')
  return folder ?? dirname(elsewhere ?? '')
}

/** It refuses to run as root: then a user without privileges runs it. */
export function unprivileged(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const account = ['postgres', 'nobody']
    .map((name) => accounts.find(([found]) => found === name))
    .find(Boolean)
  if (!account) throw new Error('there is no user to run PostgreSQL as')
  return { uid: Number(account[2]), gid: Number(account[3]) }
}

const fast = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

export async function startPostgres({
  settings: furtherSettings = fast,
  standbyOf,
}: PostgresOptions = {}): Promise<PostgresServer> {
  const bin = programs()
  const user = unprivileged()
  const folder = await mkdtemp(join(tmpdir(), 'idp-postgres-'))
  if (user) await chown(folder, user.uid, user.gid)
  const execute = async (program: string, args: string[]): Promise<void> => {
    await run(join(bin, program), args, { cwd: folder, ...user })
  }
  if (standbyOf) await execute('pg_basebackup', ['-d', standbyOf.url, '-R', '--no-sync', '-D', folder])
  else {
    const options = ['-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--locale=C', '--no-sync', '-D', folder]
    await execute('initdb', options)
  }
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    shared_buffers: '16MB',
    ...furtherSettings,
  }
  const start = async (port: number) => {
    const args = Object.entries({ ...settings, port: String(port) }).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ])
    const service = await startService({
      command: join(bin, 'postgres'),
      args: ['-D', folder, ...args],
      ready: /ready to accept (?:read-only )?connections/,
      cwd: folder,
      user,
    })
    return { port, service }
  }
  const { port, service } = await onFreePort(start)
  return {
    port,
    url: `postgresql://postgres@127.0.0.1:${port}/postgres`,
    crash: () => service.end('SIGQUIT'),
    promote: () => execute('pg_ctl', ['promote', '--silent', '-D', folder]),
    async stop() {
      // It waits for connections that are being closed, instead of breaking them off.
      await service.end('SIGTERM')
      await rm(folder, { recursive: true, force: true })
    },
  }
}
