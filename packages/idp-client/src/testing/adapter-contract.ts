import { accessTokens } from './adapter-contract/access-tokens.ts'
import { accounts } from './adapter-contract/accounts.ts'
import { attacks } from './adapter-contract/attacks.ts'
import { frontChannelLogouts } from './adapter-contract/front-channel-logout.ts'
import type { ContractCase, ContractRuns } from './adapter-contract/host.ts'
import { logins } from './adapter-contract/logins.ts'
import { proxy } from './adapter-contract/proxy.ts'
import { proxyAttacks } from './adapter-contract/proxy-attacks.ts'
import { proxyStreams } from './adapter-contract/proxy-streams.ts'
import { requests } from './adapter-contract/requests.ts'
import { lateWrites, sessions } from './adapter-contract/sessions.ts'
import { unconfigured } from './adapter-contract/unconfigured.ts'

const toCases = (...groups: readonly ContractRuns[]): readonly ContractCase[] =>
  groups.flatMap((runs) => Object.entries(runs).map(([title, run]) => ({ title, run })))

/**
 * Black-box test cases that every host must pass, without a test runner: run each case against a `ContractHost`.
 *
 * @example
 * for (const { title, run } of adapterContract) test(title, () => run(host))
 */
export const adapterContract: readonly ContractCase[] = toCases(
  logins,
  sessions,
  requests,
  accessTokens,
  attacks,
  accounts,
)

/**
 * Test cases for a host whose client has no option and no variable: every guard rejects, and public pages still work.
 * The `secret` of the host is not used.
 */
export const unconfiguredContract: readonly ContractCase[] = toCases(unconfigured)

/**
 * Further test cases for a host whose middleware surrounds the handlers of the application, where the response leaves after
 * them. Its application also has the paths `/late` and `/late-result`.
 */
export const lateWriteContract: readonly ContractCase[] = toCases(lateWrites)

/**
 * Further test cases for a host whose client has a session store and `frontChannelLogout: true`. Its application has the paths of the
 * contract.
 */
export const frontChannelLogoutContract: readonly ContractCase[] = toCases(frontChannelLogouts)

/**
 * Further test cases for a host whose application has a proxy at `/proxied` (`idp.proxy`), with the API `upstream` of the
 * `ContractHost` as its target. The host must listen on plain http.
 */
export const proxyContract: readonly ContractCase[] = toCases(proxy, proxyStreams, proxyAttacks)
