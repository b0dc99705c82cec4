import { claim } from './claim.ts'
import type { ContractCase } from './host.ts'
import { ProxiedPage } from './proxied-page.ts'
import type { ProxyAttack } from './proxy-attacks/attack.ts'
import { attackProxy } from './proxy-attacks/attack.ts'
import { paths } from './proxy-attacks/paths.ts'
import { requests, sites } from './proxy-attacks/requests.ts'
import { addresses, responses } from './proxy-attacks/responses.ts'
import { claimSignedIn } from './response-claims.ts'

/** The beginning of every JSON object in base64url: no token may be in the log. */
const TOKEN = 'eyJ'

/** How many attacks are under way at the same time. Each has a page of its own, by which its requests are told apart. */
const AT_ONCE = 6

/** Sends attacks, and returns those that do harm. */
async function attackAll(page: ProxiedPage, attacks: readonly ProxyAttack[]): Promise<readonly string[]> {
  const failed: string[] = []
  const left = attacks.values()
  async function attackInTurn(): Promise<void> {
    for (const attack of left) {
      try {
        await attackProxy(page.next(), attack)
      } catch (error) {
        failed.push(`${attack.title}: ${error instanceof Error ? error.message : error}`)
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, attackInTurn))
  return failed
}

/** Returns a case that sends attacks, and reports every one that does harm. */
function toCase(kind: string, attacks: readonly ProxyAttack[]): ContractCase {
  return {
    title: `none of ${attacks.length} attacks on the proxy by ${kind} does harm`,
    async run(host) {
      const page = await ProxiedPage.open(host)
      const failed = await attackAll(page, attacks)
      claim(failed.length === 0, `${failed.length} of ${attacks.length} attacks\n${failed.join('\n')}`)
      await claimSignedIn(host, page.browser, 'alice', `after the attacks by ${kind}`)
      claim(!(host.log?.() ?? '').includes(TOKEN), 'the log contains no token')
    },
  }
}

/** Cases for requests and responses that must do no harm. */
export const proxyAttacks: readonly ContractCase[] = [
  toCase('the path', paths),
  toCase('headers and methods', requests),
  toCase('other sites and documents', sites),
  toCase('responses of the API', responses),
  toCase('addresses in responses', addresses),
]
