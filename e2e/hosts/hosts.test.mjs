// The project `hosts` (npm run test:hosts; `npm test -- hosts` only what installs in seconds, the hosts without a browser): installs, builds
// and runs the applications of every framework. Before, the package is installed in a new application of the framework, and in
// those of new-applications.mjs. With --resume hosts are left out that passed with the same files; --write writes the matrix of
// docs/reference/hosts.md.
import { mkdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { afterAll, beforeAll } from 'vitest'
import { startDevProvider, startUpstream } from '../../packages/dev-provider/dist/index.js'
import {
  adapterContract,
  frontChannelLogoutContract,
  generateSessionCookies,
  lateWriteContract,
  proxyContract,
  unconfiguredContract,
} from '../../packages/idp-client/dist/testing.js'
import { repeatedCredentials } from '../../packages/idp-client/test/support/repeated-credentials.ts'
import { sendBytes } from '../../packages/idp-client/test/support/send-bytes.ts'
import { hosts } from '../../tools/hosts.mjs'
import { fromRoot } from '../../tools/lib/run.mjs'
import { pack } from '../../tools/pack.mjs'
import { startChromium } from '../fixtures/support/chromium.ts'
import { Browser as HttpBrowser } from '../support/app-visit.mjs'
import { selectNames, testApplication } from '../support/applications.mjs'
import { visitExample } from '../support/example-visit.mjs'
import { logInByCertificate } from './certificate.mjs'
import { hangUpCases, hangUpOnce } from './hang-ups.mjs'
import { cache, Host, secret, toContractFolder } from './host.mjs'
import { toMcpSteps } from './mcp.mjs'
import { furtherApplications, installInNewApplication, quickApplications } from './new-applications.mjs'
import { readResult, writeMatrix, writeResult } from './results.mjs'
import { toSpaSteps } from './spa.mjs'
import { toTestingSteps } from './testing.mjs'

const { ONLY, RESUME, WRITE } = process.env
const quick = !ONLY

/** Applications with steps of their own. */
const ownSteps = { mcp: toMcpSteps, spa: toSpaSteps, testing: toTestingSteps }

const names = selectNames([...Object.keys(hosts), ...furtherApplications, ...Object.keys(ownSteps)]).filter(
  (name) => !quick || hosts[name]?.quick || quickApplications.includes(name) || name in ownSteps,
)

const toCases = ({ row: { hidesSecondCredential = false } }) => [
  ...adapterContract,
  ...lateWriteContract,
  ...proxyContract,
  repeatedCredentials(hidesSecondCredential),
]

let browser
let provider
let tarball

beforeAll(async () => {
  mkdirSync(cache, { recursive: true })
  provider = await startDevProvider({ https: true, host: '127.0.0.1' })
  tarball = await pack('packages/idp-client', cache)
  if (!quick) browser = await startChromium({ provider })
})

afterAll(async () => {
  await browser?.close()
  await provider?.stop()
  if (WRITE === '1') writeMatrix()
})

/** Variables of the contract application at an address that the provider knows. */
const configured = (base, path = '') => {
  provider.registerApp(base + path)
  return { ...provider.env, APP_BASE_URL: base, IDP_SECRET: secret }
}

/**
 * Runs contract cases at once, on a host with further properties: `url` is where users are, `listensAt` where the application
 * listens, if that is another address.
 */
async function runCases(host, toRun, properties) {
  const { proxyLimits = {}, styles = ['ambient', 'explicit'] } = host.row
  const contractHost = {
    secret,
    styles,
    signIn: (authorizationUrl, user) => provider.login(authorizationUrl, user),
    accessToken: (claims, header = {}) => provider.signAccessToken(claims, { header }),
    publicKeys: () => provider.jwks().keys,
    proxyLimits,
    sendBytes,
    ...properties,
  }
  const settled = await Promise.allSettled(toRun.map(({ run }) => run(contractHost)))
  const failed = settled.flatMap(({ reason }, index) =>
    // `fetch` says only in the cause why it failed, and how much was sent and received before.
    reason
      ? [`${toRun[index].title}: ${String(reason.message).slice(0, 4000)} ${inspect(reason.cause ?? '')}`]
      : [],
  )
  if (failed.length > 0)
    throw new Error(`${failed.length} of ${toRun.length} cases failed\n${failed.join('\n')}`)
}

/** Senders choose the URLs that a server such as react-router-serve logs. */
const withoutAccessLog = (output) => output.replaceAll(/^(?:\[.*\] )?(?:GET|HEAD|POST) .*$/gm, '')

/** Runs the cases on the contract application, with an API of its own behind the proxy. */
async function runContract(host, toEnv, toProperties) {
  const upstream = await startUpstream()
  const toAll = (base) => ({ ...toEnv(base), CONTRACT_UPSTREAM: upstream.url })
  const work = (base, output) => runCases(host, toCases(host), { upstream, ...toProperties(base, output) })
  try {
    await host.serve('contract', toAll, work)
  } finally {
    await upstream.close()
  }
}

const runDirectly = (host, env = {}) =>
  runContract(
    host,
    (base) => ({ ...configured(base), CONTRACT_LOG: '1', ...env }),
    (url, output) => ({ url, log: () => withoutAccessLog(output()) }),
  )

/** Behind a proxy the base URL is that of each request. */
const runBehindProxy = (host, url = 'https://app.example.test') =>
  runContract(
    host,
    () => ({ ...configured(url), APP_BASE_URL: undefined, CONTRACT_PROXY: '1' }),
    (listensAt) => ({ url, listensAt, infersBaseUrl: true }),
  )

const runBelowPath = (host, { basePath, basePathVariable } = host.row) =>
  runContract(
    host,
    (base) => ({
      ...configured(base, basePath),
      ...(basePathVariable && { FRAMEWORK_PUBLIC_BASE_PATH: basePath }),
    }),
    (base) => ({ url: base + basePath }),
  )

/** Sessions in memory, which the provider ends by an iframe. */
const runWithStore = (host) =>
  host.serve(
    'contract',
    (base) => ({ ...configured(base), CONTRACT_STORE: '1' }),
    (url) => runCases(host, frontChannelLogoutContract, { url }),
  )

/** A client without configuration, whose errors the framework shows at `/page`. */
const runUnconfigured = (host, env = {}) =>
  host.serve(
    'contract',
    () => env,
    (url) => runCases(host, unconfiguredContract, { url }),
  )

/** Waits until the server has logged that the variable with the base path is missing, after a request for a protected page. */
async function expectMissingBasePath(host, { basePath } = host.row) {
  const expected = `Set FRAMEWORK_PUBLIC_BASE_PATH=${basePath},`
  await host.serve(
    'contract',
    (base) => ({ ...configured(base), CONTRACT_LOG: '1' }),
    async (base, output) => {
      await fetch(`${base}${basePath}/page`, { redirect: 'manual' })
      const deadline = performance.now() + 30_000
      while (!output().includes(expected)) {
        if (performance.now() > deadline) throw new Error(`the log does not say: ${expected}`)
        await delay(50)
      }
    },
  )
}

/** At an address that APP_BASE_URL does not list, no route acts, pages are served, and a session stays as it is. */
async function expectRefusedAddress(host) {
  const env = {
    ...provider.env,
    APP_BASE_URL: 'https://one.example.test,https://two.example.test',
    IDP_SECRET: secret,
  }
  const now = Date.now() / 1000 - 400
  const cookies = await generateSessionCookies({ user: { sub: 'test|carol' } }, { secret, now })
  const cookie = cookies.map((one) => `${one.name}=${one.value}`).join('; ')
  const expected = {
    '/auth/login': [400, ''],
    '/auth/logout': [400, ''],
    '/auth/callback?code=c&state=s': [400, ''],
    '/public': [200, 'public'],
    '/whoami?style=explicit': [200, '"sub":"test|carol"'],
  }
  await host.serve(
    'contract',
    () => env,
    async (base) => {
      for (const [path, [status, part]] of Object.entries(expected)) {
        const headers = { cookie, 'sec-fetch-mode': 'navigate' }
        const response = await fetch(base + path, { headers, redirect: 'manual' })
        const text = await response.text()
        const isAsExpected = response.status === status && text.includes(part)
        if (!isAsExpected || response.headers.getSetCookie().length > 0 || text.includes('one.example.test'))
          throw new Error(`${path} responds with ${response.status}, ${[...response.headers]}: ${text}`)
      }
    },
  )
}

/** Runs the example; `env` changes its variables, `path` is its base path. */
const serveExample =
  (host) =>
  (env, work, path = '') =>
    host.serve('example', (base) => ({ ...configured(base), ...configured(base, path), ...env }), work)

/** The protected page of the example starts a login; everything else needs a browser. */
async function visitByHttp(base) {
  const user = new HttpBrowser(base)
  const page = await user.get('/account')
  if (!page.location?.includes('/auth/login?returnTo=%2Faccount'))
    throw new Error(`/account responds with ${page.status} ${page.location}`)
  const api = await user.get('/api/me')
  if (api.status !== 401) throw new Error(`/api/me responds with ${api.status}`)
}

async function visit(host) {
  const serve = serveExample(host)
  await serve({}, async (base) => {
    if (!browser) return visitByHttp(base)
    await visitExample(browser, base)
    const module = pathToFileURL(fromRoot(`${toContractFolder(host.row)}/visit.mjs`)).href
    if (host.row.visit) await (await import(module)).visit(browser, base, serve)
  })
}

/** The steps of a host: titles with what they run. */
function toSteps(host) {
  const { basePath, basePathVariable, build = [], contractOnly = false, tests = [], types = [] } = host.row
  const { certificate, hangUps = false, variants = {} } = host.row
  const when = (isWanted, steps) => (isWanted ? steps : {})
  const ofVariant = ([variant, options]) => [
    ...(variant ? [[`passes the contract ${variant}`, () => runDirectly(host, options.env)]] : []),
    ...hangUpCases.map((each) => [
      `serves the next user after ${each.title}, ${variant || 'direct'}`,
      () => hangUpOnce(host, each, options),
    ]),
  ]
  return {
    installs: () => host.install(tarball),
    ...when(types.length > 0, { 'the types of the example resolve': () => host.run(types, 'example') }),
    ...when(build.length > 0, { 'the contract application builds': () => host.run(build, 'contract') }),
    // Messages have their details, which tell the developer what to write.
    ...when(tests.length > 0, {
      'the tests of the adapter pass': () => host.run(tests, 'contract', { NODE_ENV: 'test' }),
    }),
    [`passes the contract, ${toCases(host).length} cases`]: () => runDirectly(host),
    ...when(!contractOnly, {
      'passes the contract behind a proxy that ends TLS': () => runBehindProxy(host),
      'an iframe of the provider ends sessions in a store': () => runWithStore(host),
      'guards deny without a configuration': () => runUnconfigured(host),
      'guards deny without a configuration and NODE_ENV': () =>
        runUnconfigured(host, { NODE_ENV: undefined }),
      'refuses an address that is not listed': () => expectRefusedAddress(host),
    }),
    ...when(basePath, {
      [`the contract application builds below ${basePath}`]: () =>
        host.run(build, 'contract', { CONTRACT_BASE_PATH: basePath }),
      ...when(basePathVariable, {
        [`reports ${basePath} without the variable`]: () => expectMissingBasePath(host),
      }),
      [`passes the contract below ${basePath}`]: () => runBelowPath(host),
    }),
    ...when(
      hangUps && !contractOnly,
      Object.fromEntries([['', {}], ...Object.entries(variants)].flatMap(ofVariant)),
    ),
    ...when(certificate, {
      'logs in with a TLS certificate': () => logInByCertificate(certificate, host.toCommand(certificate)),
    }),
    ...when(!contractOnly && build.length > 0, { 'the example builds': () => host.run(build, 'example') }),
    ...when(!contractOnly, { 'a user of the example logs in and out': () => visit(host) }),
  }
}

for (const name of names.filter((each) => each in ownSteps))
  testApplication(name, ownSteps[name]({ quick, running: () => ({ browser, provider, tarball }) }))

for (const name of names.filter((each) => !(each in ownSteps))) {
  const isHost = name in hosts && (!quick || hosts[name].quick)
  const host = isHost && new Host(name)
  const installs = [
    'a new application installs the package',
    () => installInNewApplication(name, { quick, tarball }),
  ]
  const steps = [
    ...(!quick || quickApplications.includes(name) ? [installs] : []),
    ...(host ? Object.entries(toSteps(host)) : []),
  ]
  const isKnown = RESUME === '1' && isHost && readResult(name)
  testApplication(
    name,
    isKnown ? [['has passed with the same files', async () => {}]] : steps,
    async (hasPassed) => {
      if (host && hasPassed && !quick && !isKnown) writeResult(name, host.readVersions())
    },
  )
}
