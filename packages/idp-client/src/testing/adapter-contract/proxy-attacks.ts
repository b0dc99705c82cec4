import { attackAll } from './attacks/attack-all.ts'
import type { ContractCase, ContractRuns } from './host.ts'
import { ProxiedPage } from './proxied-page.ts'
import type { ProxyAttack } from './proxy-attacks/attack.ts'
import { attackProxy } from './proxy-attacks/attack.ts'
import { paths } from './proxy-attacks/paths.ts'
import { requests, sites } from './proxy-attacks/requests.ts'
import { addresses, responses } from './proxy-attacks/responses.ts'
import { claimSignedIn } from './response-claims.ts'

/** Returns a case that sends attacks. Each has a page of its own, by which its requests are recognized. */
const toCase = (
  kind: string,
  attacks: readonly ProxyAttack[],
): readonly [title: string, run: ContractCase['run']] => [
  `none of ${attacks.length} attacks on the proxy by ${kind} does harm`,
  async (host) => {
    const page = await ProxiedPage.open(host)
    await attackAll(host, attacks, (attack) => attackProxy(page.next(), attack))
    await claimSignedIn(page.browser, 'alice', `after the attacks by ${kind}`)
  },
]

/** Cases for requests and responses that must do no harm. */
export const proxyAttacks: ContractRuns = Object.fromEntries([
  toCase('the path', paths),
  toCase('headers and methods', requests),
  toCase('other sites and documents', sites),
  toCase('responses of the API', responses),
  toCase('addresses in responses', addresses),
])
