// npm run test:hosts [-- host... | -- --resume | -- --write]: installs, builds and runs the applications of every framework:
// the adapter contract on a production build, direct and behind a proxy that ends TLS, and the example in Chromium. Before,
// the package is installed in a new application of the framework, and in those of lib/new-applications.mjs. With --resume
// hosts are left out that passed with the same files; --write writes the matrix of docs/reference/hosts.md. Hosts with
// `basePath` run the contract once more, built below that path. Rows with `contractOnly`, other versions of a framework, run
// their types and the contract without proxy only. A host whose Node.js cannot be installed counts as failed.
// `npm test -- hosts` runs those that install in seconds, without a browser.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { Browser as HttpBrowser } from './lib/app-visit.mjs'
import { filesBelow } from './lib/files.mjs'
import { hangUps } from './lib/hang-ups.mjs'
import { startBrowser, visitExample } from './lib/host-browser.mjs'
import { cache, hash, install, nodeProgram, toContractName, toExampleName } from './lib/host-install.mjs'
import { toMatrix } from './lib/host-matrix.mjs'
import { runNode, running, secret } from './lib/host-server.mjs'
import { hosts } from './lib/hosts.mjs'
import { furtherApplications, quickApplications, toInstallationSteps } from './lib/new-applications.mjs'
import { withProgress } from './lib/progress.mjs'
import { fromRoot, isMain } from './lib/run.mjs'
import { pack } from './pack.mjs'
import { runSteps } from './test-dist.mjs'

/** Returns the module with the further steps of a host's example in Chromium. */
const toVisitModule = (name) => pathToFileURL(fromRoot(`e2e/hosts/${toContractName(name)}/visit.mjs`)).href

/** Returns a hash of everything that the result of a host depends on. */
function fingerprint(name) {
  const folders = [
    'packages/idp-client/dist',
    `examples/${toExampleName(name)}`,
    `e2e/hosts/${toContractName(name)}`,
    'e2e/hosts/support',
  ]
  const files = folders
    .flatMap((folder) => [...filesBelow(folder)])
    .filter((path) => !path.includes('/node_modules/'))
    // Frameworks decide by its peers what they bundle.
    .concat('packages/idp-client/package.json')
  return hash(JSON.stringify(hosts[name]), ...files.flatMap((path) => [path, readFileSync(fromRoot(path))]))
}

/** Runs contract cases at once, and returns the titles of those that failed, with their errors. */
async function runCases(cases, host) {
  const settled = await Promise.allSettled(cases.map(({ run }) => run(host)))
  return settled.flatMap(({ reason, status }, index) =>
    status === 'fulfilled' ? [] : [`${cases[index].title}: ${String(reason.message).slice(0, 300)}`],
  )
}

/** Runs the contract in one place, and notes how many cases passed. */
async function contract({ cases, place, configured = true, context, result, env: further = {} }) {
  const { name, folder, program, provider } = context
  const proxy = place === 'proxy' ? 'https://app.example.test' : undefined
  const path = place === 'basePath' ? hosts[name].basePath : ''
  const env = (base) => {
    if (!configured) return further
    provider.registerApp((proxy ?? base) + path)
    // Behind the proxy the base URL is that of each request.
    const address = proxy ? { APP_BASE_URL: undefined, CONTRACT_PROXY: '1' } : { APP_BASE_URL: base }
    const variable = path && hosts[name].basePathVariable ? { FRAMEWORK_PUBLIC_BASE_PATH: path } : {}
    return { ...provider.env, ...address, ...variable, ...further, IDP_SECRET: secret }
  }
  await running({ name, folder, program, application: 'contract', env }, async (base) => {
    const failed = await runCases(cases, {
      url: (proxy ?? base) + path,
      ...(proxy ? { listensAt: base } : {}),
      secret,
      styles: hosts[name].styles ?? ['ambient', 'explicit'],
      signIn: (authorizationUrl, person) => provider.login(authorizationUrl, person),
    })
    result[place] = `${cases.length - failed.length}/${cases.length}`
    if (failed.length > 0) throw new Error(`${result[place]} passed\n${failed.join('\n')}`)
  })
}

