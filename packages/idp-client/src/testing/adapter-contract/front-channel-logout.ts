import { decode } from './attacks/forge.ts'
import type { Sending } from './browser.ts'
import { Browser, signedInBrowser } from './browser.ts'
import { claim, claimEqual } from './claim.ts'
import type { ContractHost, ContractRuns } from './host.ts'
import { claimNoCookies, claimNotStored, claimSignedIn, claimSignedOut } from './response-claims.ts'

const ROUTE = '/auth/frontchannel-logout'

/** Headers with which a browser loads an iframe of another site. */
const FRAME = { 'sec-fetch-dest': 'iframe', 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'cross-site' }

/** Returns the issuer, which signed tokens name. */
async function readIssuer(host: ContractHost): Promise<string> {
  const token = await host.accessToken({ sub: 'test|carol' })
  return String(decode(token.split('.')[1])['iss'])
}

/** Returns the parameters that name the provider's session of a browser. */
async function toParameters(browser: Browser): Promise<URLSearchParams> {
  const session = await browser.json(`/unhandled?style=${browser.style}`)
  const { sid } = { ...(session['internal'] as { sid?: unknown } | undefined) }
  claim(typeof sid === 'string', 'the session has the sid of the provider')
  return new URLSearchParams({ iss: await readIssuer(browser.host), sid })
}

/** Cases for hosts whose client has a session store, and the option `frontChannelLogout`. */
export const frontChannelLogouts: ContractRuns = {
  'an iframe of the provider ends the session that it names, and not that of its browser': async (host) => {
    const [here, there] = [await signedInBrowser(host), await signedInBrowser(host)]
    const target = `${ROUTE}?${await toParameters(there)}`
    const issuer = new URL(await readIssuer(host)).origin
    for (const found of ['a session', 'no session']) {
      const response = await here.send(target, { headers: FRAME })
      claimEqual([response.status, response.text], [200, ''], `the response to ${found}`)
      claimNoCookies(response, `the response to ${found}`)
      claimNotStored(response, `the response to ${found}`)
      const policy = response.headers.get('content-security-policy')
      claimEqual(policy, `frame-ancestors ${issuer}`, 'the pages that may contain the response')
      claimEqual(response.headers.has('x-frame-options'), false, 'whether X-Frame-Options forbids that')
    }
    await claimSignedOut(there, 'after the logout in another browser')
    await claimSignedIn(here, 'alice', 'after the logout of another session')
  },

  'a logout request that is not an iframe of the provider ends no session': async (host) => {
    const browser = await signedInBrowser(host)
    const right = await toParameters(browser)
    const [iss, sid] = ['iss', 'sid'].map((name) => right.get(name) ?? '')
    const framed = { headers: FRAME }
    const requests: readonly (readonly [string, number, Sending])[] = [
      [`?sid=${sid}`, 400, framed],
      [`?${right}&sid=${sid}`, 400, framed],
      [`?${new URLSearchParams({ iss: `${iss}/other`, sid: sid ?? '' })}`, 400, framed],
      [`?${right}%0A`, 400, framed],
      [`?${right}`, 405, { ...framed, method: 'DELETE' }],
      [`?${right}`, 405, { ...framed, method: 'HEAD' }],
      [`?${right}`, 403, { headers: { ...FRAME, 'sec-fetch-dest': 'document' } }],
      [`?${right}`, 403, { headers: { ...FRAME, 'sec-purpose': 'prefetch' } }],
    ]
    for (const [query, status, sending] of requests) {
      const response = await new Browser(host).send(ROUTE + query, sending)
      claimEqual(response.status, status, `the status of ${query.replaceAll(sid ?? '', '…')}`)
      claimEqual(response.text.includes(sid ?? ''), false, 'whether the response repeats the parameter')
    }
    await claimSignedIn(browser, 'alice', 'after requests that are refused')
  },
}
