// A stub of an OpenID provider behind `fetch`, in this process, so that sockets do not add to the time of the products.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { client, issuer, scope } from './settings.mjs'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const kid = 'key-1'

const metadata = {
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/oauth/token`,
  userinfo_endpoint: `${issuer}/userinfo`,
  jwks_uri: `${issuer}/jwks`,
  end_session_endpoint: `${issuer}/logout`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
  token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: false,
}
/** The key set of the provider. */
export const jwks = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' }] }

/** The user of the reference session. */
export const user = {
  sub: 'provider|0123456789abcdef01234567',
  name: 'Alice Anderson',
  given_name: 'Alice',
  family_name: 'Anderson',
  nickname: 'alice',
  picture: 'https://images.example.com/avatars/0123456789abcdef.png',
  email: 'alice@example.com',
  email_verified: true,
  updated_at: '2026-01-01T00:00:00.000Z',
}

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Signs a JWT as the provider does. */
export function jwt(claims, typ = 'JWT') {
  const input = `${encode({ alg: 'RS256', typ, kid })}.${encode(claims)}`
  return `${input}.${sign('sha256', Buffer.from(input), privateKey).toString('base64url')}`
}

const seconds = () => Math.floor(Date.now() / 1000)

function accessToken() {
  const now = seconds()
  return jwt({
    iss: `${issuer}/`,
    sub: user.sub,
    aud: ['https://api.example.com', `${issuer}/userinfo`],
    iat: now,
    exp: now + 86_400,
    scope: `${scope} read:things write:things`,
    azp: client.id,
    permissions: Array.from({ length: 12 }, (_, index) => `permission:number-${index}`),
  })
}

export function idToken(nonce) {
  const now = seconds()
  const sid = randomBytes(16).toString('base64url')
  return jwt({ ...user, iss: issuer, aud: client.id, iat: now, exp: now + 36_000, sid, nonce })
}

/* One access token for all: clients do not read it, and a second signature would be the provider's work only. */
const sharedAccessToken = accessToken()

/** Token response of a login. */
export function tokens(nonce, expiresIn = 86_400) {
  return {
    access_token: sharedAccessToken,
    id_token: idToken(nonce),
    refresh_token: randomBytes(48).toString('base64url'),
    token_type: 'Bearer',
    expires_in: expiresIn,
    scope,
  }
}

/**
 * A provider with `fetch`, `authorize`, which takes an authorization URL and returns the parameters of the callback, the number of
 * requests by path, and the microseconds of CPU time that it spent itself.
 *
 * @param {{ expiresIn?: number, rotates?: boolean }} [options] lifetime of access tokens in seconds; whether a refresh token can be
 * redeemed only once
 */
export function createProvider({ expiresIn, rotates = false } = {}) {
  const redeemed = new Set()
  const pending = new Map()
  const requests = new Map()
  let spent = 0

  const json = (body, status = 200) =>
    new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })

  function redeem(form) {
    if (form.get('grant_type') === 'refresh_token') {
      const token = form.get('refresh_token')
      if (rotates && redeemed.has(token)) return json({ error: 'invalid_grant' }, 400)
      redeemed.add(token)
      return json(tokens(undefined, 86_400))
    }
    const login = pending.get(form.get('code'))
    pending.delete(form.get('code'))
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (!login || (login.challenge !== null && login.challenge !== challenge))
      return json({ error: 'invalid_grant' }, 400)
    return json(tokens(login.nonce ?? undefined, expiresIn))
  }

  function respond(path, body) {
    if (path === '/.well-known/openid-configuration') return json(metadata)
    if (path === '/jwks') return json(jwks)
    if (path === '/oauth/token') return redeem(new URLSearchParams(body))
    if (path === '/userinfo') return json(user)
    return json({ error: 'not_found' }, 404)
  }

  return {
    requests,
    spent: () => spent,
    async fetch(input, init) {
      const request = input instanceof Request ? input : undefined
      const { pathname } = new URL(request ? request.url : String(input))
      const given = init?.body ?? (request ? await request.text() : '')
      const start = process.cpuUsage()
      requests.set(pathname, (requests.get(pathname) ?? 0) + 1)
      const response = respond(pathname, String(given))
      const { system, user: own } = process.cpuUsage(start)
      spent += system + own
      return response
    },
    authorize(location) {
      const { searchParams } = new URL(location)
      const code = randomBytes(32).toString('base64url')
      pending.set(code, { nonce: searchParams.get('nonce'), challenge: searchParams.get('code_challenge') })
      return new URLSearchParams({ code, state: searchParams.get('state') ?? '' })
    },
  }
}
