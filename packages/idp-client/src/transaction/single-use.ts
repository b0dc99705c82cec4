import { monotonic } from '../lib/clock.ts'
import { Lru } from '../lib/lru.ts'
import { processWide, toKey } from '../lib/registry.ts'
import { sweeping } from '../lib/request-scope.ts'
import { SingleFlight } from '../lib/shared-run.ts'

/** The result of a callback. Not a promise: that would keep the first request reachable. */
interface Ended {
  /** Resolves to the result, or rejects. */
  readonly result: () => Promise<unknown>
  /** When the callback ended. Milliseconds of the monotonic clock: a change of the system clock extends no result. */
  readonly at: number
}

/**
 * How long identical requests get the result of a callback, in milliseconds. A browser that sends a request twice does so
 * within moments, and results contain tokens.
 */
const JOIN_MILLISECONDS = 10_000
/** Maximum number of results. */
const MAX_RESULTS = 1000
/** Maximum number of keys that count as used. */
const MAX_USED = 20_000

const isOver = ({ at }: Ended): boolean => monotonic() >= at + JOIN_MILLISECONDS

/** Deletes results that are over. Returns whether any are left. */
function forgetOld(ended: Lru<string, Ended>): boolean {
  for (const [key, each] of ended.entries()) if (isOver(each)) ended.delete(key)
  return ended.size > 0
}

const callbacks = () =>
  processWide('state:callbacks/5', () => {
    const ended = new Lru<string, Ended>(MAX_RESULTS)
    const forgetLater = sweeping(JOIN_MILLISECONDS, () => forgetOld(ended))
    const used = new Lru<string, true>(MAX_USED)
    return { running: new SingleFlight<unknown>(), ended, used, forgetLater }
  })

export type Joined<T> = { readonly kind: 'result'; readonly result: T } | { readonly kind: 'replayed' }

export interface SingleUse {
  /** The key that may be used once. It must contain a secret of one browser, or two users could share a result. */
  readonly key: string
  /** Tells an identical repetition from another use of the same key. */
  readonly request: string
  /** How long an identical repetition waits for the result of the first request, in milliseconds. */
  readonly patience: number
}

/* Created outside the functions below, so that their closures contain nothing of the request. */
const resolved = (result: unknown) => async (): Promise<unknown> => result
const rejected = (error: unknown) => (): Promise<never> => Promise.reject(error)

/**
 * Runs `work` once per key in this process. An identical request shares the result of the first one, also for a short
 * time after its end; any other or later use of the key is `replayed`.
 */
export async function onlyOnce<T>(
  { key, patience, request }: SingleUse,
  work: () => Promise<T>,
): Promise<Joined<T>> {
  const { ended, forgetLater, running, used } = callbacks()
  const name = toKey(key, request)
  const known = ended.get(name)
  if (known && !isOver(known)) return { kind: 'result', result: (await known.result()) as T }
  const joined = running.get(name)
  if (joined) {
    const outcome = await joined.join(patience)
    // Without one, the first request is slow or lost, and may have redeemed the code, which nobody may send again.
    return outcome ? { kind: 'result', result: outcome() as T } : { kind: 'replayed' }
  }
  if (used.get(key)) return { kind: 'replayed' }
  used.set(key, true)
  const keep = (result: Ended['result']): void => {
    ended.set(name, { result, at: monotonic() })
    forgetLater()
  }
  const task = async (): Promise<T> => {
    try {
      const made = await work()
      keep(resolved(made))
      return made
    } catch (error) {
      keep(rejected(error))
      throw error
    }
  }
  const result = await running.run(name, task, patience)
  return { kind: 'result', result: result as T }
}