/** Returns the steps of a host with `hangUps`; none without. */
function toHangUpSteps({ cases, context }) {
  const { hangUps: hasHangUps = false, variants = {} } = hosts[context.name]
  if (!hasHangUps) return []
  return [
    ['serves the next user when a client hangs up', () => hangUps({ context })],
    ...Object.entries(variants).flatMap(([variant, { env, isKept }]) => [
      [`passes the contract ${variant}`, () => contract({ cases, place: variant, context, env, result: {} })],
      [`serves the next user ${variant}`, () => hangUps({ context, variant, isKept, env })],
    ]),
  ]
}

/** Waits until the server has logged that the variable with the base path is missing, after a request for a protected page. */
async function reportMissingBasePath(context) {
  const { name, folder, program, provider } = context
  const { basePath } = hosts[name]
  const expected = `Set FRAMEWORK_PUBLIC_BASE_PATH=${basePath},`
  const env = (base) => ({
    ...provider.env,
    APP_BASE_URL: base,
    IDP_SECRET: secret,
    CONTRACT_LOG: '1',
  })
  await running({ name, folder, program, application: 'contract', env }, async (base, server) => {
    await fetch(`${base}${basePath}/page`, { redirect: 'manual' })
    const deadline = performance.now() + 30_000
    while (!server.output().includes(expected)) {
      if (performance.now() > deadline) throw new Error(`the log does not say: ${expected}`)
      await delay(50)
    }
  })
}

/** At an address that APP_BASE_URL does not list, no route acts, pages are served, and a session stays as it is. */
async function refuseOtherAddresses({ contracts, name, folder, program, provider }) {
  const env = {
    ...provider.env,
    APP_BASE_URL: 'https://one.example.test,https://two.example.test',
    IDP_SECRET: secret,
  }
  const now = Date.now() / 1000 - 400
  const cookies = await contracts.generateSessionCookies({ user: { sub: 'test|carol' } }, { secret, now })
  const cookie = cookies.map((one) => `${one.name}=${one.value}`).join('; ')
  const expected = {
    '/auth/login': [400, ''],
    '/auth/logout': [400, ''],
    '/auth/callback?code=c&state=s': [400, ''],
    '/public': [200, 'public'],
    '/whoami?style=explicit': [200, '"sub":"test|carol"'],
  }
  await running({ name, folder, program, application: 'contract', env: () => env }, async (base) => {
    for (const [path, [status, part]] of Object.entries(expected)) {
      const headers = { cookie, 'sec-fetch-mode': 'navigate' }
      const response = await fetch(base + path, { headers, redirect: 'manual' })
      const text = await response.text()
      const isAsExpected = response.status === status && text.includes(part)
      if (!isAsExpected || response.headers.getSetCookie().length > 0 || text.includes('one.example.test'))
        throw new Error(`${path} responds with ${response.status}, ${[...response.headers]}: ${text}`)
    }
  })
}

/** The protected page of the example starts a login; everything else needs a browser. */
async function visitByHttp(base) {
  const browser = new HttpBrowser(base)
  const page = await browser.get('/account')
  if (!page.location?.includes('/auth/login?returnTo=%2Faccount'))
    throw new Error(`/account responds with ${page.status} ${page.location}`)
  const api = await browser.get('/api/me')
  if (api.status !== 401) throw new Error(`/api/me responds with ${api.status}`)
}

/** Returns the steps of a host with `basePath`; none without. */
function toStepsBelowPath({ cases, context, each, result }) {
  const { basePath, basePathVariable, build } = hosts[context.name]
  if (!basePath) return []
  return [
    ...each(`the contract application builds below ${basePath}`, build, 'contract', {
      CONTRACT_BASE_PATH: basePath,
    }),
    ...(basePathVariable
      ? [[`reports ${basePath} without the variable`, () => reportMissingBasePath(context)]]
      : []),
    [`passes the contract below ${basePath}`, () => contract({ cases, place: 'basePath', context, result })],
  ]
}

