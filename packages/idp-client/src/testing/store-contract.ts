import type { SessionDataStore } from '../config/options.ts'
import { endings } from './store-contract/endings.ts'
import { locks } from './store-contract/locks.ts'
import { records } from './store-contract/records.ts'
import { subjects } from './store-contract/subjects.ts'
import { updates } from './store-contract/updates.ts'

/**
 * One rule of the contract. Runs independently, in any order, concurrently with others, and regardless of the store's
 * content.
 */
export interface StoreContractCase {
  readonly title: string
  /** Rejects with an error that describes the expectation. */
  readonly run: () => Promise<void>
}

export interface StoreContractOptions {
  /** Whether the store deletes expired sessions itself. Default true; the library checks lifetimes in any case. */
  expires?: boolean | undefined
}

/**
 * Returns the test cases for a session store, for every method that it has. They need no test runner and no setup of
 * the store. They take a few seconds, in which some records expire; the others are kept for an hour.
 *
 * @example
 * for (const { title, run } of storeContract(store)) test(title, run)
 */
export function storeContract(
  store: SessionDataStore,
  { expires = true }: StoreContractOptions = {},
): readonly StoreContractCase[] {
  const rules = [...records, ...updates, ...locks, ...subjects, ...endings]
  return rules.flatMap((toCases) => toCases(store, expires))
}
