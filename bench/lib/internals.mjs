// Parts of the library that no entry exports, and servers of its tests, bundled from their sources.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const cache = fileURLToPath(new URL('../.cache', import.meta.url))
const library = fileURLToPath(new URL('../../packages/idp-client/', import.meta.url))
const { rolldown } = await import(
  pathToFileURL(createRequire(new URL('../../package.json', import.meta.url)).resolve('rolldown')).href
)

/** Bundles a module with paths relative to the library, as the package is built, and imports it. */
async function load(contents) {
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'internals-'))
  try {
    const input = join(folder, 'entry.ts')
    const file = join(folder, 'internals.mjs')
    writeFileSync(input, contents.replaceAll("'./", `'${library}`))
    const bundled = await rolldown({
      input,
      external: /^(?!\.|\/|#)/,
      platform: 'node',
      tsconfig: false,
      resolve: {
        alias: {
          '#cipher': join(library, 'src/crypto/cipher.node.ts'),
          '#async-context': join(library, 'src/lib/async-context.node.ts'),
        },
      },
    })
    await bundled.write({ file, codeSplitting: false })
    await bundled.close()
    return await import(pathToFileURL(file).href)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Sealing without a request. */
export async function createOurSealer(secret) {
  const { createSealer, decodeSession, encodeSession } = await load(`
    export { createSealer } from './src/crypto/seal.ts'
    export { decodeSession, encodeSession } from './src/session/cookie/codec.ts'`)
  const sealer = createSealer([secret])
  const usedAt = Math.floor(Date.now() / 1000)
  return {
    seal: (data) => sealer.seal('session', encodeSession({ data, sessionKey: 'key', usedAt })),
    open: async (text) => decodeSession(await sealer.open('session', text)),
  }
}

/** The signatures of a client: of its requests and of its assertions. */
export const loadSigning = () =>
  load(`
    export { clientAuthentications } from './src/oidc/client-auth.ts'
    export { signRequestObject } from './src/oidc/request-object.ts'`)

/** Verifies access tokens for an API, without a request. */
export async function createOurVerifier(options, audience) {
  const { createApplication, getPublicProvider, Resource, verifyAccessToken } = await load(`
    export { createApplication } from './src/engine.ts'
    export { Resource } from './src/guards/resource.ts'
    export { verifyAccessToken } from './src/oidc/access-token.ts'
    export { getPublicProvider } from './src/oidc/provider.ts'`)
  const application = createApplication(options)
  const { config } = new Resource(application, { audience })
  const provider = getPublicProvider(application.apiEngine().config)
  const client = () => {
    throw new Error('bench: a JWT needs no client')
  }
  const judge = { provider, resources: [config], client }
  return async (token) => verifyAccessToken(judge, token)
}

/** `startRedis` and `startPostgres`: servers on loopback, which end with this process; `onPath` finds a program. */
export const loadDatabaseServers = () =>
  load(`
    export { startPostgres } from './test/support/postgres-server.ts'
    export { startRedis } from './test/support/redis-server.ts'
    export { onPath } from './test/support/service.ts'`)
