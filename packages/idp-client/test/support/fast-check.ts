import fc from 'fast-check'

/** How many inputs a property is checked with; the scheduled workflow sets the variable to 100000. */
export const RUNS: number = Number(process.env['FAST_CHECK_RUNS'] ?? 500)

if (!Number.isInteger(RUNS) || RUNS < 1) throw new Error('FAST_CHECK_RUNS must be an integer above 0')

fc.configureGlobal({ numRuns: RUNS })

/** The number of runs of a property of which one run is slow. */
export const runsDividedBy = (divisor: number): number => Math.ceil(RUNS / divisor)

export { fc }
