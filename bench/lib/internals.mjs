// The parts of the library that no entry exports, bundled from its sources: sealing without a request.
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const sources = fileURLToPath(new URL('../../packages/idp-client/src/', import.meta.url))
const { build } = createRequire(new URL('../../package.json', import.meta.url))('esbuild')

async function load() {
  const folder = mkdtempSync(fileURLToPath(new URL('../.internals-', import.meta.url)))
  try {
    const outfile = join(folder, 'internals.mjs')
    await build({
      stdin: {
        contents: `export { createSealer } from './crypto/seal.ts'
          export { decodeSession, encodeSession } from './session/cookie/codec.ts'`,
        resolveDir: sources,
      },
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      alias: {
        '#cipher': join(sources, 'crypto/cipher.node.ts'),
        '#signature': join(sources, 'crypto/signature.node.ts'),
        '#async-context': join(sources, 'lib/async-context.node.ts'),
      },
      tsconfigRaw: {},
      logLevel: 'warning',
    })
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export async function createOurSealer(secret) {
  const { createSealer, decodeSession, encodeSession } = await load()
  const sealer = createSealer([secret])
  const usedAt = Math.floor(Date.now() / 1000)
  return {
    seal: (data) => sealer.seal('session', encodeSession({ data, sessionKey: 'key', usedAt })),
    open: async (text) => decodeSession(await sealer.open('session', text)),
  }
}
