import { AUDIENCE, bearer } from './attacks/attack.ts'
import type { BrowserResponse } from './browser.ts'
import { Browser, signedInBrowser } from './browser.ts'
import { claim, claimEqual } from './claim.ts'
import type { ContractRuns } from './host.ts'
import { claimNoCookies, claimNotStored } from './response-claims.ts'

/** The API that accepts only access tokens, and the one that also accepts sessions. */
const PATHS = ['/resource', '/shared'] as const

function claimAnonymous(response: BrowserResponse, what: string): void {
  claimEqual([response.status, response.location], [401, null], what)
  const { code } = JSON.parse(response.text) as Record<string, unknown>
  claimEqual(code, 'NOT_AUTHENTICATED', `the code for ${what}`)
  claimNotStored(response, what)
  const challenge = response.headers.get('www-authenticate') ?? ''
  claim(/^Bearer\b(?!.*error)/.test(challenge), `the challenge names no error (${challenge})`)
}

/** Cases for an API that accepts access tokens. */
export const accessTokens: ContractRuns = {
  'an API that accepts access tokens challenges requests without a credential': async (host) => {
    for (const path of PATHS) {
      const response = await new Browser(host).send(path)
      claimAnonymous(response, path)
      claimNoCookies(response, path)
    }
  },

  'an access token passes with its user, even beside the session of another user': async (host) => {
    const token = await host.accessToken({ sub: 'carol', aud: AUDIENCE })
    for (const browser of [new Browser(host), await signedInBrowser(host)])
      for (const path of PATHS)
        claimEqual(await browser.json(path, bearer(token)), { kind: 'token', sub: 'carol' }, path)
  },

  'a session alone passes only where sessions are accepted': async (host) => {
    const browser = await signedInBrowser(host)
    const { kind, sub } = await browser.json('/shared')
    claim(kind === 'session' && String(sub).includes('alice'), `the user of the session (${kind}, ${sub})`)
    claimAnonymous(await browser.send('/resource'), 'a session at /resource')
  },
}
