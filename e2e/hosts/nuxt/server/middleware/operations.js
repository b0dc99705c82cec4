import {
  connect,
  explicit,
  lateResult,
  save,
  saveLater,
  sharing,
  start,
  toFailure,
  toKnown,
  tokensOnly,
  toShared,
} from '../../support/contract.mjs'
import { idp } from '../utils/idp.js'

/** Reads the session of the request at once, or after a pause. */
const cached = defineCachedFunction(async () => (await idp.getSession())?.user.sub, { name: 'at-once' })
const cachedLater = defineCachedFunction(
  async () => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    return (await idp.getSession())?.user.sub
  },
  { name: 'later' },
)
const cachedBySub = defineCachedFunction(async (sub) => sub, { name: 'by-sub' })

/** Calls a cached function: one that reads the session itself, or one whose argument names the user. */
async function fromCache(read, query) {
  if (query.get('session') === 'before') return cachedBySub((await idp.getSession()).user.sub)
  return read()
}

const operations = {
  'cached-function': (_event, query) => fromCache(cached, query),
  'cached-function-later': (_event, query) => fromCache(cachedLater, query),
  public: (event) => {
    setResponseHeader(event, 'cache-control', 'public, max-age=60')
    return 'public'
  },
  api: idp.withApiAuthRequired(async (event) => {
    const session = await idp.getSession(event)
    return { sub: session.user.sub }
  }),
  resource: idp.withApiAuthRequired(({ context }) => toShared(context.idpAuth), tokensOnly(idp)),
  shared: idp.withApiAuthRequired(({ context }) => toShared(context.idpAuth), sharing(idp)),
  whoami: async (event, query) => toKnown(await idp.getSession(...explicit(query, event))),
  unhandled: (event, query) => idp.getSession(...explicit(query, event)),
  update: async (event, query) => {
    await save(idp, query, explicit(query, event))
    return { ok: true }
  },
  'app-cookie': async (event, query) => {
    appendResponseHeader(event, 'set-cookie', 'app_before=1')
    await save(idp, query, explicit(query, event))
    appendResponseHeader(event, 'set-cookie', 'app_after=1')
    return { ok: true }
  },
  token: (event, query) => idp.getAccessToken(...explicit(query, event)),
  late: (event, query) => {
    saveLater(idp, query, explicit(query, event))
    return 'late'
  },
  'late-result': (_event, query) => lateResult(query),
  start: (event, query) => start(idp, query, explicit(query, event)),
  connect: (event, query) => connect(idp, query, explicit(query, event)),
}

/** A middleware, since a server route with a parameter would be in front of the pages of Nuxt. */
export default defineEventHandler(async (event) => {
  const { pathname, searchParams } = getRequestURL(event)
  const name = pathname.slice(1)
  const operation = operations[name]
  if (!operation) return
  try {
    return await operation(event, searchParams)
  } catch (error) {
    if (name === 'unhandled') throw error
    setResponseStatus(event, 500)
    return toFailure(error)
  }
})
