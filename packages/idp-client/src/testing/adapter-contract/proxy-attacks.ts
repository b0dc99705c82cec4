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

/** Returns a case that sends attacks, one after the other, and reports every one that does harm. */
function toCase(kind: string, attacks: readonly ProxyAttack[]): ContractCase {
  return {
    title: `none of ${attacks.length} attacks on the proxy by ${kind} does harm`,
    async run(host) {
      const page = await ProxiedPage.open(host)
      const failed: string[] = []
      for (const attack of attacks) {
        try {
          await attackProxy(page.next(), attack)
        } catch (error) {
          failed.push(`${attack.title}: ${error instanceof Error ? error.message : error}`)
        }
      }
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
