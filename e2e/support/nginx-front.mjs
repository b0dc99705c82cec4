import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthority } from '../../packages/dev-provider/src/certificates.ts'
import { runNginx } from '../../packages/idp-client/test/support/nginx.ts'
import { readText } from '../../tools/lib/files.mjs'
import { parseFences } from '../../tools/lib/markdown.mjs'

const page = 'docs/guides/deploy/nginx.md'

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
 * @returns {Promise<{ ca: string, stop: () => Promise<void> }>} `ca` is the PEM of the authority of its certificate
 */
export async function startNginx({ port, upstream }) {
  const folder = mkdtempSync(join(tmpdir(), 'idp-tls-'))
  const [certificate, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')]
  const { ca, identity, remove } = await createAuthority('localhost')
  await remove()
  writeFileSync(certificate, identity.cert)
  writeFileSync(key, identity.key)
  const server = readConfiguration({
    'server 127.0.0.1:3000;': `server 127.0.0.1:${upstream};`,
    'listen 443 ssl;': `listen 127.0.0.1:${port} ssl;`,
    'server_name shop.example.com;': 'server_name 127.0.0.1;',
    '/etc/nginx/tls/shop.crt;': `${certificate};`,
    '/etc/nginx/tls/shop.key;': `${key};`,
  })
  const removeKeys = () => rmSync(folder, { recursive: true, force: true })
  const stop = await runNginx(server).catch((error) => {
    removeKeys()
    throw error
  })
  return { ca, stop: () => stop().finally(removeKeys) }
}
