import type { SessionDataStore } from '../config/options.ts'
import { leases } from './store-contract/leases.ts'
import { records } from './store-contract/records.ts'
import { subjects } from './store-contract/subjects.ts'
import { updates } from './store-contract/updates.ts'

/** One rule that a store keeps. Runs on its own, in any order, also several at once, beside whatever the store holds. */
export interface StoreContractCase {
  readonly title: string
  /** Rejects with an error that names what was expected. */
  readonly run: () => Promise<void>
}

export interface StoreContractOptions {
  /** Whether the store by itself forgets sessions whose time is over. Default true; the library checks lifetimes in any case. */
  expires?: boolean | undefined
}

/**
 * The contract of a session store, for every method that this one has. No test runner is needed, and nothing is asked of
 * the store before a case runs. Takes a few seconds, in which some records end; the others stay for an hour.
 *
 * @example
 * for (const { title, run } of storeContract(store)) test(title, run)
 */
export function storeContract(
  store: SessionDataStore,
  { expires = true }: StoreContractOptions = {},
): readonly StoreContractCase[] {
  const rules = [...records, ...updates, ...leases, ...subjects].filter((rule) => expires || !rule.expires)
  return rules.flatMap(({ bind, title }) => {
    const run = bind(store)
    return run ? [{ title, run }] : []
  })
}
