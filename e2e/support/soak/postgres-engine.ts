import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { startPostgres, unprivileged } from '../../../packages/idp-client/test/support/postgres-server.ts'
import { onFreePort, onPath, startService } from '../../../packages/idp-client/test/support/service.ts'
import type { Engine } from './redis-engines.ts'

interface Bouncer {
  readonly url: string
  /** Connects to another server from now on. */
  redirect(port: number): Promise<void>
  stop(): Promise<void>
}

/** Transaction mode: each statement may run on another connection. */
async function startPgBouncer(server: number): Promise<Bouncer> {
  const folder = await mkdtemp(join(tmpdir(), 'idp-pgbouncer-'))
  await chmod(folder, 0o755)
  const file = join(folder, 'pgbouncer.ini')
  const configure = (port: number, target: number): Promise<void> =>
    writeFile(
      file,
      `[databases]
* = host=127.0.0.1 port=${target} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
admin_users = postgres
pool_mode = transaction
server_login_retry = 1
query_wait_timeout = 5
`,
    )
  const { port, service } = await onFreePort(async (port) => {
    await configure(port, server)
    const started = await startService({
      command: onPath('pgbouncer') ?? '/usr/sbin/pgbouncer',
      args: [file],
      ready: /process up/,
      cwd: folder,
      user: unprivileged(),
    })
    return { port, service: started }
  })
  const base = `postgresql://postgres@127.0.0.1:${port}`
  return {
    url: `${base}/postgres`,
    async redirect(target) {
      await configure(port, target)
      const admin = new Client({ connectionString: `${base}/pgbouncer` })
      await admin.connect()
      await admin.query('RELOAD')
      await admin.end()
    },
    async stop() {
      await service.end('SIGTERM')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A primary that commits on a standby, behind PgBouncer. */
export async function startPostgresPair(): Promise<Engine> {
  const primary = await startPostgres({ settings: { synchronous_standby_names: '*' } })
  const standby = await startPostgres({ settings: {}, standbyOf: primary })
  const bouncer = await startPgBouncer(primary.port)
  return {
    env: { DATABASE_URL: bouncer.url },
    async failOver() {
      await primary.crash()
      await standby.promote()
      await bouncer.redirect(standby.port)
    },
    async stop() {
      await bouncer.stop()
      await Promise.all([primary.stop(), standby.stop()])
    },
  }
}
