import type { Application } from '../../engine.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import { chain, recover } from '../../lib/chain.ts'
import { mayCarrySession } from '../../routes/pass-through.ts'

/** Next.js adds it when it requests the page to which a Server Action redirects; of the response it drops the cookies. */
const ACTION_REDIRECT = 'x-action-redirect'

/**
 * Returns whether a refresh in this request would lose the rotated tokens: Next.js drops its cookies, and the process may not last
 * until the next request. Without a response that renders the page, Next.js lets the browser request it.
 */
export function mayLoseRefresh(application: Application, exchange: Exchange): MaybePromise<boolean> {
  const { headers } = exchange.request
  if (!headers.has(ACTION_REDIRECT) || !mayCarrySession(application, headers)) return false
  return recover(
    () => {
      const { config, sessions } = application.engine()
      if (config.processLasts || sessions.distributed) return false
      return chain(sessions.load(exchange), (session) => {
        const { tokenSet, accessTokens = [] } = session?.data ?? {}
        const staleFrom = config.clock() + config.tokenRefreshBuffer
        const isStale = [...(tokenSet ? [tokenSet] : []), ...accessTokens].some(
          ({ expiresAt }) => expiresAt <= staleFrom,
        )
        return tokenSet?.refreshToken !== undefined && isStale
      })
    },
    // The application finds out by itself what is wrong with the session.
    () => false,
  )
}
