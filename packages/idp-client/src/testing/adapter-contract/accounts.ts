import { Browser, signedInBrowser } from './browser.ts'
import { claim, claimEqual } from './claim.ts'
import type { ContractRuns } from './host.ts'
import {
  claimNoCookies,
  claimNotStored,
  claimRedirect,
  claimSignedIn,
  ourCookies,
  SESSION,
  TRANSACTION,
} from './response-claims.ts'

const alice = { user: 'alice' } as const

export const accounts: ContractRuns = {
  'connectAccount redirects with its cookies, in every calling style, and returns to its target': async (
    host,
  ) => {
    for (const style of host.styles) {
      const browser = await signedInBrowser(host)
      const before = await browser.whoami(style)
      const response = await browser.send(
        `/connect?style=${style}&returnTo=${encodeURIComponent('/page?a=1')}`,
      )
      claim(response.location !== null, `it redirects (${style}, status ${response.status})`)
      claim(response.location.origin !== browser.url('').origin, `it redirects to the provider (${style})`)
      claimNotStored(response, `the redirect (${style})`)
      const written = ourCookies(response)
      claim(
        written.some((name) => name.startsWith(SESSION)),
        `the session with what a refresh brought is on it (${style}: ${written.join(' ')})`,
      )
      claimEqual(browser.names(TRANSACTION).length, 1, `there is one transaction (${style})`)
      const back = await browser.comeBack(await host.signIn(response.location.href, alice))
      claimRedirect(back, browser.url('/page?a=1'), `the callback redirects to returnTo (${style})`)
      claimEqual(browser.names(TRANSACTION), [], `the transaction is gone (${style})`)
      claimEqual(await browser.whoami(style), before, `the session is what it was (${style})`)
      await claimSignedIn(browser, 'alice', 'after the connection')
    }
  },

  'connectAccount without a session fails with MISSING_SESSION and sets no cookie': async (host) => {
    for (const style of host.styles) {
      const response = await new Browser(host).send(`/connect?style=${style}&returnTo=/page`)
      claim(response.text.includes('"MISSING_SESSION"'), `it fails with MISSING_SESSION: ${response.text}`)
      claim(response.status >= 400, `it responds with an error status (${style})`)
      claimNoCookies(response, `the refusal (${style})`)
    }
  },
}
