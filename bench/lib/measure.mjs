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

const isFloor = ({ name }) => name === 'floor'
const isOurs = ({ name }) => name.startsWith('idp-client')

/** Floors and builds of this library. */
export const toOwn = (candidates) => candidates.filter((each) => isFloor(each) || isOurs(each))

/** Floors and other libraries. */
function toOthers(candidates) {
  const others = candidates.filter((each) => !isOurs(each))
  return others.slice(0, others.findLastIndex((each) => !isFloor(each)) + 1)
}

/** The place of the other build that does the same work, or -1. */
const findBefore = (candidates, { name, work }) =>
  isOurs({ name })
    ? candidates.findIndex((each) => each.name === 'idp-client-before' && each.work === work)
    : -1

/** Measures candidates in interleaved rounds. Each is compared with the last candidate up to itself that is named `floor`. */
async function measureTogether(candidates, { calls, rounds, warmUp = WARM_UP }) {
  for (const { run } of candidates) await runCalls(run, warmUp)
  const results = await interleave(candidates, rounds, (each) => measureCalls(each, calls))
  return candidates.map((candidate, index) => {
    const costs = results[index]
    const floor = candidates.slice(0, index + 1).findLastIndex(isFloor)
    const before = findBefore(candidates, candidate)
    const { name, work } = candidate
    const measured = {
      name,
      work,
      micros: lowerQuartile(costs),
      ratio: pairedRatio(costs, results[floor]),
      toBefore: before < 0 ? undefined : pairedRatio(costs, results[before]),
    }
    return [candidate, measured]
  })
}

/**
 * Measures candidates: first the floors and this library, then the floors and the others. The garbage of one product makes the
 * engine collect more than that; if it finds no object of another product, it discards what it has optimized for such objects.
 *
 * @param {readonly Candidate[]} all
 * @param {Effort} effort
 * @returns {Promise<readonly Measured[]>}
 */
export async function compare(all, effort) {
  const own = await measureTogether(toOwn(all), effort)
  const others = effort.isAgainst ? [] : await measureTogether(toOthers(all), effort)
  const measured = new Map([...others, ...own])
  return all.flatMap((each) => measured.get(each) ?? [])
}
