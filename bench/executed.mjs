// node bench/executed.mjs [--list]: files and functions of the library that a request executes, by the coverage of V8.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Cookies } from './lib/cookies.mjs'
import { createProvider } from './lib/provider.mjs'
import { origin, settings } from './lib/settings.mjs'

const { build } = createRequire(new URL('../package.json', import.meta.url))('esbuild')
const library = fileURLToPath(new URL('../packages/idp-client', import.meta.url))
const target = fileURLToPath(new URL('.cache/executed', import.meta.url))

/** Removes the types of every module, so that each stays a file. */
async function transform() {
  rmSync(target, { recursive: true, force: true })
  const source = join(library, 'src')
  const files = readdirSync(source, { recursive: true }).filter((file) => /(?<!\.test)\.ts$/.test(file))
  const { outputFiles } = await build({
    entryPoints: files.map((file) => join(source, file)),
    outdir: target,
    outbase: source,
    format: 'esm',
    target: 'node20',
    write: false,
  })
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text.replace(/(\bfrom |\bimport\()"(\.[^"]*)\.tsx?"/g, '$1"$2.js"'))
  }
  const { imports } = JSON.parse(readFileSync(join(library, 'package.json'), 'utf8'))
  const toSource = ({ node }) => {
    const name = node.slice('./dist/'.length)
    return `./${outputFiles.map(({ path }) => relative(target, path)).find((path) => path.endsWith(`/${name}`))}`
  }
  const own = Object.entries(imports).map(([name, conditions]) => [name, toSource(conditions)])
  writeFileSync(
    join(target, 'package.json'),
    JSON.stringify({ type: 'module', imports: Object.fromEntries(own) }),
  )
}

const inspector = new Session()

/** Returns the functions that `run` executes, by file, without the bodies of modules. */
async function findExecuted(run) {
  await inspector.post('Profiler.takePreciseCoverage')
  await run()
  const { result } = await inspector.post('Profiler.takePreciseCoverage')
  const start = pathToFileURL(`${target}/`).href
  const toFunctions = ({ functions }) =>
    functions.filter(
      ({ functionName, ranges: [range] }) => range.count > 0 && (functionName || range.startOffset > 0),
    )
  return result
    .filter(({ url }) => url.startsWith(start))
    .map((script) => ({ file: script.url.slice(start.length), functions: toFunctions(script) }))
    .filter(({ functions }) => functions.length > 0)
}

await transform()
const load = (path) => import(pathToFileURL(join(target, path)).href)
const [{ IdpClient }, { memoryStore }] = await Promise.all([load('index.js'), load('stores/memory.js')])
const provider = createProvider()
globalThis.fetch = provider.fetch
const toRequest = (path, cookies) => new Request(origin + path, { headers: { cookie: String(cookies) } })

/** Starts a login, and returns the cookies and the request of its callback. */
async function startLogin(idp) {
  const cookies = new Cookies()
  const begun = cookies.take(await idp.middleware(toRequest('/auth/login', cookies)))
  const query = provider.authorize(begun.headers.get('location'))
  return { cookies, callback: toRequest(`/auth/callback?${query}`, cookies) }
}

async function logIn(idp) {
  const { callback, cookies } = await startLogin(idp)
  cookies.take(await idp.middleware(callback))
  return cookies
}

const inCookie = new IdpClient(settings)
const inStore = new IdpClient({ ...settings, sessionStore: memoryStore() })
const refresh = async (cookies) =>
  inStore.getAccessToken(toRequest('/', cookies), new Response(), { refresh: true })

/** Each is run twice: what is loaded or derived once per process does not count. */
const kinds = {
  'getSession from a cookie': async () => {
    const cookies = await logIn(inCookie)
    return () => inCookie.getSession(toRequest('/', cookies))
  },
  'refresh in a store': async () => {
    const cookies = await logIn(inStore)
    return () => refresh(cookies)
  },
  callback: async () => {
    const { callback } = await startLogin(inCookie)
    return () => inCookie.middleware(callback)
  },
}

inspector.connect()
await inspector.post('Profiler.enable')
await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
for (const [name, prepare] of Object.entries(kinds)) {
  await (await prepare())()
  const executed = await findExecuted(await prepare())
  const count = executed.reduce((sum, { functions }) => sum + functions.length, 0)
  console.log(`${name}: ${executed.length} files, ${count} functions`)
  if (process.argv.includes('--list'))
    for (const { file, functions } of executed)
      console.log(`  ${file}: ${functions.map(({ functionName }) => functionName || 'anonymous').join(', ')}`)
}
