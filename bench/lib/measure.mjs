/** Calls that run at the same time: what a server under load does. */
const IN_FLIGHT = 64
/** Calls before the first one that counts: until then the engine is still optimizing most code, at 2 to 3 times the cost. */
const WARM_UP = 6000

/**
 * @typedef {object} Candidate
 * @property {string} name
 * @property {string} [work] what it does, if the candidates do different work; only candidates with the same work compete
 * @property {() => unknown} run does the work once
 * @property {() => number} [provider] microseconds of CPU time that the stub of the provider has used so far; not counted
 *
 * @typedef {object} Effort
 * @property {number} rounds
 * @property {number} calls of each candidate in a round
 * @property {number} [warmUp] calls before the first one that counts; default: 6000
 * @property {boolean} [isAgainst] whether two builds of the library are compared: then other libraries are left out
 *
 * @typedef {object} Measured
 * @property {string} name
 * @property {string} [work]
 * @property {number} micros CPU time of one call, all threads included: the lower quartile of the rounds
 * @property {number} ratio to the floor: the median of the ratios within a round
 * @property {number} [toBefore] such a ratio to the other build
 */

async function runCalls(run, calls) {
  for (let done = 0; done < calls; done += IN_FLIGHT)
    await Promise.all(Array.from({ length: Math.min(IN_FLIGHT, calls - done) }, () => run()))
}

/** Returns the CPU time of one call. What the calls leave behind is collected within it. */
async function measureCalls({ provider = () => 0, run }, calls) {
  const before = provider()
  const start = process.cpuUsage()
  await runCalls(run, calls)
  globalThis.gc({ type: 'minor' })
  const { system, user } = process.cpuUsage(start)
  return (user + system - (provider() - before)) / calls
}

export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

/** Other load on the machine only adds to a time, so the lower quartile is closer to the cost than the median. */
export const lowerQuartile = (values) => percentile(values, 0.25)

/**
 * Runs `measure` for each item in every round, in an order that rotates and changes its direction, so that neither other load
 * nor what runs before favours one of them.
 */
export async function interleave(items, rounds, measure) {
  const results = items.map(() => [])
  for (let at = 0; at < rounds; at++)
    for (let step = 0; step < items.length; step++) {
      const place = (at + step) % items.length
      const index = at % 2 === 0 ? place : items.length - 1 - place
      results[index][at] = await measure(items[index])
    }
  return results
}

/** Returns the median ratio within a round: what slows down one round slows down all candidates in it. */
export const pairedRatio = (values, base) =>
  percentile(
    values.map((value, round) => value / base[round]),
    0.5,
  )

const isCompared = ({ name }) => name === 'floor' || name.startsWith('idp-client')

/** The place of the other build that does the same work, or -1. */
const findBefore = (candidates, { name, work }) =>
  name.startsWith('idp-client')
    ? candidates.findIndex((each) => each.name === 'idp-client-before' && each.work === work)
    : -1

/**
 * Measures candidates in interleaved rounds. Each is compared with the last candidate up to itself that is named `floor`.
 *
 * @param {readonly Candidate[]} all
 * @param {Effort} effort
 * @returns {Promise<readonly Measured[]>}
 */
export async function compare(all, { calls, isAgainst, rounds, warmUp = WARM_UP }) {
  const candidates = isAgainst ? all.filter(isCompared) : all
  for (const { run } of candidates) await runCalls(run, warmUp)
  const results = await interleave(candidates, rounds, (each) => measureCalls(each, calls))
  return candidates.map((candidate, index) => {
    const { name, work } = candidate
    const costs = results[index]
    const floor = candidates.slice(0, index + 1).findLastIndex((each) => each.name === 'floor')
    const before = findBefore(candidates, candidate)
    return {
      name,
      work,
      micros: lowerQuartile(costs),
      ratio: pairedRatio(costs, results[floor]),
      toBefore: before < 0 ? undefined : pairedRatio(costs, results[before]),
    }
  })
}
