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

/** Starts nginx with these blocks inside of `http`, and returns the function that stops it. */
export async function runNginx(blocks: string): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'idp-nginx-'))
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true })
  const temporary = TEMPORARY.map((name) => `${name}_temp_path ${join(folder, name)};`)
  const file = join(folder, 'nginx.conf')
  await writeFile(
    file,
    `daemon off; master_process off; pid ${join(folder, 'pid')}; error_log stderr notice; events {}
http { access_log off; ${temporary.join(' ')}\n${blocks}\n}`,
  )
  const args = ['-p', folder, '-c', file, '-e', 'stderr']
  try {
    const service = await startService({ command: program, args, ready: /getrlimit/, cwd: folder })
    return async () => {
      await service.end('SIGTERM')
      await remove()
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Starts nginx in front of a server, with these directives in its `location` and the defaults of nginx for the rest. */
export async function startNginx(upstream: string, directives: readonly string[] = []): Promise<Nginx> {
  const location = `location / { proxy_pass ${upstream}; ${directives.join(' ')} }`
  const { port, stop } = await onFreePort(async (port) => ({
    port,
    stop: await runNginx(`server { listen 127.0.0.1:${port}; ${location} }`),
  }))
  return { url: `http://127.0.0.1:${port}`, stop }
}
