import { claim } from '../claim.ts'
import type { ContractHost } from '../host.ts'
import { claimNoToken } from '../response-claims.ts'

/** How many attacks are under way at the same time. */
const AT_ONCE = 6

/** Sends attacks, reports every one that does harm, and asserts that they leave no token in the log. */
export async function attackAll<Attack extends { readonly title: string }>(
  host: ContractHost,
  attacks: readonly Attack[],
  send: (attack: Attack) => Promise<void>,
): Promise<void> {
  const failed: string[] = []
  const left = attacks.values()
  async function sendInTurn(): Promise<void> {
    for (const attack of left) {
      try {
        await send(attack)
      } catch (error) {
        failed.push(`${attack.title}: ${error instanceof Error ? error.message : error}`)
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, sendInTurn))
  claim(failed.length === 0, `${failed.length} of ${attacks.length} attacks\n${failed.join('\n')}`)
  claimNoToken(host.log?.() ?? '', 'the log')
}
