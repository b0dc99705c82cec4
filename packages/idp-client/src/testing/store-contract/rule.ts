import type { SessionDataStore, SessionExpiry } from '../../config/options.ts'
import { randomToken } from '../../crypto/random.ts'
import { systemClock } from '../../lib/clock.ts'
import { pause } from '../../lib/pause.ts'
import type { SessionData, StoredInternalData } from '../../session/model/session-data.ts'
import { ContractViolation } from '../adapter-contract/claim.ts'
import type { StoreContractCase } from '../store-contract.ts'

type OptionalMember = Exclude<keyof SessionDataStore, 'get' | 'set' | 'delete'>

type With<M extends OptionalMember> = SessionDataStore & Required<Pick<SessionDataStore, M>>

/** Returns the cases for a store, which may delete expired sessions itself (`expires`): none if it lacks a method that they need. */
export type Rules = (store: SessionDataStore, expires: boolean) => readonly StoreContractCase[]

function has<M extends OptionalMember>(store: SessionDataStore, members: readonly M[]): store is With<M> {
  return members.every((member) => typeof store[member] === 'function')
}

/** Creates rules by their titles for stores that have the methods `needs`. */
export function rules<M extends OptionalMember>(
  needs: readonly M[],
  runs: Readonly<Record<string, (store: With<M>) => Promise<void>>>,
): Rules {
  return (store) =>
    has(store, needs) ? Object.entries(runs).map(([title, run]) => ({ title, run: () => run(store) })) : []
}

/** The same for stores that delete expired sessions themselves. */
export const expiryRules: typeof rules = (needs, runs) => (store, expires) =>
  expires ? rules(needs, runs)(store, expires) : []

/** Creates an id like those of the library. */
export const newId = (): string => randomToken(32)

/** Ends of names: each has a meaning in a pattern, a query language or a key layout, or differs in its encoding only. */
export const ENDS: readonly string[] = [
  ...['', ...`aA*?%_'"\\:/| \né`],
  ...['{}', '{a}', '[a]', "' or '1'='1", 'e\u0301', '👩‍👧'],
]

/** An expiry that no case reaches. */
export const later = (): { expiresAt: number } => ({ expiresAt: systemClock() + 3600 })

/** An expiry that a case can wait for. */
export const soon = (): { expiresAt: number } => ({ expiresAt: systemClock() + 1 })

/** An expiry that has passed. */
export const over = (): { expiresAt: number } => ({ expiresAt: systemClock() - 10 })

/**
 * Creates a session of a unique user, without `sid` unless one is passed; `members` override its properties.
 */
export function createSession(
  internal: Partial<StoredInternalData> = {},
  members: Partial<SessionData> = {},
): SessionData {
  const sub = internal.sub ?? `sub ${randomToken(8)}`
  const whole: StoredInternalData = { createdAt: systemClock(), sub, ...internal }
  return {
    user: { sub },
    tokenSet: { accessToken: randomToken(), expiresAt: later().expiresAt },
    ...members,
    internal: whole,
  }
}

/** Stores a session, by default one that no case outlives, and returns its id. */
export async function storeSession(
  store: SessionDataStore,
  session: SessionData = createSession(),
  expiry: SessionExpiry = later(),
): Promise<string> {
  const id = newId()
  await store.set(id, session, expiry)
  return id
}

export async function isThere(store: SessionDataStore, id: string): Promise<boolean> {
  // A store written in JavaScript may return `undefined`.
  return ((await store.get(id)) ?? null) !== null
}

/** Time limit in milliseconds that only ends a hanging run. */
const PATIENCE = 30_000
const INTERVAL = 100

/** Waits until a condition is true, regardless of the store's speed; `rule` describes it. */
export async function until(happened: () => Promise<boolean>, rule: string): Promise<void> {
  for (let waited = 0; waited <= PATIENCE; waited += INTERVAL) {
    if (await happened()) return
    await pause(INTERVAL)
  }
  throw new ContractViolation(`${rule}: still not after ${PATIENCE / 1000} seconds`)
}

/** Waits until records with the expiry `soon` have expired by the store's clock. */
export async function soonIsOver(store: SessionDataStore): Promise<void> {
  const id = newId()
  await store.set(id, createSession(), soon())
  await until(async () => !(await isThere(store, id)), 'a session whose time is over is gone')
}

/** Serializes JSON with sorted properties. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'nothing'
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`,
  )
  return `{${members.sort().join(',')}}`
}

/** Asserts equality as JSON, regardless of the order of properties. */
export function claimSame(actual: unknown, expected: unknown, rule: string): void {
  const [is, shouldBe] = [canonical(actual), canonical(expected)]
  if (is === shouldBe) return
  const at = [...shouldBe].findIndex((character, index) => character !== is[index])
  throw new ContractViolation(
    `${rule}: expected …${shouldBe.slice(Math.max(0, at - 20), at + 40)}, got …${is.slice(Math.max(0, at - 20), at + 40)}`,
  )
}
