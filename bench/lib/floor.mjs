// The hand-written minimum: what an application could do with `node:crypto` alone on the same data.
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  verify,
} from 'node:crypto'
import { client, issuer, origin, scope, secret } from './settings.mjs'

const key = Buffer.from(hkdfSync('sha256', secret, '', 'floor', 32))
const header = Buffer.from('{"alg":"dir","enc":"A256GCM"}').toString('base64url')
const aad = Buffer.from(header)

export function seal(value) {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  cipher.setAAD(aad)
  const text = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()])
  return `${header}..${[iv, text, cipher.getAuthTag()].map((part) => part.toString('base64url')).join('.')}`
}

export function open(sealed) {
  const [, , iv, text, tag] = sealed.split('.')
  const cipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64url'))
  cipher.setAAD(aad)
  cipher.setAuthTag(Buffer.from(tag, 'base64url'))
  return JSON.parse(
    Buffer.concat([cipher.update(Buffer.from(text, 'base64url')), cipher.final()]).toString('utf8'),
  )
}

const signId = (id) => createHmac('sha256', key).update(id).digest('base64url')

/** Header `Cookie` with the signed id of the record `id` in a store. */
export const signedCookie = `id=id.${signId('id')}`

/** Reads the record that a signed cookie names. */
export async function readSigned(header, get) {
  const [id, signature] = header.slice('id='.length).split('.')
  return signId(id) === signature ? JSON.parse(await get(id)) : null
}

/** Returns a redirect that sets a cookie. */
export const redirectWith = (location, name, value) =>
  new Response(null, {
    status: 302,
    headers: { location, 'set-cookie': `${name}=${value}; Path=/; HttpOnly; Secure; SameSite=Lax` },
  })

const random = () => randomBytes(32).toString('base64url')
const callbackUrl = `${origin}/auth/callback`

/** Login and callback as a careful application writes them by hand: PKCE, state, nonce, signature, sealed cookies. */
export function createFloorLogin({ authorize, fetch, keys }) {
  return async function login() {
    const transaction = { state: random(), nonce: random(), verifier: random() }
    const challenge = createHash('sha256').update(transaction.verifier).digest('base64url')
    const location = `${issuer}/authorize?${new URLSearchParams({
      response_type: 'code',
      client_id: client.id,
      redirect_uri: callbackUrl,
      scope,
      state: transaction.state,
      nonce: transaction.nonce,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    })}`
    const begun = redirectWith(location, 'txn', seal(transaction))
    const cookie = begun.headers.getSetCookie()[0].split(';')[0]
    const request = new Request(`${callbackUrl}?${authorize(begun.headers.get('location'))}`, {
      headers: { cookie },
    })

    const { searchParams } = new URL(request.url)
    const { nonce, state, verifier } = open(request.headers.get('cookie').slice('txn='.length))
    if (searchParams.get('state') !== state) throw new Error('state')
    const response = await fetch(`${issuer}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code: searchParams.get('code'),
        redirect_uri: callbackUrl,
        code_verifier: verifier,
        client_id: client.id,
        client_secret: client.secret,
      }),
    })
    const tokenSet = await response.json()
    const [head, body, signature] = tokenSet.id_token.split('.')
    const { kid } = JSON.parse(Buffer.from(head, 'base64url'))
    if (!verify('sha256', Buffer.from(`${head}.${body}`), keys.get(kid), Buffer.from(signature, 'base64url')))
      throw new Error('signature')
    const claims = JSON.parse(Buffer.from(body, 'base64url'))
    if (
      claims.iss !== issuer ||
      claims.aud !== client.id ||
      claims.nonce !== nonce ||
      claims.exp < Date.now() / 1000
    )
      throw new Error('claims')
    return redirectWith('/', 'session', seal({ user: claims, tokenSet }))
  }
}
