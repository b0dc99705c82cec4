import { accounts } from './adapter-contract/accounts.ts'
import type { ContractCase } from './adapter-contract/host.ts'
import { logins } from './adapter-contract/logins.ts'
import { requests } from './adapter-contract/requests.ts'
import { sessions } from './adapter-contract/sessions.ts'
import { unconfigured } from './adapter-contract/unconfigured.ts'

/**
 * The common behaviour of all hosts, tested from outside, without a test runner of its own: run each case against a
 * `ContractHost`.
 *
 * @example
 * for (const { title, run } of adapterContract) test(title, () => run(host))
 */
export const adapterContract: readonly ContractCase[] = [...logins, ...sessions, ...requests, ...accounts]

/**
 * The same for a host whose client is constructed with no option and no variable: nothing is ever let in, and public
 * pages still work. Its `secret` is not used.
 */
export const unconfiguredContract: readonly ContractCase[] = unconfigured
