/*
 * The orders API: a program of its own, as APIs are. It knows nothing of sessions and cookies; whoever brings an access
 * token of the identity provider for this API is served. `npm run demo` starts it; by hand:
 *
 *   IDP_DOMAIN=… APP_BASE_URL=… ORDERS_API_PORT=4500 node api-server.mjs
 */
import { createServer } from 'node:http'
import { createRemoteJWKSet, errors, jwtVerify } from 'jose'

const audience = 'https://api.example.test/'
const scope = 'read:things'

const domain = variable('IDP_DOMAIN')
const application = new URL(variable('APP_BASE_URL')).origin

const orders = new Map([
  [
    'dev|alice',
    [
      { id: 'A-1042', item: 'Teapot, cast iron', quantity: 1, cents: 4900, placed: '2026-10-02' },
      { id: 'A-1057', item: 'Darjeeling, first flush', quantity: 3, cents: 3870, placed: '2026-10-19' },
      { id: 'A-1101', item: 'Cups, stoneware', quantity: 6, cents: 5400, placed: '2026-11-08' },
    ],
  ],
  ['dev|bob', [{ id: 'B-2003', item: 'Coffee grinder', quantity: 1, cents: 8900, placed: '2026-11-11' }]],
])

function variable(name) {
  const value = process.env[name]
  if (!value) throw new Error(`Set ${name}: the orders API does not know whom to trust without it.`)
  return value
}

/** Issuer and keys, by discovery: loaded at the first request, and again after a failure. */
let provider
function discover() {
  provider ??= load().catch((error) => {
    provider = undefined
    throw error
  })
  return provider
}

async function load() {
  const base = (/^https?:\/\//.test(domain) ? domain : `https://${domain}`).replace(/\/$/, '')
  const response = await fetch(`${base}/.well-known/openid-configuration`)
  if (!response.ok) throw new Error(`discovery answered with status ${response.status}`)
  const { issuer, jwks_uri } = await response.json()
  return { issuer, keys: createRemoteJWKSet(new URL(jwks_uri)) }
}

/** The refusals of RFC 6750 section 3.1. */
const missing = { status: 401, challenge: 'Bearer' }
const invalid = { status: 401, challenge: 'Bearer error="invalid_token"' }
const insufficient = { status: 403, challenge: `Bearer error="insufficient_scope", scope="${scope}"` }

/** Not the token is to blame, but the keys could not be had. */
const faultsOfKeySet = new Set(['ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID', 'ERR_JOSE_GENERIC'])

/** Whose token this is, or why it is none for this API. */
async function authorize({ authorization = '' }) {
  const [, token] = /^Bearer +(\S+)$/i.exec(authorization) ?? []
  if (!token) return missing
  const { issuer, keys } = await discover()
  try {
    // A signature alone is not enough: the token must come from our provider, for this API, as an access token.
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience,
      typ: 'at+jwt',
      algorithms: ['RS256', 'PS256', 'ES256'],
      requiredClaims: ['exp', 'sub'],
    })
    // A token that is bound to a key is worth nothing without proof of that key, which this API does not ask for.
    if (payload.cnf !== undefined) return invalid
    const granted = typeof payload.scope === 'string' ? payload.scope.split(' ') : []
    return granted.includes(scope) ? { status: 200, sub: payload.sub } : insufficient
  } catch (error) {
    if (error instanceof errors.JOSEError && !faultsOfKeySet.has(error.code)) return invalid
    throw error
  }
}

async function answer(request) {
  if (new URL(request.url, 'http://api').pathname !== '/orders') return { status: 404 }
  // The browser asks before it sends a token to another origin. Only the application gets an answer that it can use.
  if (request.method === 'OPTIONS') return { status: 204 }
  if (request.method !== 'GET') return { status: 405, headers: { allow: 'GET, OPTIONS' } }
  const { status, challenge, sub } = await authorize(request.headers)
  if (challenge) return { status, headers: { 'www-authenticate': challenge } }
  return { status, body: { owner: sub, orders: orders.get(sub) ?? [] } }
}

const cors = {
  'access-control-allow-origin': application,
  'access-control-allow-headers': 'authorization',
  'access-control-allow-methods': 'GET',
  'access-control-max-age': '600',
}

const server = createServer(async (request, response) => {
  const { status, headers, body } = await answer(request).catch((error) => {
    // Never the token: what is printed here is read by more people than the request.
    process.stderr.write(`orders API: ${error.message}\n`)
    return { status: 503 }
  })
  response.writeHead(status, {
    vary: 'Origin',
    'cache-control': 'private, no-store',
    ...(request.headers.origin === application ? cors : {}),
    ...headers,
    ...(body ? { 'content-type': 'application/json' } : {}),
  })
  response.end(body ? JSON.stringify(body) : undefined)
})

server.listen(Number(process.env.ORDERS_API_PORT ?? 4500), '127.0.0.1', () => {
  process.stdout.write(`The orders API is http://127.0.0.1:${server.address().port}\n`)
})

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(0))
