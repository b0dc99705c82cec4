import type { SessionDataStore, SessionExpiry } from '../../config/options.ts'
import { identify } from '../../lib/identify.ts'
import { Lru } from '../../lib/lru.ts'
import { processWide, toKey } from '../../lib/registry.ts'
import { SingleFlight } from '../../lib/single-flight.ts'
import { askStore } from './store-call.ts'

/** Maximum number of processed names of all stores: only the provider, which signs logout tokens, adds names. */
const MAX_PROCESSED = 10_000

/** How often a task is tried if it fails although the store can remember its name. */
const ATTEMPTS = 3

interface Processing {
  /** The tasks that run. */
  readonly running: SingleFlight<boolean>
  /** Names of stores that remember none, with when they may be forgotten, in seconds since the epoch. */
  readonly processed: Lru<string, number>
}

const processing = (): Processing =>
  processWide('mark:processed-once/4', () => ({
    running: new SingleFlight(),
    processed: new Lru(MAX_PROCESSED),
  }))

export interface OnceRequest extends SessionExpiry {
  /** Identifies the task and its client. Names are unique across clients. */
  readonly name: string
  /** Seconds since the epoch. */
  readonly now: number
  /** How long a call with the same name waits before it runs `work` itself, in milliseconds. */
  readonly patience: number
}

async function onceInProcess(
  key: string,
  { expiresAt, now }: OnceRequest,
  work: () => Promise<void>,
): Promise<boolean> {
  const { processed } = processing()
  if ((processed.get(key) ?? now) > now) return false
  await work()
  processed.set(key, expiresAt)
  return true
}

/**
 * Runs `work` unless another process did. A name in a store cannot be released, so each attempt uses the next one, and the
 * attempt that succeeds uses the rest. An attempt that failed, or whose process died, leaves names for another.
 */
async function onceInStore(
  once: (name: string) => Promise<boolean>,
  { name }: OnceRequest,
  work: () => Promise<void>,
): Promise<boolean> {
  const names = Array.from({ length: ATTEMPTS }, (_, attempt) => `${name}.${attempt}`)
  while (names.length > 0) {
    const taken = await once(names.shift() ?? name)
    if (!taken) continue
    await work()
    await Promise.all(names.map(once))
    return true
  }
  return false
}

/**
 * Runs `work` once for a name, until `expiresAt`: once in all processes if the store remembers names, otherwise once in
 * this one. Returns false if it ran before. Throws what `work` or the store throws, and may then be called again; a call
 * with the same name while it runs shares the outcome.
 */
export async function processOnce(
  store: SessionDataStore,
  request: OnceRequest,
  work: () => Promise<void>,
): Promise<boolean> {
  const { name, expiresAt } = request
  // By store: the provider may send one logout token to several applications of a client, each with its own sessions.
  const key = toKey(identify(store), name)
  const once = store.once?.bind(store)
  const task = (): Promise<boolean> =>
    once
      ? onceInStore((part) => askStore('once', () => once(part, { expiresAt })), request, work)
      : onceInProcess(key, request, work)
  return processing().running.run(key, task, { patience: request.patience })
}
