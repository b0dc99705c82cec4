/*
 * The orders API: a program of its own, as APIs are. It knows nothing of sessions and cookies; it serves every request with an
 * access token of the identity provider for this API. `npm run demo` starts it; by hand:
 *
 *   IDP_DOMAIN=… APP_BASE_URL=… ORDERS_API_PORT=4500 node api-server.mjs
 *
 * Behind a proxy it needs ORDERS_API_URL as well: proofs of possession name the address that the caller used.
 */
import { createServer } from 'node:http'
import { createRemoteJWKSet, errors, jwtVerify } from 'jose'
import { currentNonce, proofFault } from './api-dpop.mjs'

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

const transfers = new Map([
  [
    'dev|alice',
    [
      { id: 'T-310', to: 'Bob', cents: 2500, made: '2026-11-02' },
      { id: 'T-318', to: 'Mallory', cents: 1000, made: '2026-11-15' },
    ],
  ],
  ['dev|bob', [{ id: 'T-322', to: 'Alice', cents: 4000, made: '2026-11-18' }]],
])

/** Money is served for bound tokens only, and never to browsers: they do not hold the key. */
const routes = new Map([
  [
    '/orders',
    { onlyBound: false, methods: 'GET, OPTIONS', content: (sub) => ({ orders: orders.get(sub) ?? [] }) },
  ],
  [
    '/transfers',
    { onlyBound: true, methods: 'GET', content: (sub) => ({ transfers: transfers.get(sub) ?? [] }) },
  ],
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
  if (!response.ok) throw new Error(`discovery responded with status ${response.status}`)
  const { issuer, jwks_uri } = await response.json()
  return { issuer, keys: createRemoteJWKSet(new URL(jwks_uri)) }
}

/** The challenges of RFC 6750 section 3 and RFC 9449 section 7.1. */
const missing = { status: 401, challenge: 'Bearer' }
const missingProof = { status: 401, challenge: 'DPoP algs="ES256"' }

function refusal(bound, error) {
  return { status: 401, challenge: bound ? `DPoP error="${error}", algs="ES256"` : `Bearer error="${error}"` }
}

/** Not the token is to blame, but the keys could not be had. */
const faultsOfKeySet = new Set(['ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID', 'ERR_JOSE_GENERIC'])

/** Returns the claims of a token, or null if it is not valid for this API. */
async function verifyToken(token) {
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
    return payload
  } catch (error) {
    if (error instanceof errors.JOSEError && !faultsOfKeySet.has(error.code)) return null
    throw error
  }
}

/** Returns the claims of the token, or the reason why it is rejected. */
async function authorize({ headers, method }, url, onlyBound) {
  const [, scheme = '', token] = /^(Bearer|DPoP) +(\S+)$/i.exec(headers.authorization ?? '') ?? []
  const bound = scheme.toLowerCase() === 'dpop'
  if (onlyBound && !bound) return missingProof
  if (!token) return missing
  const claims = await verifyToken(token)
  if (claims === null) return refusal(bound, 'invalid_token')
  if (bound) {
    const request = { proof: headers.dpop, method, url, token }
    const fault = await proofFault({ ...request, boundTo: claims.cnf?.jkt, demandsNonce: onlyBound })
    if (fault) return refusal(bound, fault)
  } else if (claims.cnf !== undefined) {
    // A thief of a bound token lacks its key and would send it as a Bearer token.
    return refusal(bound, 'invalid_token')
  }
  const granted = typeof claims.scope === 'string' ? claims.scope.split(' ') : []
  if (granted.includes(scope)) return { status: 200, sub: claims.sub }
  const challenge = `${bound ? 'DPoP' : 'Bearer'} error="insufficient_scope", scope="${scope}"`
  return { status: 403, challenge }
}

async function respond(request, path) {
  const route = routes.get(path)
  if (!route) return { status: 404 }
  const { content, methods, onlyBound } = route
  if (!methods.split(', ').includes(request.method)) return { status: 405, headers: { allow: methods } }
  // A browser sends a preflight before it sends a token to another origin. Only the application is allowed.
  if (request.method === 'OPTIONS') return { status: 204 }
  const { status, challenge, sub } = await authorize(request, new URL(path, publicUrl()), onlyBound)
  const headers = onlyBound ? { 'dpop-nonce': currentNonce() } : {}
  if (challenge) return { status, headers: { ...headers, 'www-authenticate': challenge } }
  return { status, headers, body: { owner: sub, ...content(sub) } }
}

/** Where callers reach this API. */
function publicUrl() {
  return process.env.ORDERS_API_URL || `http://127.0.0.1:${server.address().port}`
}

const cors = {
  'access-control-allow-origin': application,
  'access-control-allow-headers': 'authorization',
  'access-control-allow-methods': 'GET',
  'access-control-max-age': '600',
}

const server = createServer(async (request, response) => {
  const [path] = request.url.split('?')
  const { status, headers, body } = await respond(request, path).catch((error) => {
    // Never the token: what is printed here is read by more people than the request.
    process.stderr.write(`orders API: ${error.message}\n`)
    return { status: 503 }
  })
  response.writeHead(status, {
    vary: 'Origin',
    'cache-control': 'private, no-store',
    ...(request.headers.origin === application && !routes.get(path)?.onlyBound ? cors : {}),
    ...headers,
    ...(body ? { 'content-type': 'application/json' } : {}),
  })
  response.end(body ? JSON.stringify(body) : undefined)
})

server.listen(Number(process.env.ORDERS_API_PORT ?? 4500), '127.0.0.1', () => {
  process.stdout.write(`The orders API is http://127.0.0.1:${server.address().port}\n`)
})

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(0))
