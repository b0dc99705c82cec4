import type { Attack, Refusal } from './attacks/attack.ts'
import { AUDIENCE, bearer, refusals } from './attacks/attack.ts'
import { proofAttacks } from './attacks/proofs.ts'
import { post, requestAttacks } from './attacks/requests.ts'
import { tokenAttacks } from './attacks/tokens.ts'
import type { BrowserResponse, Sending } from './browser.ts'
import { Browser, signedInBrowser } from './browser.ts'
import { claim, claimEqual } from './claim.ts'
import type { ContractCase, ContractHost } from './host.ts'
import { claimNotStored } from './response-claims.ts'

/** The beginning of every JSON object in base64url: no token may be in a response or in the log. */
const TOKEN = 'eyJ'

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

function claimRefused(response: BrowserResponse, { refusals: allowed }: Attack): void {
  const { headers, status, text } = response
  const codes = allowed.map(({ code, status: expected }) => `${expected} ${code}`).join(' or ')
  claim(
    allowed.some((refusal) => matches(response, refusal)),
    `expected ${codes}, got ${status} ${text.slice(0, 100)}, ${headers.get('www-authenticate')}`,
  )
  claimNotStored(response, 'the response')
  claim(!text.includes(TOKEN), 'the response contains no token')
}

/** Sends all attacks, one request each, and reports every one that is not refused as it should be. */
async function claimAllRefused(host: ContractHost, attacks: readonly Attack[], user: Browser): Promise<void> {
  const stranger = new Browser(host)
  const failed: string[] = []
  for (const attack of attacks) {
    const { path = '/shared', sending, title } = attack
    const sender = path === '/shared' ? user : stranger
    try {
      claimRefused(await sender.send(path, sending), attack)
    } catch (error) {
      failed.push(`${title}: ${error instanceof Error ? error.message : error}`)
    }
  }
  claim(failed.length === 0, `${failed.length} of ${attacks.length} attacks\n${failed.join('\n')}`)
  claim(!(host.log?.() ?? '').includes(TOKEN), 'the log contains no token')
}

async function claimPasses(browser: Browser, sending: Sending, kind: string, what: string): Promise<void> {
  claimEqual((await browser.json('/shared', sending))['kind'], kind, what)
}

const tokens: ContractCase = {
  title: 'an attack with what is no access token for the API is refused, even beside a valid session',
  async run(host) {
    const user = await signedInBrowser(host)
    await claimPasses(
      user,
      bearer(await host.accessToken({ sub: 'carol', aud: AUDIENCE })),
      'token',
      'a valid token',
    )
    await claimAllRefused(host, await tokenAttacks(host), user)
  },
}

const proofs: ContractCase = {
  title: 'an attack with a bound token or a DPoP proof is refused, even beside a valid session',
  async run(host) {
    const user = await signedInBrowser(host)
    const { attacks, valid } = await proofAttacks(host)
    // Otherwise the attacks would be refused for another reason.
    if (host.infersBaseUrl)
      claimRefused(await user.send('/shared', valid), {
        title: '',
        refusals: [refusals.unprovable],
        sending: valid,
      })
    else await claimPasses(user, valid, 'token', 'a valid proof')
    await claimAllRefused(host, attacks, user)
  },
}

const requests: ContractCase = {
  title: 'an attack with a malformed credential, or with the cookie alone, is refused',
  async run(host) {
    const user = await signedInBrowser(host)
    const { origin } = user.url('')
    await claimPasses(user, {}, 'session', 'a session')
    await claimPasses(user, { headers: { authorization: 'Basic dTpw' } }, 'session', 'Basic beside a session')
    await claimPasses(
      user,
      post({ origin, 'sec-fetch-site': 'same-origin' }),
      'session',
      'a page of the application',
    )
    await claimAllRefused(host, await requestAttacks(host), user)
  },
}

/** Cases for what must not pass at an API that accepts access tokens. */
export const attacks: readonly ContractCase[] = [tokens, proofs, requests]
