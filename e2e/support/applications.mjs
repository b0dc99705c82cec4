import { afterAll, beforeAll, describe, test } from 'vitest'

/** Returns the names that the variable ONLY selects: some separated by commas, or all. An unknown one is an error. */
export function selectNames(known) {
  const { ONLY = 'all' } = process.env
  if (ONLY === 'all') return known
  const unknown = ONLY.split(',').filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(', ')}; known: ${known.join(', ')}`)
  return ONLY.split(',')
}

/** Two applications at a time, unless a file allows more: the others wait in their first hook. */
const waiting = []
let free = 2
export const allowAtOnce = (count) => {
  free = count
}
const takeTurn = () => (free > 0 ? Promise.resolve(free--) : new Promise((resolve) => waiting.push(resolve)))
const endTurn = () => {
  const next = waiting.shift()
  if (next) next()
  else free += 1
}

/**
 * Declares the suite of an application, whose steps are tests. They run one after the other; after a failure the others fail.
 *
 * @param {string} name
 * @param {[string, () => Promise<unknown>][]} steps titles with what they run
 * @param {(hasPassed: boolean) => Promise<void>} [end] runs after the steps
 */
export function testApplication(name, steps, end) {
  describe.concurrent(name, () => {
    let failed
    beforeAll(takeTurn)
    afterAll(async () => {
      endTurn()
      await end?.(failed === undefined)
    })
    for (const [title, run] of steps)
      test.sequential(title, async () => {
        if (failed) throw new Error(`did not run, because this failed: ${failed}`)
        failed = title
        await run()
        failed = undefined
      })
  })
}
