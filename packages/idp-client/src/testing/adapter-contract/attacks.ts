import type { Attack, Refusal } from './attacks/attack.ts'
import { AUDIENCE, bearer, refusals } from './attacks/attack.ts'
import { attackAll } from './attacks/attack-all.ts'
import { proofAttacks } from './attacks/proofs.ts'
import { post, requestAttacks } from './attacks/requests.ts'
import { tokenAttacks } from './attacks/tokens.ts'
import type { BrowserResponse, Sending } from './browser.ts'
import { Browser, signedInBrowser } from './browser.ts'
import { claim, claimEqual } from './claim.ts'
import type { ContractRuns } from './host.ts'
import { claimNoToken, claimNotStored } from './response-claims.ts'

function matches(
  { headers, status, text }: BrowserResponse,
  { challenge, code, status: expected }: Refusal,
): boolean {
  const given = headers.get('www-authenticate')
  return (
    status === expected &&
    (JSON.parse(text) as Record<string, unknown>)['code'] === code &&
    (challenge ? challenge.test(given ?? '') : given === null)
  )
}

function claimRefused(response: BrowserResponse, allowed: readonly Refusal[]): void {
  const { headers, status, text } = response
  const codes = allowed.map(({ code, status: expected }) => `${expected} ${code}`).join(' or ')
  claim(
    allowed.some((refusal) => matches(response, refusal)),
    `expected ${codes}, got ${status} ${text.slice(0, 100)}, ${headers.get('www-authenticate')}`,
  )
  claimNotStored(response, 'the response')
  claimNoToken(text, 'the response')
}

/** Sends all attacks, one request each, and reports every one that is not refused as it should be. */
function claimAllRefused(user: Browser, attacks: readonly Attack[]): Promise<void> {
  const stranger = new Browser(user.host)
  return attackAll(user.host, attacks, async ({ path = '/shared', refusals: allowed, sending }) => {
    const sender = path === '/shared' ? user : stranger
    claimRefused(await sender.send(path, sending), allowed)
  })
}

async function claimPasses(browser: Browser, sending: Sending, kind: string, what: string): Promise<void> {
  claimEqual((await browser.json('/shared', sending))['kind'], kind, what)
}

/** Cases for what must not pass at an API that accepts access tokens. */
export const attacks: ContractRuns = {
  'an attack with what is no access token for the API is refused, even beside a valid session': async (
    host,
  ) => {
    const user = await signedInBrowser(host)
    const token = await host.accessToken({ sub: 'carol', aud: AUDIENCE })
    await claimPasses(user, bearer(token), 'token', 'a valid token')
    await claimAllRefused(user, await tokenAttacks(host))
  },

  'an attack with a bound token or a DPoP proof is refused, even beside a valid session': async (host) => {
    const user = await signedInBrowser(host)
    const { attacks, valid } = await proofAttacks(host)
    // Otherwise the attacks would be refused for another reason.
    if (host.infersBaseUrl) claimRefused(await user.send('/shared', valid), [refusals.unprovable])
    else await claimPasses(user, valid, 'token', 'a valid proof')
    await claimAllRefused(user, attacks)
  },

  'an attack with a malformed credential, or with the cookie alone, is refused': async (host) => {
    const user = await signedInBrowser(host)
    const { origin } = user.url('')
    await claimPasses(user, {}, 'session', 'a session')
    await claimPasses(user, { headers: { authorization: 'Basic dTpw' } }, 'session', 'Basic beside a session')
    const own = post({ origin, 'sec-fetch-site': 'same-origin' })
    await claimPasses(user, own, 'session', 'a page of the application')
    await claimAllRefused(user, await requestAttacks(host))
  },
}
