import { createHash } from 'node:crypto'
import { redisStore } from 'idp-client/stores/redis'
import { createClient } from 'redis'

/** One line of standard output for the scenarios to read. */
const report = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)

/** Tells tokens apart without showing one. */
export const fingerprint = (token) => createHash('sha256').update(token).digest('base64url').slice(0, 12)

/** A part of a JWT, unverified. */
export const decodePart = (jwt, index) =>
  JSON.parse(Buffer.from(jwt.split('.')[index], 'base64url').toString('utf8'))

function authenticationMethod(form, headers) {
  const methods = []
  if (headers.get('authorization')?.startsWith('Basic ')) methods.push('client_secret_basic')
  if (form.has('client_secret')) methods.push('client_secret_post')
  if (form.has('client_assertion')) methods.push('private_key_jwt')
  return methods.join(' and ')
}

/** The name of a request in the report: its path, and what tells requests to that path apart. No token, no secret. */
function describeRequest(url, { body, headers, method = 'GET' }) {
  const form = new URLSearchParams(method === 'POST' ? String(body ?? '') : '')
  const assertion = form.get('client_assertion')
  return {
    path: new URL(url).pathname,
    grant: form.get('grant_type') ?? undefined,
    method: authenticationMethod(form, new Headers(headers)),
    ...(assertion ? { assertion: { ...decodePart(assertion, 0), aud: decodePart(assertion, 1).aud } } : {}),
    ...(form.has('scope') ? { scope: form.get('scope') } : {}),
    isSigned: form.has('request') || new URL(url).searchParams.has('request'),
    isBound: new Headers(headers).has('dpop'),
  }
}

/** The `fetch` of the client: with `INTEROP_CLIENT_CERTIFICATE` and `INTEROP_CLIENT_KEY` it presents that certificate. */
async function createFetch({ INTEROP_CLIENT_CERTIFICATE: certificate, INTEROP_CLIENT_KEY: key }) {
  if (!certificate) return fetch
  const { certificateFetch } = await import('../support/certificate-fetch.mjs')
  return certificateFetch({ certificate, key })
}

const reporting = (send) => async (input, init) => {
  report({ request: describeRequest(input, init ?? {}) })
  return send(input, init)
}

/** The hook of the guide to Keycloak. */
function withRealmRoles(session) {
  const { realm_access: access } = decodePart(session.tokenSet.accessToken, 1)
  return { ...session, user: { ...session.user, realm_access: access } }
}

async function connectedStore(url) {
  const redis = createClient({ url })
  redis.on('error', () => {})
  await redis.connect()
  return redisStore(redis, { prefix: 'interop:' })
}

/**
 * Options of the client under test: those of the variable `INTEROP_OPTIONS` (JSON), events and requests reported on
 * standard output, sessions in Redis when `INTEROP_REDIS` names one, roles of the access token with `INTEROP_ROLES`, a clock
 * that is apart by `INTEROP_CLOCK_OFFSET` seconds.
 *
 * @param {{ customClock: symbol, customFetch: symbol }} symbols those of the entry under test
 */
export async function readOptions(env, { customClock, customFetch }) {
  const store = env.INTEROP_REDIS ? { sessionStore: await connectedStore(env.INTEROP_REDIS) } : {}
  return {
    ...JSON.parse(env.INTEROP_OPTIONS ?? '{}'),
    ...store,
    ...(env.INTEROP_ROLES ? { beforeSessionSaved: withRealmRoles } : {}),
    logger: (event) => report({ event }),
    [customFetch]: reporting(await createFetch(env)),
    ...(env.INTEROP_CLOCK_OFFSET
      ? { [customClock]: () => Math.floor(Date.now() / 1000) + Number(env.INTEROP_CLOCK_OFFSET) }
      : {}),
  }
}
