// The contract application on h3 2, with the client for Web requests.
import { H3 } from 'h3'
import { IdpClient } from 'idp-client'
import { serve } from 'srvx'
import * as contract from './support/contract.mjs'

const idp = new IdpClient(contract.options)
contract.addProxy(idp)
const sharing = contract.sharing(idp)
const tokensOnly = contract.tokensOnly(idp)
const app = new H3()

/** Adds a path whose handler gets the query and the request. */
const get = (path, handler, method = 'get') =>
  app[method](path, async (event) => {
    try {
      return await handler({ query: event.url.searchParams, request: event.req, headers: event.res.headers })
    } catch (error) {
      if (contract.isOwnHandler(path)) throw error
      event.res.status = 500
      return contract.toFailure(error)
    }
  })

get('/', () => 'home')
get('/public', ({ headers }) => {
  headers.set('cache-control', 'public, max-age=60')
  return 'public'
})
get('/page', async ({ request }) => {
  const { response, session } = await idp.requireLogin(request)
  return response ?? `user=${session.user.sub}`
})
get('/api', async ({ request }) => {
  const { response, session } = await idp.requireAuth(request)
  return response ?? { sub: session.user.sub }
})
const respondWithAuth =
  (options) =>
  async ({ request }) => {
    const { auth, response } = await idp.requireAuth(request, options)
    return response ?? contract.toShared(auth)
  }
get('/resource', respondWithAuth(tokensOnly))
get('/shared', respondWithAuth(sharing), 'all')
get('/whoami', async ({ query, request }) =>
  contract.toKnown(await idp.getSession(...contract.explicit(query, request))),
)
get('/unhandled', ({ query, request }) => idp.getSession(...contract.explicit(query, request)))
get('/update', async ({ query, request }) => {
  await contract.save(idp, query, contract.explicit(query, request))
  return { ok: true }
})
get('/app-cookie', async ({ headers, query, request }) => {
  headers.append('set-cookie', 'app_before=1')
  await contract.save(idp, query, contract.explicit(query, request))
  headers.append('set-cookie', 'app_after=1')
  return { ok: true }
})
get('/token', ({ query, request }) => idp.getAccessToken(...contract.explicit(query, request)))
get('/late', ({ query, request }) => {
  contract.saveLater(idp, query, contract.explicit(query, request))
  return 'late'
})
get('/late-result', ({ query }) => contract.lateResult(query))
get('/start', ({ query, request }) => contract.start(idp, query, contract.explicit(query, request)))
get('/connect', ({ query, request }) => contract.connect(idp, query, contract.explicit(query, request)))

serve({
  fetch: (request) => idp.middleware(request, (passed) => app.fetch(passed)),
  hostname: '127.0.0.1',
  port: contract.port,
})
