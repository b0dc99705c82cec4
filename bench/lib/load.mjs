// Requests to a server under load, with the CPU time that the server needs for them.
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { get } from 'node:http'
import autocannon from 'autocannon'
import { interleave, lowerQuartile, pairedRatio } from './measure.mjs'
import { user } from './provider.mjs'

const CONNECTIONS = 16
/** Requests to each server before the first one that counts. */
const WARM_UP = 6000

/** CPU time of a process in microseconds, all threads included. `schedstat` counts nanoseconds, `stat` ticks of 10 ms. */
function readCpuTime(pid) {
  const tasks = readdirSync(`/proc/${pid}/task`)
  const times = tasks.map((task) => readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8'))
  return times.reduce((sum, text) => sum + Number(text.split(' ', 1)[0]), 0) / 1000
}

/** Sends one request, and checks that the response names the user exactly if its handler reads the session. */
async function mustRespond({ headers, name, readsSession = false, url }) {
  const [response] = await once(get(url, { headers }), 'response')
  const text = (await response.setEncoding('utf8').toArray()).join('')
  const found = text.includes(user.sub)
  if (response.statusCode !== 200 || found !== readsSession)
    throw new Error(`bench: ${name} responded ${response.statusCode} ${found ? 'with' : 'without'} a user`)
}

/** Sends that many requests and returns CPU microseconds of the server per request, and requests per second. */
async function load({ headers, pid, url }, amount) {
  const before = readCpuTime(pid)
  const start = performance.now()
  let end = start
  const run = autocannon({ url, headers, amount, connections: CONNECTIONS, sampleInt: 10 })
  run.on('response', () => {
    end = performance.now()
  })
  const result = await run
  if (result['2xx'] !== amount)
    throw new Error(
      `bench: ${url} responded ${JSON.stringify(result.statusCodeStats)}, ${result.errors} errors`,
    )
  return { cpu: (readCpuTime(pid) - before) / amount, rate: (amount * 1000) / (end - start) }
}

/**
 * @typedef {object} Target
 * @property {string} name
 * @property {string} [work] what its handler does, beside the middleware
 * @property {number} pid process of the server
 * @property {string} url
 * @property {Record<string, string>} headers
 * @property {boolean} [readsSession] whether the response names the user
 * @property {Target} [base] what it is compared with; without one it is a base itself
 */

/**
 * Loads servers in turn, in an order that rotates with each round, and compares each with its base.
 *
 * @param {readonly Target[]} targets
 * @param {{ rounds: number, amount: number }} effort requests to each server in a round
 */
export async function compareServers(targets, { amount, rounds }) {
  for (const target of targets) {
    await mustRespond(target)
    await load(target, WARM_UP)
  }
  const results = await interleave(targets, rounds, (target) => load(target, amount))
  const costs = results.map((each) => each.map(({ cpu }) => cpu))
  return targets.map(({ base, name, work }, index) => {
    const baseCosts = costs[base ? targets.indexOf(base) : index]
    const micros = lowerQuartile(costs[index])
    return {
      ...{ name, work, isBase: base === undefined, micros },
      ratio: pairedRatio(costs[index], baseCosts),
      added: micros - lowerQuartile(baseCosts),
      rate: -lowerQuartile(results[index].map(({ rate }) => -rate)),
    }
  })
}
