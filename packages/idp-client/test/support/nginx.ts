import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onFreePort, startService } from './service.ts'

/** An nginx of its own, on loopback. */
export interface Nginx {
  readonly url: string
  stop(): Promise<void>
}

/** Debian keeps it where only the path of root leads. */
const program = existsSync('/usr/sbin/nginx') ? '/usr/sbin/nginx' : 'nginx'

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

/** Starts nginx in front of a server, with these directives in its `location` and the defaults of nginx for the rest. */
export async function startNginx(upstream: string, directives: readonly string[] = []): Promise<Nginx> {
  const folder = await mkdtemp(join(tmpdir(), 'idp-nginx-'))
  const temporary = TEMPORARY.map((name) => `${name}_temp_path ${join(folder, name)};`)
  const file = join(folder, 'nginx.conf')
  const { port, service } = await onFreePort(async (port) => {
    await writeFile(
      file,
      `daemon off; master_process off; pid ${join(folder, 'pid')}; error_log stderr notice; events {}
http { access_log off; ${temporary.join(' ')}
server { listen 127.0.0.1:${port}; location / { proxy_pass ${upstream}; ${directives.join(' ')} } } }`,
    )
    const args = ['-p', folder, '-c', file, '-e', 'stderr']
    return { port, service: await startService({ command: program, args, ready: /getrlimit/, cwd: folder }) }
  })
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      await service.end('SIGTERM')
      await rm(folder, { recursive: true, force: true })
    },
  }
}
