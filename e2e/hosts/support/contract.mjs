// Shared by the contract applications of all hosts: options, and the operations behind the paths of `ContractHost`. The code
// of a framework is in the folder of its host.
import { isIdpError } from 'idp-client'
import { memoryStore } from 'idp-client/stores/memory'
import { contractHooks } from 'idp-client/testing'

/** Returns the options of the client under test; provider, client and secret come from variables, which the client reads. */
export const toOptions = (variables) => ({
  ...contractHooks,
  trustProxy: variables.CONTRACT_PROXY === '1',
  processLasts: variables.CONTRACT_PROCESS_LASTS !== '0',
  ...(variables.CONTRACT_STORE === '1' ? { sessionStore: memoryStore(), frontChannelLogout: true } : {}),
  ...(variables.CONTRACT_LOG === '1' ? {} : { logger: () => {} }),
  // In milliseconds; a busy machine is slow as well.
  httpTimeout: Number(variables.CONTRACT_HTTP_TIMEOUT ?? 20_000),
})

// Workers without Node.js compatibility have no `process`.
const variables = globalThis.process?.env ?? {}

export const options = toOptions(variables)

/** Port to listen on, on the loopback address. */
export const port = Number(variables.PORT)

/** Prefix below which the application is served: empty, or `/app`. */
export const basePath = variables.FRAMEWORK_PUBLIC_BASE_PATH ?? ''

const audience = 'https://api.example.test/'

/** The options of the guard of `/resource`, which accepts only access tokens of users. */
export const tokensOnly = (idp) => ({
  accept: [idp.resource({ audience })],
  authorize: ({ isClient }) => !isClient,
})

/** The options of the guard of `/shared`, which also accepts sessions. */
export const sharing = (idp) => ({ accept: ['session', idp.resource({ audience })] })

/** The body of `/resource` and `/shared`. */
export const toShared = ({ kind, sub }) => ({ kind, sub })

/** Adds the proxy of the contract, if there is an API behind it. */
export function addProxy(idp, { CONTRACT_UPSTREAM: target } = variables) {
  if (target) idp.proxy({ prefix: '/proxied', target })
}

/** Whether a body parser must leave a body alone: it is sent on as it arrives. */
export const isProxied = (path) => path.startsWith(`${basePath}/proxied`)

/** Returns the arguments of the explicit style, none in the ambient one. */
export const explicit = (query, ...args) => (query.get('style') === 'ambient' ? [] : args)

/** The body of `/whoami`. */
export function toKnown(session) {
  return {
    sub: session?.user.sub ?? null,
    value: session?.value ?? null,
    hooked: session?.hooked ?? null,
    createdAt: session?.internal.createdAt ?? null,
  }
}

/** Adds the value of the query to the session: `/update` and `/app-cookie`. */
export async function save(idp, query, args) {
  const session = await idp.getSession(...args.slice(0, 1))
  const blank = {
    user: { sub: 'unknown' },
    tokenSet: { accessToken: '', expiresAt: 0 },
    internal: { createdAt: 0 },
  }
  await idp.updateSession({ ...(session ?? blank), value: query.get('value') }, ...args)
}

/** Updates that wait until their response has left, by their value. */
const late = new Map()

/* On Workers one request cannot settle the promises of another: each polls with its own timers. */
async function until(isReady) {
  while (!isReady()) await new Promise((resolve) => setTimeout(resolve, 5))
}

/** Starts an update that waits for `lateResult`: `/late`. */
export function saveLater(idp, query, args) {
  const update = { isReleased: false, outcome: undefined }
  const saved = until(() => update.isReleased)
    .then(() => save(idp, query, args))
    .then(() => ({ code: null }), toFailure)
    .then((outcome) => {
      update.outcome = outcome
    })
  globalThis.contractWaitUntil?.(saved)
  late.set(query.get('value'), update)
}

/** Lets that update continue, and returns the body of `/late-result`. */
export async function lateResult(query) {
  const update = late.get(query.get('value'))
  update.isReleased = true
  await until(() => update.outcome)
  return update.outcome
}

/** Returns the redirect to the provider: `/start`. */
export function start(idp, query, args) {
  const mode = query.get('response_mode')
  const authorizationParameters = mode === null ? {} : { response_mode: mode }
  return idp.startInteractiveLogin(
    { returnTo: query.get('returnTo') ?? '/', authorizationParameters },
    ...args,
  )
}

/** Returns the redirect to the provider of a connection: `/connect`. */
export function connect(idp, query, args) {
  return idp.connectAccount({ connection: 'github', returnTo: query.get('returnTo') ?? '/' }, ...args)
}

/** Paths whose responses are the same for every framework on Web responses; `set` adds a cookie of the application. */
const webOperations = {
  public: () => new Response('public', { headers: { 'cache-control': 'public, max-age=60' } }),
  whoami: async (idp, { args }) => Response.json(toKnown(await idp.getSession(...args))),
  unhandled: async (idp, { args }) => Response.json(await idp.getSession(...args)),
  update: async (idp, { args, query }) => {
    await save(idp, query, args)
    return Response.json({ ok: true })
  },
  'app-cookie': async (idp, { args, headers, query, set }) => {
    set('app_before', '1')
    await save(idp, query, args)
    set('app_after', '1')
    return Response.json({ ok: true }, { headers })
  },
  late: (idp, { args, query }) => {
    saveLater(idp, query, args)
    return new Response('late')
  },
  'late-result': async (_idp, { query }) => Response.json(await lateResult(query)),
  token: async (idp, { args }) => Response.json(await idp.getAccessToken(...args)),
  'user-info': async (idp, { args }) => Response.json(await idp.getUserInfo(...args)),
  start: (idp, { args, query }) => start(idp, query, args),
  connect: (idp, { args, query }) => connect(idp, query, args),
}

/**
 * Responds to one of these paths, 404 to any other.
 *
 * @param {object} call the path without slash, the query, and the context of the explicit style; `set` writes a cookie with
 *   the framework, in place of a header of the response
 */
export async function respond(idp, { context, name, query, set }) {
  const operation = webOperations[name]
  if (!operation) return new Response('not found', { status: 404 })
  const headers = new Headers()
  const setHeader = (cookie, value) => headers.append('set-cookie', `${cookie}=${value}`)
  try {
    return await operation(idp, { args: explicit(query, context), headers, query, set: set ?? setHeader })
  } catch (error) {
    if (name === 'unhandled') throw error
    return Response.json(toFailure(error), { status: 500 })
  }
}

/** Whether the framework's own error handler responds at this path, so that the contract sees what it shows. */
export const isOwnHandler = (path) => path === `${basePath}/page` || path.startsWith(`${basePath}/unhandled`)

/** The body of a response with status 500 for an error of the library; rethrows any other. */
export function toFailure(error) {
  if (!isIdpError(error)) throw error
  return { code: error.code }
}
