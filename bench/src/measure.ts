/** One thing to measure; `run` does it once. */
export interface Candidate {
  readonly name: string
  run(): unknown
}

const ROUNDS = 31
const WARM_UP = 2000
const PER_ROUND = 640
const IN_FLIGHT = 64

async function round({ run }: Candidate): Promise<number> {
  const start = process.hrtime.bigint()
  for (let done = 0; done < PER_ROUND; done += IN_FLIGHT) {
    await Promise.all(Array.from({ length: IN_FLIGHT }, () => run()))
  }
  return Number(process.hrtime.bigint() - start) / PER_ROUND / 1000
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Runs the candidates interleaved and prints microseconds per call and the ratio to the first, which is the floor. */
export async function compare(title: string, candidates: readonly Candidate[]): Promise<void> {
  for (const { run } of candidates) for (let done = 0; done < WARM_UP; done++) await run()
  const times = candidates.map(() => [] as number[])
  for (let at = 0; at < ROUNDS; at++) {
    for (const [index, candidate] of candidates.entries()) times[index]?.push(await round(candidate))
  }
  const sorted = times.map((list) => [...list].sort((a, b) => a - b))
  const floor = percentile(sorted[0] ?? [], 0.5)
  console.log(`\n${title} (${IN_FLIGHT} in flight)`)
  for (const [index, { name }] of candidates.entries()) {
    const list = sorted[index] ?? []
    const [low, median, high] = [0.1, 0.5, 0.9].map((share) => percentile(list, share)) as [
      number,
      number,
      number,
    ]
    const spread = `${low.toFixed(1)} to ${high.toFixed(1)}`
    console.log(
      `  ${name.padEnd(28)} ${median.toFixed(1).padStart(8)} µs  × ${(median / floor).toFixed(2)}  (${spread})`,
    )
  }
}