/** Returns the steps of a client without configuration, whose errors the framework shows at `/page`. */
function toUnconfiguredSteps(context, result) {
  const { unconfiguredContract: cases } = context.contracts
  const run = (place, env) => contract({ cases, place, configured: false, context, result, env })
  return [
    ['guards deny without a configuration', () => run('unconfigured', {})],
    ['guards deny without a configuration and NODE_ENV', () => run('bare', { NODE_ENV: undefined })],
  ]
}

function toSteps(context, result) {
  const { browser, contracts, folder, name, program, provider } = context
  const { build = [], contractOnly = false, tests = [], types = [] } = hosts[name]
  /** One step for all commands; none without commands. */
  const each = (title, commands, application, env = {}) => {
    const run = async () => {
      for (const args of commands) await runNode(args, { name, folder, program, application, env })
    }
    return commands.length === 0 ? [] : [[title, run]]
  }
  const { adapterContract, lateWriteContract } = contracts
  const cases = [...adapterContract, ...lateWriteContract]
  /** Runs the example; `env` changes its variables, `path` is its base path. */
  const runExample = (env, work, path = '') => {
    const toEnv = (base) => {
      for (const root of new Set([base, base + path])) provider.registerApp(root)
      return { ...provider.env, APP_BASE_URL: base, ...env }
    }
    return running({ name, folder, program, application: 'example', env: toEnv }, work)
  }
  const steps = [
    ...(context.quick ? [] : toInstallationSteps(name, context)),
    ['installs', () => install(context)],
    ...each('the types of the example resolve', types, 'example'),
    ...each('the contract application builds', build, 'contract'),
    // Messages have their details, which tell the developer what to write.
    ...each('the tests of the adapter pass', tests, 'contract', { NODE_ENV: 'test' }),
    [
      `passes the contract, ${cases.length} cases`,
      () => contract({ cases, place: 'direct', context, result }),
    ],
  ]
  const hangUpSteps = toHangUpSteps({ cases, context })
  const belowPath = toStepsBelowPath({ cases, context, each, result })
  if (contractOnly) return [...steps, ...belowPath]
  return [
    ...steps,
    [
      'passes the contract behind a proxy that ends TLS',
      () => contract({ cases, place: 'proxy', context, result }),
    ],
    ...toUnconfiguredSteps(context, result),
    ['refuses an address that is not listed', () => refuseOtherAddresses(context)],
    ...belowPath,
    ...hangUpSteps,
    ...each('the example builds', build, 'example'),
    [
      browser ? 'a user of the example logs in and out in Chromium' : 'the example protects its pages',
      () =>
        runExample({}, async (base) => {
          await (browser ? visitExample(browser, base) : visitByHttp(base))
          if (browser && hosts[name].visit)
            await (await import(toVisitModule(name))).visit(browser, base, runExample)
          result.browser = browser ? 'passed' : 'not run'
        }),
    ],
  ]
}

const resultFile = (name) => join(cache, `${name}.json`)

/** Returns the result of a host if it passed with the same files, in a browser as well. */
function earlierResult(name) {
  if (!existsSync(resultFile(name))) return undefined
  const result = JSON.parse(readFileSync(resultFile(name), 'utf8'))
  return result.fingerprint === fingerprint(name) ? result : undefined
}

function readVersions(name, folder, program) {
  const version = (each) =>
    JSON.parse(readFileSync(join(folder, 'node_modules', each, 'package.json'), 'utf8')).version
  const frameworks = hosts[name].frameworks.map((each) => [each, version(each)])
  const { node: needed } = hosts[name]
  const runtime = program === process.execPath ? process.versions.node : needed
  return Object.fromEntries(needed ? [...frameworks, ['Node.js', runtime]] : frameworks)
}

