// The cost of a login in processes with and without a loader hook (`module.register`).
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { percentile } from './measure.mjs'

const path = (name) => fileURLToPath(new URL(`../programs/${name}`, import.meta.url))

const MAX_ROUNDS = 21
/** Logins in a round of the full run. */
const LOGINS = 100
/** How many rounds run before the first one that counts. */
const WARM_UP = 3

function start(product, preload) {
  const execArgv = preload ? ['--import', path(preload)] : []
  const child = fork(path('login.mjs'), [product], { execArgv })
  return {
    async measure(count) {
      child.send(count)
      const [micros] = await once(child, 'message')
      return micros
    },
    stop: () => child.disconnect(),
  }
}

/** Returns the microseconds of a login without and with a hook, and the difference: medians of paired rounds. */
export async function measureLoaderHook(product, { milliseconds, rounds }) {
  const processes = [start(product), start(product, 'register-loader-hook.mjs')]
  try {
    const count = Math.ceil((LOGINS * milliseconds) / 120)
    for (const each of processes) await each.measure(WARM_UP * count)
    const results = []
    for (let at = 0; at < Math.min(rounds, MAX_ROUNDS); at++) {
      const order = at % 2 === 0 ? [0, 1] : [1, 0]
      const pair = []
      for (const index of order) pair[index] = await processes[index].measure(count)
      results.push(pair)
    }
    const median = (toValue) => Math.round(percentile(results.map(toValue), 0.5))
    return {
      'without a hook, µs': median(([without]) => without),
      'with a hook, µs': median(([, hooked]) => hooked),
      'added, µs': median(([without, hooked]) => hooked - without),
    }
  } finally {
    for (const each of processes) each.stop()
  }
}
