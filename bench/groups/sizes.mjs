import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { percentile } from '../lib/measure.mjs'
import {
  createAuthJs,
  createBetterAuth,
  createNextClient,
  createNextjsAuth0,
  createOpenidClient,
} from '../lib/products.mjs'
import { createProvider } from '../lib/provider.mjs'

const { build } = createRequire(new URL('../../package.json', import.meta.url))('esbuild')
const folder = fileURLToPath(new URL('..', import.meta.url))

/** Bytes and number of cookies after one login, and the requests to the provider for a first and for a later login. */
async function logins() {
  const rows = []
  for (const [name, create] of [
    ['idp-client', createNextClient],
    ['nextjs-auth0', createNextjsAuth0],
    ['Auth.js', createAuthJs],
    ['better-auth', createBetterAuth],
    ['openid-client, called directly', createOpenidClient],
  ]) {
    const provider = createProvider()
    globalThis.fetch = provider.fetch
    const product = await create()
    const total = () => [...provider.requests.values()].reduce((sum, count) => sum + count, 0)
    const cookies = await product.login(provider)
    const first = total()
    await product.login(provider)
    const header = String(cookies)
    rows.push({
      name,
      'cookie bytes': header.length,
      cookies: cookies.count ?? 1,
      'first login': first,
      'later login': total() - first,
    })
  }
  return rows
}

const script = (specifier) => `
  const start = performance.now()
  await import(${JSON.stringify(specifier)})
  const took = performance.now() - start
  globalThis.gc()
  console.log(JSON.stringify({ took, heap: process.memoryUsage().heapUsed }))`

/** Milliseconds and heap of an import in a new process, beyond those of the framework that it needs. */
function measureImport(specifier, rounds) {
  const runs = Array.from({ length: rounds }, () => {
    const { stdout } = spawnSync(
      process.execPath,
      ['--expose-gc', '--input-type=module', '-e', script(specifier)],
      { cwd: folder, encoding: 'utf8' },
    )
    return JSON.parse(stdout)
  })
  return {
    took: percentile(
      runs.map(({ took }) => took),
      0.5,
    ),
    heap: percentile(
      runs.map(({ heap }) => heap),
      0.5,
    ),
  }
}

async function bundle(specifier, platform) {
  const { metafile, outputFiles } = await build({
    stdin: { contents: `export * from ${JSON.stringify(specifier)}`, resolveDir: folder },
    bundle: true,
    write: false,
    minify: true,
    metafile: true,
    format: 'esm',
    platform,
    conditions: platform === 'node' ? ['node'] : ['workerd', 'worker'],
    external: ['next', 'next/*', 'react', 'react-dom', 'express', 'node:*'],
    logLevel: 'silent',
  })
  return { bytes: gzipSync(outputFiles[0].contents).length, modules: Object.keys(metafile.inputs).length }
}

async function imports({ rounds }) {
  const nothing = measureImport('node:crypto', rounds)
  const rows = []
  for (const [name, specifier] of [
    ['idp-client', 'idp-client'],
    ['Auth.js', '@auth/core'],
    ['better-auth', 'better-auth'],
    ['iron-session', 'iron-session'],
    ['openid-client', 'openid-client'],
  ]) {
    const { heap, took } = measureImport(specifier, rounds)
    const node = await bundle(specifier, 'node')
    rows.push({
      name,
      'import, ms': Math.round((took - nothing.took) * 10) / 10,
      'heap, MB': Math.round((heap - nothing.heap) / 1e5) / 10,
      'bundle, kB gzip': Math.round(node.bytes / 100) / 10,
      modules: node.modules,
    })
  }
  const worker = await bundle('idp-client', 'browser')
  rows.push({
    name: 'idp-client, one file for Workers',
    'import, ms': '–',
    'heap, MB': '–',
    'bundle, kB gzip': Math.round(worker.bytes / 100) / 10,
    modules: worker.modules,
  })
  return rows
}

/** Returns tables of sizes and counts. Only the import is timed. */
export async function measure(effort) {
  return [
    { title: 'Cookies and requests of a login', kind: 'counts', rows: await logins() },
    { title: 'Import and bundle', kind: 'counts', rows: await imports(effort) },
  ]
}