/** Runs all steps of one host and returns its counts. Keeps the result of a complete run that passed. */
async function testHost(name, { quick, resume, ...context }) {
  const counts = { passed: 0, failed: 0, skipped: 0, failures: [] }
  if (resume && earlierResult(name)) {
    console.log(`passed  ${name}: in an earlier run with the same files, not counted`)
    return counts
  }
  rmSync(resultFile(name), { force: true })
  const folder = join(cache, name)
  const result = {}
  const program = await Promise.resolve(nodeProgram(name)).catch(({ message }) => {
    console.log(`FAILED  ${name}: Node.js ${hosts[name].node} cannot be installed\n${message}`)
  })
  const steps = toSteps({ ...context, folder, name, program, quick }, result)
  if (!program) return { ...counts, failed: steps.length, failures: [`${name}: no Node.js`] }
  await runSteps(name, steps, counts)
  if (counts.failed === 0 && !quick) {
    const versions = readVersions(name, folder, program)
    const complete = { ...result, versions, fingerprint: fingerprint(name) }
    writeFileSync(resultFile(name), JSON.stringify(complete, null, 2))
  }
  return counts
}

/** Installs the package in an application that has no other tests, and returns the counts. */
async function testInstallation(name, options) {
  const counts = { passed: 0, failed: 0, skipped: 0, failures: [] }
  await runSteps(`new application ${name}`, toInstallationSteps(name, options), counts)
  return counts
}

/**
 * Runs hosts, and installs in new applications, two at a time.
 *
 * @param {{ only?: string[], resume?: boolean, quick?: boolean }} [what] names of hosts and of further applications, all if
 *   empty; `quick`: only those that install in seconds, without a browser
 * @returns {Promise<{ passed: number, failed: number, skipped: number, failures: string[] }>}
 */
export async function testHosts({ only = [], resume = false, quick = false } = {}) {
  const known = [...Object.keys(hosts), ...furtherApplications]
  const unknown = only.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new Error(`no host ${unknown.join(', ')}; known: ${known.join(', ')}`)
  const isSelected = (name) => only.length === 0 || only.includes(name)
  const names = Object.keys(hosts).filter((name) => isSelected(name) && (!quick || hosts[name].quick))
  const applications = (quick ? quickApplications : furtherApplications).filter(isSelected)
  const { startDevProvider } = await import('../packages/dev-provider/dist/index.js')
  const contracts = await import('../packages/idp-client/dist/testing.js')
  const provider = await startDevProvider({ https: true, host: '127.0.0.1' })
  const counts = { passed: 0, failed: 0, skipped: 0, failures: [] }
  mkdirSync(cache, { recursive: true })
  const browser = quick ? undefined : await startBrowser(provider)
  try {
    const tarball = await withProgress('hosts: packs idp-client', () => pack('packages/idp-client', cache))
    const waiting = [
      ...applications.map((name) => () => testInstallation(name, { quick, tarball })),
      ...names.map((name) => () => testHost(name, { browser, contracts, provider, tarball, quick, resume })),
    ]
    const work = async () => {
      for (let run = waiting.shift(); run; run = waiting.shift()) {
        const { failures, ...own } = await run()
        for (const [key, count] of Object.entries(own)) counts[key] += count
        counts.failures.push(...failures)
      }
    }
    await Promise.all([work(), work()])
  } finally {
    await browser?.close()
    await provider.stop()
  }
  return counts
}

/** Writes the matrix of all hosts, whose latest runs have passed with the present files. */
function writeMatrix() {
  const results = Object.keys(hosts).map((name) => [name, earlierResult(name)])
  const missing = results.filter(([, result]) => !result).map(([name]) => name)
  if (missing.length > 0) throw new Error(`no run of ${missing.join(', ')} has passed with these files`)
  writeFileSync(fromRoot('docs/reference/hosts.md'), toMatrix(Object.fromEntries(results)))
}

if (isMain(import.meta)) {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { resume: { type: 'boolean' }, quick: { type: 'boolean' }, write: { type: 'boolean' } },
  })
  const { passed, failed, skipped } = await testHosts({ only: positionals, ...values })
  if (values.write && failed === 0) writeMatrix()
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
  process.exitCode = failed === 0 ? 0 : 1
}
