import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { resolve } from '../../packages/idp-client/src/config/resolve.ts'
import { createSealer } from '../../packages/idp-client/src/crypto/seal.ts'
import { createEngine } from '../../packages/idp-client/src/engine.ts'
import { CookieJar } from '../../packages/idp-client/src/http/cookie-jar.ts'
import type { Exchange } from '../../packages/idp-client/src/http/exchange.ts'
import { IdpClient } from '../../packages/idp-client/src/index.ts'
import { decodeSession, encodeSession } from '../../packages/idp-client/src/session/cookie/codec.ts'
import type { SessionData } from '../../packages/idp-client/src/session/model/session-data.ts'
import { memoryStore } from '../../packages/idp-client/src/stores/memory.ts'
import { generateCookieHeader } from '../../packages/idp-client/src/testing/session-cookie.ts'
import { compare } from './measure.ts'

const secret = randomBytes(32).toString('hex')
const now = Math.floor(Date.now() / 1000)

function jwt(claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'RS256', typ: 'JWT', kid: 'key-1' })}.${part(claims)}.${randomBytes(256).toString('base64url')}`
}

/** The reference session: an ID token with 15 claims, a JWT access token, an opaque refresh token. */
const user = {
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
const idToken = jwt({
  ...user,
  iss: 'https://idp.example.com/',
  aud: 'client-0123456789',
  iat: now,
  exp: now + 36_000,
  sid: randomBytes(16).toString('base64url'),
  nonce: randomBytes(32).toString('base64url'),
})
const accessToken = jwt({
  iss: 'https://idp.example.com/',
  sub: user.sub,
  aud: ['https://api.example.com', 'https://idp.example.com/userinfo'],
  iat: now,
  exp: now + 86_400,
  scope: 'openid profile email offline_access read:things write:things',
  azp: 'client-0123456789',
  permissions: Array.from({ length: 12 }, (_, index) => `permission:number-${index}`),
})
const data: SessionData = {
  user,
  tokenSet: {
    accessToken,
    idToken,
    refreshToken: randomBytes(48).toString('base64url'),
    expiresAt: now + 86_400,
    scope: 'openid profile email offline_access',
    token_type: 'Bearer',
  },
  internal: { sid: 'sid', createdAt: now },
}
const stored = { data, sessionKey: 'handle', usedAt: now }

const key = Buffer.from(hkdfSync('sha256', secret, '', 'floor', 32))
const header = Buffer.from('{"alg":"dir","enc":"A256GCM"}').toString('base64url')

function floorSeal(value: object): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  cipher.setAAD(Buffer.from(header))
  const text = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()])
  const parts = [iv, text, cipher.getAuthTag()].map((part) => part.toString('base64url'))
  return `${header}..${parts.join('.')}`
}

function floorOpen(sealed: string): SessionData {
  const [, , iv = '', text = '', tag = ''] = sealed.split('.')
  const cipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64url'))
  cipher.setAAD(Buffer.from(header))
  cipher.setAuthTag(Buffer.from(tag, 'base64url'))
  const plain = Buffer.concat([cipher.update(Buffer.from(text, 'base64url')), cipher.final()])
  return JSON.parse(plain.toString('utf8'))
}

const sealer = createSealer([secret])
const floorText = floorSeal(data)
const ourText = await sealer.seal('session', encodeSession(stored))
const cookie = await generateCookieHeader(data, { secret })
const settings = {
  domain: 'idp.example.com',
  clientId: 'client-0123456789',
  clientSecret: 'secret',
  secret,
  appBaseUrl: 'https://app.example.com',
}
const client = new IdpClient(settings)
const request = (): Request => new Request('https://app.example.com/page', { headers: { cookie } })

console.log(`cookie bytes: ${cookie.length}; JSON sealed as it is: ${floorText.length + '__session='.length}`)
await compare('open', [
  { name: 'floor', run: () => floorOpen(floorText) },
  {
    name: 'idp-client',
    run: async () => {
      const bytes = await sealer.open('session', ourText)
      return bytes && decodeSession(bytes)
    },
  },
])
await compare('seal', [
  { name: 'floor', run: () => floorSeal(data) },
  { name: 'idp-client', run: async () => sealer.seal('session', encodeSession(stored)) },
])
await compare('pass-through', [
  {
    name: 'floor: Request and open',
    run: () => {
      request()
      return floorOpen(floorText)
    },
  },
  { name: 'idp-client middleware', run: () => client.middleware(request()) },
])
await compare('get session', [
  {
    name: 'floor: Request and open',
    run: () => {
      request()
      return floorOpen(floorText)
    },
  },
  { name: 'idp-client getSession', run: () => client.getSession(request()) },
])

const store = memoryStore({ name: 'bench' })
const { config } = resolve({ ...settings, sessionStore: store }, {})
if (!config) throw new Error('the settings are complete')
const inStore = createEngine(config)
const jar = new CookieJar(new Map())
const exchange = { request: { headers: new Headers(), method: 'GET' }, cookies: jar, canWrite: () => true }
await inStore.sessions.save(exchange as Exchange, stored)
const reference = jar
  .entries()
  .map(([name, value]) => `${name}=${value}`)
  .join('; ')
const stateful = new IdpClient({ ...settings, sessionStore: store })
const referring = (): Request =>
  new Request('https://app.example.com/page', { headers: { cookie: reference } })
const texts = new Map([['id', JSON.stringify(data)]])

function signed(id: string): string {
  return createHmac('sha256', key).update(id).digest('base64url')
}

const signature = signed('id')
await compare('get session from a store in memory', [
  {
    name: 'floor: signed id, Map, parse',
    run: () => {
      referring()
      return signed('id') === signature ? JSON.parse(texts.get('id') ?? '') : null
    },
  },
  { name: 'idp-client getSession', run: () => stateful.getSession(referring()) },
])
