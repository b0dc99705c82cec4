import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readText } from '../../tools/lib/files.mjs'
import { parseFences } from '../../tools/lib/markdown.mjs'
import { must } from '../../tools/lib/run.mjs'

const page = 'docs/guides/deploy/nginx.md'

/** Debian keeps it where only the path of root leads. */
const program = existsSync('/usr/sbin/nginx') ? '/usr/sbin/nginx' : 'nginx'

/** The configuration of the page, with the addresses and files of this run. A text that is not there is an error. */
function readConfiguration(changes) {
  const fence = parseFences(readText(page)).find(({ language }) => language === 'nginx')
  return Object.entries(changes).reduce((text, [documented, actual]) => {
    if (!text.includes(documented)) throw new Error(`${page}: the configuration has no ${documented}`)
    return text.replace(documented, actual)
  }, fence.code)
}

/**
 * Starts nginx as the page configures it.
 *
 * @param {{ port: number, upstream: number }} ports where it listens, and where the application does
 * @returns {Promise<{ ca: string, stop: () => Promise<void> }>} `ca` is the PEM of its certificate
 */
export async function startNginx({ port, upstream }) {
  const folder = mkdtempSync(join(tmpdir(), 'idp-nginx-'))
  const [certificate, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')]
  await must('openssl', [
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=127.0.0.1'],
    ...['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', certificate],
  ])
  const server = readConfiguration({
    'server 127.0.0.1:3000;': `server 127.0.0.1:${upstream};`,
    'listen 443 ssl;': `listen 127.0.0.1:${port} ssl;`,
    'server_name shop.example.com;': 'server_name 127.0.0.1;',
    '/etc/nginx/tls/shop.crt;': `${certificate};`,
    '/etc/nginx/tls/shop.key;': `${key};`,
  })
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  )
  const file = join(folder, 'nginx.conf')
  writeFileSync(
    file,
    `daemon off; pid ${join(folder, 'pid')}; error_log stderr warn; events {}
http { access_log off; ${temporary.join(' ')}\n${server}\n}`,
  )
  const child = spawn(program, ['-p', folder, '-c', file, '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const output = []
  child.stderr.on('data', (chunk) => output.push(chunk))
  const ended = once(child, 'close')
  const stop = async () => {
    if (child.exitCode === null) child.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
  if (!(await listens(port, child))) {
    await stop()
    throw new Error(`nginx did not start\n${Buffer.concat(output)}`)
  }
  return { ca: readFileSync(certificate, 'utf8'), stop }
}

/** Whether something accepts connections at a port before the program ends. */
async function listens(port, child) {
  while (child.exitCode === null) {
    const socket = connect(port, '127.0.0.1')
    const open = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    socket.destroy()
    if (open) return true
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return false
}
