/** Calls that run at the same time: what a server under load does. */
const IN_FLIGHT = 64
/** Batches before the first round; fewer if they take longer than that many rounds. */
const WARM_UP = 4

/**
 * @typedef {object} Candidate
 * @property {string} name
 * @property {string} [work] what it does, if the candidates do different work; only candidates with the same work compete
 * @property {() => unknown} run does the work once
 * @property {() => number} [provider] milliseconds that the stub of the provider has used so far; not counted
 *
 * @typedef {object} Measured
 * @property {string} name
 * @property {string} [work]
 * @property {number} micros wall time of one call, median of the rounds
 * @property {number} ratio to the floor: median of the ratios in each round
 * @property {number} low tenth percentile of the ratios
 * @property {number} high ninetieth percentile of the ratios
 * @property {number} cpu ratio of the CPU time, all threads included
 */

async function batch(run, calls) {
  for (let done = 0; done < calls; done += IN_FLIGHT) {
    const size = Math.min(IN_FLIGHT, calls - done)
    await Promise.all(Array.from({ length: size }, () => run()))
  }
}

async function round({ provider = () => 0, run }, calls) {
  const before = { cpu: process.cpuUsage(), provider: provider(), wall: performance.now() }
  await batch(run, calls)
  const wall = performance.now() - before.wall
  const { system, user } = process.cpuUsage(before.cpu)
  const ours = provider() - before.provider
  return { wall: ((wall - ours) / calls) * 1000, cpu: (user + system - ours * 1000) / calls }
}

export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

/** Warms up, and returns the number of calls that take about that many milliseconds: a multiple of those in flight. */
async function callsFor(candidate, milliseconds) {
  const deadline = performance.now() + WARM_UP * milliseconds
  for (let at = 0; at < WARM_UP && performance.now() < deadline; at++) await batch(candidate.run, IN_FLIGHT)
  const { wall } = await round(candidate, IN_FLIGHT)
  const batches = Math.round((milliseconds * 1000) / Math.max(wall, 1) / IN_FLIGHT)
  return IN_FLIGHT * Math.min(Math.max(batches, 1), 60)
}

/**
 * Measures candidates interleaved, in an order that rotates with each round, so that other load on the machine affects all of
 * them alike. Each is compared with the last candidate up to itself that is named `floor`.
 *
 * @param {readonly Candidate[]} candidates
 * @param {{ rounds: number, milliseconds: number }} effort rounds, and milliseconds of each candidate in a round
 * @returns {Promise<readonly Measured[]>}
 */
export async function compare(candidates, { milliseconds, rounds }) {
  const calls = []
  for (const candidate of candidates) calls.push(await callsFor(candidate, milliseconds))
  const results = candidates.map(() => [])
  for (let at = 0; at < rounds; at++) {
    for (let step = 0; step < candidates.length; step++) {
      const index = (at + step) % candidates.length
      results[index][at] = await round(candidates[index], calls[index])
    }
  }
  return candidates.map(({ name, work }, index) => {
    const base = results[candidates.slice(0, index + 1).findLastIndex((each) => each.name === 'floor')]
    const ratios = results[index].map(({ wall }, at) => wall / base[at].wall)
    return {
      name,
      work,
      micros: percentile(
        results[index].map(({ wall }) => wall),
        0.5,
      ),
      ratio: percentile(ratios, 0.5),
      low: percentile(ratios, 0.1),
      high: percentile(ratios, 0.9),
      cpu: percentile(
        results[index].map(({ cpu }, at) => cpu / base[at].cpu),
        0.5,
      ),
    }
  })
}
