import type { SessionDataStore } from '../../config/options.ts'
import { randomToken } from '../../crypto/random.ts'
import { systemClock } from '../../lib/clock.ts'
import { pause } from '../../lib/pause.ts'
import type { SessionData, StoredInternalData } from '../../session/model/session-data.ts'
import { ContractViolation } from '../adapter-contract/claim.ts'

export type OptionalMember = Exclude<keyof SessionDataStore, 'get' | 'set' | 'delete'>

type With<M extends OptionalMember> = SessionDataStore & Required<Pick<SessionDataStore, M>>

/** One rule of the store contract. `expires`: only for stores that forget by themselves what is over. */
export interface Rule {
  readonly title: string
  readonly expires: boolean
  /** The rule for this store; null when the store lacks a member that it is about. */
  bind(store: SessionDataStore): (() => Promise<void>) | null
}

export interface RuleOptions<M extends OptionalMember> {
  readonly title: string
  /** Members that the rule is about. */
  readonly needs?: readonly M[]
  readonly expires?: boolean
}

function has<M extends OptionalMember>(store: SessionDataStore, members: readonly M[]): store is With<M> {
  return members.every((member) => typeof store[member] === 'function')
}

export function rule<M extends OptionalMember = never>(
  { expires = false, needs = [], title }: RuleOptions<M>,
  run: (store: With<M>) => Promise<void>,
): Rule {
  return { title, expires, bind: (store) => (has(store, needs) ? () => run(store) : null) }
}

/** As the library makes them. */
export const newId = (): string => randomToken(32)

/** An end that no case lives to see. */
export const later = (): { expiresAt: number } => ({ expiresAt: systemClock() + 3600 })

/** An end that a case can wait for. */
export const soon = (): { expiresAt: number } => ({ expiresAt: systemClock() + 1 })

/** A session of a user whom nobody else has, without `sid` unless one is given; `members` overwrite. */
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

export async function isThere(store: SessionDataStore, id: string): Promise<boolean> {
  // A store written without types may give undefined.
  return ((await store.get(id)) ?? null) !== null
}

/** Most milliseconds that anything may take; it only ends a run that hangs. */
const PATIENCE = 30_000
const INTERVAL = 100

/** Waits until something is the case, however long a store takes; `rule` says what. */
export async function until(happened: () => Promise<boolean>, rule: string): Promise<void> {
  for (let waited = 0; waited <= PATIENCE; waited += INTERVAL) {
    if (await happened()) return
    await pause(INTERVAL)
  }
  throw new ContractViolation(`${rule}: still not after ${PATIENCE / 1000} seconds`)
}

/** Waits until records that end `soon` are over by the clock that the store goes by. */
export async function soonIsOver(store: SessionDataStore): Promise<void> {
  const id = newId()
  await store.set(id, createSession(), soon())
  await until(async () => !(await isThere(store, id)), 'a session whose time is over is gone')
}

/** JSON text in which the order of members is always the same. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'nothing'
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`,
  )
  return `{${members.sort().join(',')}}`
}

/** Compares as JSON; the order of members does not count. */
export function claimSame(actual: unknown, expected: unknown, rule: string): void {
  const [is, shouldBe] = [canonical(actual), canonical(expected)]
  if (is === shouldBe) return
  const at = [...shouldBe].findIndex((character, index) => character !== is[index])
  throw new ContractViolation(
    `${rule}: expected …${shouldBe.slice(Math.max(0, at - 20), at + 40)}, got …${is.slice(Math.max(0, at - 20), at + 40)}`,
  )
}
