import { Browser } from './browser.ts'
import { claimEqual } from './claim.ts'
import type { ContractRuns } from './host.ts'

/** Cases for hosts whose middleware surrounds the handlers of the application. */
export const lateWrites: ContractRuns = {
  'a session that is saved after the response has left is refused, in every calling style': async (host) => {
    const browser = new Browser(host)
    await browser.logIn({ user: 'alice' })
    for (const style of host.styles) {
      const query = `style=${style}&value=${crypto.randomUUID()}`
      const { status } = await browser.send(`/late?${query}`)
      claimEqual(status, 200, `status of /late (${style})`)
      const { code } = await browser.json(`/late-result?${query}`)
      claimEqual(code, 'SESSION_NOT_WRITABLE', `the code of the late update (${style})`)
      claimEqual((await browser.whoami(style))['value'], null, `the value that was not saved (${style})`)
    }
  },
}
