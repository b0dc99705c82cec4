import { bearer } from './attacks/attack.ts'
import { Browser } from './browser.ts'
import { claim, claimEqual } from './claim.ts'
import type { ContractRuns } from './host.ts'
import { claimNoCookies } from './response-claims.ts'

/** Messages of errors have them in development only. */
function claimNoNames({ text }: { readonly text: string }, what: string): void {
  claim(!/\b(?:IDP|APP)_[A-Z]/.test(text), `${what} names no option or variable`)
}

/** Cases for a host whose client has no secret and no other required option. */
export const unconfigured: ContractRuns = {
  'without configuration every guard denies access, no redirect loops, and public pages work': async (
    host,
  ) => {
    const browser = new Browser(host)
    browser.plant('__session', 'anything')
    const page = await browser.send('/page')
    claim(page.status >= 500, `the page guard responds with an error (status ${page.status})`)
    claim(page.location === null && !page.text.includes('user='), 'it neither redirects nor shows the page')
    claimNoNames(page, 'the page guard')
    for (const path of ['/api', '/resource', '/shared']) {
      const api = await browser.send(path, path === '/api' ? {} : bearer('e30.e30.e30'))
      claimEqual([api.status, api.location], [500, null], `the guard of ${path}`)
      const { code } = JSON.parse(api.text) as Record<string, unknown>
      claimEqual(code, 'INVALID_CONFIGURATION', `the code of ${path}`)
    }
    for (const path of ['/auth/login', '/auth/logout', '/auth/callback?state=x', '/auth/profile']) {
      const { status, location } = await browser.send(path)
      claimEqual([status, location], [500, null], path)
    }
    const open = await browser.send('/public')
    claimEqual([open.status, open.text.includes('public')], [200, true], 'a public page')
    claimNoCookies(open, 'a public page')
  },

  'without configuration every operation fails with INVALID_CONFIGURATION': async (host) => {
    for (const style of host.styles) {
      for (const path of ['/whoami', '/update', '/token', '/start']) {
        const response = await new Browser(host).json(`${path}?style=${style}&value=x`)
        claimEqual(response['code'], 'INVALID_CONFIGURATION', `${path} (${style})`)
      }
    }
  },

  "without configuration the framework's own error handler shows no option and no variable": async (host) => {
    for (const style of host.styles) {
      const response = await new Browser(host).send(`/unhandled?style=${style}`)
      claim(response.status >= 500, `the status is that of an error (${response.status})`)
      claimNoNames(response, 'the error handler')
      claimNoCookies(response, 'the error handler')
    }
  },
}
