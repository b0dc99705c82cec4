import type { SessionDataStore, SessionExpiry } from '../../config/options.ts'
import { identify } from '../../lib/identify.ts'
import { Lru } from '../../lib/lru.ts'
import { processWide, toKey } from '../../lib/registry.ts'
import { SingleFlight } from '../../lib/single-flight.ts'
import { askStore } from './store-call.ts'

/** Maximum number of processed names of all stores: only the provider, which signs logout tokens, adds names. */
const MAX_PROCESSED = 10_000

/** How often a task is tried if it fails although the store can remember its name. */
const MAX_ATTEMPTS = 3

/** Names that count no more, with when they may be forgotten. Only of stores that remember no names. */
const processed = (): Lru<string, number> => processWide('mark:processed-once/2', () => new Lru(MAX_PROCESSED))

const flights = (): SingleFlight<boolean> => processWide('queue:processing-once/1', () => new SingleFlight())

export interface OnceRequest extends SessionExpiry {
  /** Identifies the task and its client. Names are unique across clients. */
  readonly name: string
  /** Seconds since the epoch. */
  readonly now: number
}

async function onceInProcess(
  key: string,
  { expiresAt, now }: OnceRequest,
  work: () => Promise<void>,
): Promise<boolean> {
  if ((processed().get(key) ?? now) > now) return false
  await work()
  processed().set(key, expiresAt)
  return true
}

/**
 * A name in a store cannot be given back, so each attempt takes the next one, and the one that succeeds takes the rest.
 * An attempt that failed, or whose process died, leaves names for another; after a success there are none.
 */
async function onceInStore(
  once: (name: string) => Promise<boolean>,
  { name }: OnceRequest,
  work: () => Promise<void>,
): Promise<boolean> {
  const names = Array.from({ length: MAX_ATTEMPTS }, (_, attempt) => `${name}.${attempt}`)
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
 * Carries out an order that counts once, until `expiresAt`: in every process if the store remembers names, else in this
 * one. False when it was carried out before. What fails is thrown, and may be tried again; an order that comes again
 * meanwhile shares the outcome.
 */
export async function processOnce(
  store: SessionDataStore,
  order: OnceRequest,
  work: () => Promise<void>,
): Promise<boolean> {
  const { name, expiresAt } = order
  // By store, since the provider may send one notice to several applications of a client, each with sessions of its own.
  const key = toKey(identify(store), name)
  const once = store.once?.bind(store)
  return flights().run(key, () =>
    once
      ? onceInStore((part) => askStore('once', () => once(part, { expiresAt })), order, work)
      : onceInProcess(key, order, work),
  )
}
