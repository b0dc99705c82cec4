import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { measureEntry } from '../../tools/check-entries.mjs'
import { createExpressProduct } from '../lib/express.mjs'
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
const kilo = (bytes) => Math.round(bytes / 100) / 10
const mega = (bytes) => Math.round(bytes / 1e5) / 10

/** Bytes and number of cookies after one login, and the requests to the provider for a first and for a later login. */
async function countLogins() {
  const rows = []
  for (const [name, create] of [
    ['idp-client', createNextClient],
    ['nextjs-auth0', createNextjsAuth0],
    ['Auth.js', createAuthJs],
    ['better-auth', createBetterAuth],
    ['express-openid-connect', () => createExpressProduct('express-openid-connect')],
    ['openid-client', createOpenidClient],
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

const script = (framework, specifier) => `
  await import(${JSON.stringify(framework)})
  const measure = () => (globalThis.gc(), process.memoryUsage())
  const before = measure()
  const start = performance.now()
  await import(${JSON.stringify(specifier)})
  const took = performance.now() - start
  const { heapUsed, rss } = measure()
  console.log(JSON.stringify({ took, heap: heapUsed - before.heapUsed, rss: rss - before.rss }))`

/** Milliseconds and memory of an import in a new process, which has imported the framework before: medians. */
function measureImport(framework, specifier, rounds) {
  const runs = Array.from({ length: rounds }, () => {
    const { stdout } = spawnSync(
      process.execPath,
      ['--expose-gc', '--input-type=module', '-e', script(framework, specifier)],
      { cwd: folder, encoding: 'utf8' },
    )
    return JSON.parse(stdout)
  })
  const median = (key) =>
    percentile(
      runs.map((run) => run[key]),
      0.5,
    )
  return {
    'import, ms': Math.round(median('took') * 10) / 10,
    'heap, MB': mega(median('heap')),
    'resident, MB': mega(median('rss')),
  }
}

/** One file with an import and everything that it loads, also later. */
async function bundle(specifier) {
  const { metafile, outputFiles } = await build({
    stdin: { contents: `export * from ${JSON.stringify(specifier)}`, resolveDir: folder },
    bundle: true,
    write: false,
    minify: true,
    metafile: true,
    format: 'esm',
    platform: 'node',
    conditions: ['node'],
    external: ['next', 'next/*', 'react', 'react-dom', 'express', 'node:*'],
    logLevel: 'silent',
  })
  return {
    'bundle, kB gzip': kilo(gzipSync(outputFiles[0].contents).length),
    modules: Object.keys(metafile.inputs).length,
  }
}

async function measureImports(effort) {
  const rounds = Math.ceil(effort.rounds / 2)
  const rows = []
  for (const [name, work, specifier, framework = 'node:crypto'] of [
    ['idp-client', 'Web', 'idp-client'],
    ['idp-client', 'Next.js', 'idp-client/next', 'next/server.js'],
    ['idp-client', 'Express', 'idp-client/express', 'express'],
    ['nextjs-auth0', 'Next.js', '@auth0/nextjs-auth0/server', 'next/server.js'],
    ['next-auth', 'Next.js', 'next-auth', 'next/server.js'],
    ['express-openid-connect', 'Express', 'express-openid-connect', 'express'],
    ['Auth.js', 'Web', '@auth/core'],
    ['better-auth', 'Web', 'better-auth'],
    ['iron-session', 'sealing only', 'iron-session'],
    ['openid-client', 'protocol only', 'openid-client'],
  ])
    rows.push({
      name,
      work,
      ...measureImport(framework, specifier, rounds),
      ...(await bundle(specifier)),
    })
  return rows
}

/** Bytes that load with each entry, and later when something is first used, with the dependencies. */
async function measureEntries() {
  const manifest = readFileSync(`${folder}/node_modules/idp-client/package.json`, 'utf8')
  const rows = []
  for (const [entry, target] of Object.entries(JSON.parse(manifest).exports)) {
    if (!target.default) continue
    const { bytes, lazyBytes } = await measureEntry(target.default, ['node'])
    rows.push({
      name: entry.replace('.', 'idp-client'),
      'with the import, kB gzip': kilo(bytes),
      'on first use, kB gzip': kilo(lazyBytes),
    })
  }
  return rows
}

/** Returns tables of sizes and counts. Only the import is timed. */
export async function measure(effort) {
  return [
    { title: 'Cookies and requests of a login', kind: 'counts', rows: await countLogins() },
    {
      title: 'Import and bundle',
      note: 'Import and memory are those beyond the framework. The bundle has everything in one file, without the framework.',
      kind: 'counts',
      rows: await measureImports(effort),
    },
    { title: 'Entries of idp-client', kind: 'counts', rows: await measureEntries() },
  ]
}
