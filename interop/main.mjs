// Runs the scenarios; `run.mjs` starts it with the certificate of the servers trusted.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fromRoot } from '../tools/lib/run.mjs'
import { startKeycloak } from './providers/keycloak.mjs'
import { startSpring } from './providers/spring.mjs'
import { createContext } from './scenarios/context.mjs'
import { scenarios } from './scenarios/index.mjs'
import { hosts } from './support/application.mjs'
import { cacheFolder, stopPrograms } from './support/program.mjs'
import { startRedis } from './support/redis.mjs'
import { writeResults } from './support/results.mjs'

const providers = { keycloak: startKeycloak, spring: startSpring }

const counts = { ok: 0, failed: 0, 'not offered': 0 }

/** Prints how a scenario ended; `reason` is why it was not run. Returns that for the page of results. */
function ended(outcome, { title }, { provider, host }, reason) {
  counts[outcome] += 1
  const text = reason === undefined ? title : `${title} (${reason})`
  console.log(`${outcome.padEnd(12)} ${provider.name.padEnd(9)} ${host.padEnd(5)} ${text}`)
  return { title, host, outcome, reason }
}

/** Names of providers and hosts choose them, anything else is a part of the titles to run. */
function readArguments(args) {
  const chosen = (known) => {
    const named = Object.keys(known).filter((name) => args.includes(name))
    return named.length > 0 ? named : Object.keys(known)
  }
  const part = args.find((arg) => !(arg in providers) && !(arg in hosts) && arg !== '--write') ?? ''
  const hostNames = chosen(hosts)
  const isWritten = args.includes('--write')
  if (isWritten && (part !== '' || hostNames.length < Object.keys(hosts).length))
    throw new Error('--write needs every scenario on every host')
  return {
    isWritten,
    providerNames: chosen(providers),
    hostNames,
    wanted: scenarios.filter(({ title }) => title.includes(part)),
  }
}

/** The names that a provider says it lacks must be needed by a scenario, and must not be in its metadata. */
async function checkLacks({ issuer, lacks, title }) {
  const response = await fetch(`${issuer}/.well-known/openid-configuration`)
  const metadata = await response.json()
  for (const [name, { shows }] of Object.entries(lacks)) {
    if (!scenarios.some(({ needs = [] }) => needs.includes(name)))
      throw new Error(`no scenario needs ${name}`)
    if (shows && !shows(metadata)) throw new Error(`${title} offers ${name} according to its metadata`)
  }
}

/** Keeps what the applications have printed; returns where. */
function keepOutput(name, text) {
  const folder = join(cacheFolder, 'logs')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${name.replace(/\W+/g, '-')}.log`)
  writeFileSync(file, text)
  return relative(fromRoot('.'), file)
}

async function runScenario(scenario, run) {
  const { provider, host } = run
  const lack = scenario.needs?.find((need) => need in provider.lacks)
  if (lack) return ended('not offered', scenario, run, provider.lacks[lack].reason)
  const context = createContext(run)
  try {
    await scenario.run(context)
    return ended('ok', scenario, run)
  } catch (error) {
    const outcome = ended('failed', scenario, run)
    const file = keepOutput(`${provider.name} ${host} ${scenario.title}`, context.output())
    console.log(`${error.message.replace(/^/gm, '    ')}\n    output of the application: ${file}`)
    return outcome
  } finally {
    await context.stop()
  }
}

async function runProvider(name, { hostNames, isWritten, redisUrl, tls, wanted }) {
  const provider = await providers[name](tls)
  console.log(`${provider.title} at ${provider.issuer}`)
  try {
    await checkLacks(provider)
    const outcomes = []
    for (const host of hostNames) {
      for (const scenario of wanted) {
        const run = { provider, host, redisUrl, certificate: tls.certificate }
        outcomes.push(await runScenario(scenario, run))
      }
    }
    if (isWritten) writeResults(provider.title, outcomes)
  } finally {
    await provider.stop()
  }
}

async function main() {
  const { hostNames, isWritten, providerNames, wanted } = readArguments(process.argv.slice(2))
  const tls = { key: process.env.INTEROP_KEY, certificate: process.env.INTEROP_CERTIFICATE }
  for (const host of hostNames) await hosts[host].build()
  const redis = await startRedis()
  // One server at a time: both together would need a gigabyte.
  for (const name of providerNames)
    await runProvider(name, { hostNames, isWritten, redisUrl: redis.url, tls, wanted })
  console.log(`${counts.ok} ok, ${counts.failed} failed, ${counts['not offered']} not offered by the server`)
  process.exitCode = counts.failed === 0 && counts.ok > 0 ? 0 : 1
}

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await stopPrograms()
    process.exit(1)
  })
}

try {
  await main()
} finally {
  await stopPrograms()
}
