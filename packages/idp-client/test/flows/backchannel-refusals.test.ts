import { createHash } from 'node:crypto'
import { exportJWK, exportSPKI, generateKeyPair, importJWK, SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { customClock, customFetch } from '../../src/config/options.ts'
import { codes } from '../../src/errors/codes.ts'
import type { IdpClient, IdpClientOptions, LogEvent } from '../../src/index.ts'
import type { Browser } from '../support/app.ts'
import { APP } from '../support/app.ts'
import type { LogoutWorld, RouteResponse } from '../support/logout-world.ts'
import { deliver, post, ROUTE, startLogoutWorld, toldStore } from '../support/logout-world.ts'
import { SHORT } from '../support/timeouts.ts'

const SUB = 'dev|alice'

let world: LogoutWorld
let browser: Browser
let right: () => Promise<string>
beforeAll(async () => {
  world = await startLogoutWorld()
  browser = await world.signedIn()
  const sid = await world.sidOf(browser)
  right = () => world.provider.logoutToken({ sub: SUB, sid })
})
afterAll(() => world.stop())
beforeEach(() => {
  world.provider.faults.clear()
  world.store.told.length = 0
  world.events.length = 0
})

/** Nothing was ended, nothing can be stored, and nothing says what was in the request. */
async function expectRefused(response: RouteResponse, status: number, code: string): Promise<void> {
  expect([response.status, response.code]).toEqual([status, code])
  expect(Object.keys(JSON.parse(response.text))).toEqual(['error'])
  expect(response.headers.get('cache-control')).toContain('no-store')
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(response.headers.getSetCookie()).toEqual([])
  expect(response.text).not.toMatch(/eyJ|dev\||evil|at .*\.ts/)
  expect(world.store.told).toEqual([])
  expect(await world.userOf(browser)).toBe(SUB)
}

/** A client of its own, whose refusals nobody else has counted. */
function counted(options: IdpClientOptions): { readonly client: IdpClient; readonly events: LogEvent[] } {
  const events: LogEvent[] = []
  const { client } = world.another({
    clientId: crypto.randomUUID(),
    logger: (event) => events.push(event),
    ...options,
  })
  return { client, events }
}

const lines = (events: readonly LogEvent[]): unknown[] =>
  events.map((event) => ('error' in event ? [event.level, event.error, event.detail] : event.code))

describe('requests', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const bodies: [string, (token: string) => [RequestInit['body'], Record<string, string>?], string][] = [
    ['nothing', () => [''], 'INVALID_REQUEST'],
    ['an empty form', () => ['', form], 'BACKCHANNEL_LOGOUT_ERROR'],
    ['a form without the token', (token) => [`token=${token}`, form], 'BACKCHANNEL_LOGOUT_ERROR'],
    ['an empty token', () => ['logout_token=', form], 'BACKCHANNEL_LOGOUT_ERROR'],
    [
      'the token twice',
      (token) => [`logout_token=${token}&logout_token=${token}`, form],
      'BACKCHANNEL_LOGOUT_ERROR',
    ],
    [
      'JSON',
      (token) => [JSON.stringify({ logout_token: token }), { 'content-type': 'application/json' }],
      'INVALID_REQUEST',
    ],
    [
      'a form that says that it is JSON',
      (token) => [`logout_token=${token}`, { 'content-type': 'application/json' }],
      'INVALID_REQUEST',
    ],
    [
      'a form of several parts',
      (token) => {
        const parts = new FormData()
        parts.set('logout_token', token)
        return [parts]
      },
      'INVALID_REQUEST',
    ],
    ['text', (token) => [`logout_token=${token}`, { 'content-type': 'text/plain' }], 'INVALID_REQUEST'],
    [
      'more than 1 MB',
      (token) => [`logout_token=${token}&padding=${'x'.repeat(1_100_000)}`, form],
      'INVALID_REQUEST',
    ],
    ['no token at all', () => ['logout_token=%00%ff<script>', form], 'BACKCHANNEL_LOGOUT_ERROR'],
  ]
  test.each(bodies)('%s: 400', async (_title, make, code) => {
    const [body, headers] = make(await right())
    await expectRefused(await post(world.client, body, headers), 400, code)
  })

  test('are logged once per code and minute, with their number', async () => {
    const { client, events } = counted({})
    for (let count = 0; count < 5; count++) {
      await post(client, 'logout_token=evil', form)
      await post(client, '')
    }
    expect(lines(events)).toEqual([
      ['warn', 'BACKCHANNEL_LOGOUT_ERROR', expect.any(String)],
      ['warn', 'INVALID_REQUEST', expect.any(String)],
    ])
    world.clock.now += 60
    events.length = 0
    await post(client, 'logout_token=evil', form)
    expect(lines(events)).toEqual([
      ['warn', 'BACKCHANNEL_LOGOUT_ERROR', expect.stringMatching(/ 4 more were refused since the last line/)],
    ])
  })

  test('without a store, which anybody can send, are warnings, once a minute', async () => {
    const { client, events } = counted({ sessionStore: undefined })
    for (let count = 0; count < 5; count++) await post(client, 'logout_token=evil', form)
    expect(lines(events)).toEqual([['warn', 'BACKCHANNEL_LOGOUT_NOT_SUPPORTED', expect.any(String)]])
  })

  test('a token in the query is ignored', async () => {
    const path = `${ROUTE}?logout_token=${await right()}`
    await expectRefused(await post(world.client, '', form, path), 400, 'BACKCHANNEL_LOGOUT_ERROR')
    const read = await world.client.middleware(new Request(APP + path))
    expect([read.status, read.headers.get('allow')]).toEqual([405, 'POST'])
    expect(await world.userOf(browser)).toBe(SUB)
  })

  test('any origin and unknown parameters are accepted, and no cookie is read or written', async () => {
    const token = await world.provider.logoutToken({ sid: 'unknown' })
    const response = await post(
      world.client,
      new URLSearchParams({ logout_token: token, state: 'x', logout_hint: 'y', csrf: 'z' }),
      {
        origin: 'https://op.example',
        cookie: '__session=dead; __txn_=dead; other=1',
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'no-cors',
        'sec-fetch-dest': 'empty',
      },
    )
    expect([response.status, response.text, response.headers.get('content-length')]).toEqual([200, '', null])
    expect(response.headers.getSetCookie()).toEqual([])
    expect(response.headers.get('cache-control')).toContain('no-store')
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })

  test.each<[string, IdpClientOptions, Record<string, string>]>([
    ['that is not configured', { appBaseUrl: undefined }, { host: 'anything.internal:8080' }],
    ['that cannot be inferred', { appBaseUrl: undefined }, { host: 'user@evil.example/' }],
    ['that the list does not have', { appBaseUrl: ['https://app.example'] }, { host: '10.0.0.7' }],
  ])('a base URL %s is not needed', async (_title, options, headers) => {
    const store = toldStore()
    const { client } = world.another({ sessionStore: store, ...options })
    const body = new URLSearchParams({ logout_token: await right() })
    expect((await post(client, body, headers)).status).toBe(200)
    expect(store.told).toHaveLength(1)
  })
})

describe('tokens', () => {
  type Forgery = NonNullable<Parameters<LogoutWorld['provider']['logoutToken']>[1]>

  const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
  const now = (): number => world.clock.now
  const set =
    (changes: () => Record<string, unknown>) =>
    (claims: Record<string, unknown>): void => {
      for (const [name, value] of Object.entries(changes())) {
        if (value === undefined) delete claims[name]
        else claims[name] = value
      }
    }

  const forgeries: [string, Forgery][] = [
    ['another issuer', { change: set(() => ({ iss: 'https://evil.example' })) }],
    ['another audience', { change: set(() => ({ aud: 'evil' })) }],
    ['no iat', { change: set(() => ({ iat: undefined })) }],
    ['an iat in the future', { change: set(() => ({ iat: now() + 600 })) }],
    ['an iat an hour ago', { change: set(() => ({ iat: now() - 3600, exp: now() + 60 })) }],
    ['an iat an hour ago and no exp', { change: set(() => ({ iat: now() - 3600, exp: undefined })) }],
    ['an exp in the past', { change: set(() => ({ exp: now() - 61 })) }],
    ['no events', { change: set(() => ({ events: undefined })) }],
    ['other events', { change: set(() => ({ events: { 'https://evil.example/': {} } })) }],
    ['an event that is an array', { change: set(() => ({ events: { [EVENT]: [] } })) }],
    ['a nonce', { change: set(() => ({ nonce: 'n' })) }],
    ['no jti', { change: set(() => ({ jti: undefined })) }],
    ['neither sub nor sid', { change: set(() => ({ sub: undefined, sid: undefined })) }],
    ['a sid that is a number', { change: set(() => ({ sid: 1 })) }],
    ['the type of an access token', { sign: { header: { typ: 'at+jwt' } } }],
    ['the type of a proof', { sign: { header: { typ: 'dpop+jwt' } } }],
    ['the type of another event', { sign: { header: { typ: 'secevent+jwt' } } }],
  ]
  test.each(forgeries)('responds with 400 to a signed token with %s', async (_title, forgery) => {
    const sid = await world.sidOf(browser)
    const token = await world.provider.logoutToken({ sub: SUB, sid }, forgery)
    await expectRefused(await deliver(world.client, token), 400, 'BACKCHANNEL_LOGOUT_ERROR')
  })

  const claimsOf = async (): Promise<Record<string, unknown>> =>
    JSON.parse(Buffer.from((await right()).split('.')[1] ?? '', 'base64url').toString())
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

  test.each(['none', 'None', 'NONE', 'nOnE'])('algorithm %s: 400', async (alg) => {
    const [, payload] = (await right()).split('.')
    for (const signature of ['', 'AAAA']) {
      const token = `${encode({ alg, typ: 'logout+jwt' })}.${payload}.${signature}`
      await expectRefused(await deliver(world.client, token), 400, 'BACKCHANNEL_LOGOUT_ERROR')
    }
  })

  test('a token signed with the client secret or the public key as a secret: 400', async () => {
    const { clientSecret = '', jwks } = world.provider
    const [jwk = {}] = jwks().keys
    const key = await importJWK(jwk, 'RS256', { extractable: true })
    if (key instanceof Uint8Array) throw new Error('the key is a public one')
    const secrets = [clientSecret, JSON.stringify(jwk), await exportSPKI(key)]
    for (const secret of secrets) {
      for (const alg of ['HS256', 'HS384', 'HS512']) {
        const token = await new SignJWT(await claimsOf())
          .setProtectedHeader({ alg, kid: String(jwk.kid), typ: 'logout+jwt' })
          .sign(Buffer.from(secret.padEnd(64)))
        await expectRefused(await deliver(world.client, token), 400, 'BACKCHANNEL_LOGOUT_ERROR')
      }
    }
  })

  test('a token with a key in its header: 400, and no key is loaded from a URL in the token', async () => {
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
    const jwk = await exportJWK(publicKey)
    const evil = `${world.provider.issuer}/evil`
    const kid = String(world.provider.jwks().keys[0]?.kid)
    const token = await new SignJWT(await claimsOf())
      .setProtectedHeader({ alg: 'RS256', kid, typ: 'logout+jwt', jwk, jku: evil, x5u: evil })
      .sign(privateKey)
    const before = world.provider.requests('other').length
    await expectRefused(await deliver(world.client, token), 400, 'BACKCHANNEL_LOGOUT_ERROR')
    expect(world.provider.requests('other')).toHaveLength(before)
  })

  test('other tokens of the provider are not logout tokens: 400', async () => {
    const session = await world.client.getSession(browser.request('/'))
    const { accessToken = '', idToken = '', refreshToken = '' } = session?.tokenSet ?? {}
    for (const token of [idToken, accessToken, refreshToken, 'a.b.c', '..', 'e30.e30.e30.e30.e30']) {
      await expectRefused(await deliver(world.client, token), 400, 'BACKCHANNEL_LOGOUT_ERROR')
    }
  })

  test('the response names the check that failed, for the log of the provider', async () => {
    const token = await world.provider.logoutToken({ sub: SUB }, { change: set(() => ({ aud: 'evil' })) })
    const { text } = await deliver(world.client, token)
    const message = 'The logout token is not valid. aud does not contain the client id.'
    expect(JSON.parse(text)).toEqual({ error: { code: 'BACKCHANNEL_LOGOUT_ERROR', message } })
  })

  test('neither responses nor events identify the session', async () => {
    const sid = await world.sidOf(browser)
    const token = await world.provider.logoutToken({ sub: SUB, sid: 'nobody-has-it' })
    await deliver(world.client, token)
    await deliver(world.client, token)
    const told = JSON.stringify(world.events)
    expect(told).toContain('BACKCHANNEL_LOGOUT')
    const digest = createHash('sha256').update(token).digest('base64url')
    for (const secret of [SUB, sid, 'nobody-has-it', token, digest, world.provider.clientId]) {
      expect(told).not.toContain(secret)
    }
  })
})

describe('a provider that cannot be reached', () => {
  const down = { kind: 'respond', status: 500 } as const

  /** A client that knows nothing of the provider yet. */
  function cold(options: IdpClientOptions = {}): { client: IdpClient; store: ReturnType<typeof toldStore> } {
    const store = toldStore()
    const fresh = async (input: string | URL | Request, init?: RequestInit) => fetch(input, init)
    const { client } = world.another({ sessionStore: store, [customFetch]: fresh, ...options })
    return { client, store }
  }

  test.each([
    ['discovery', 'DISCOVERY_ERROR'],
    ['jwks', 'JWKS_ERROR'],
  ] as const)('%s fails: 503, and a repeated delivery succeeds', async (endpoint, code) => {
    const { client, store } = cold()
    const token = await right()
    world.provider.faults.set(endpoint, down)
    const response = await deliver(client, token)
    expect([response.status, response.code]).toEqual([503, code])
    // The detail of such an error has addresses.
    expect(JSON.parse(response.text)).toEqual({ error: { code, message: codes[code].message } })
    expect(store.told).toEqual([])
    world.provider.faults.clear()
    expect((await deliver(client, token)).status).toBe(200)
    expect(store.told).toHaveLength(1)
  })

  test.each(['discovery', 'jwks'] as const)('%s hangs: 503', async (endpoint) => {
    const { client } = cold({ httpTimeout: SHORT })
    world.provider.faults.set(endpoint, { kind: 'hang' })
    expect((await deliver(client, await right())).status).toBe(503)
  })

  test('cached keys need no request', async () => {
    const { client } = cold()
    expect((await deliver(client, await right())).status).toBe(200)
    world.provider.faults.set('jwks', down)
    world.provider.faults.set('discovery', down)
    expect((await deliver(client, await right())).status).toBe(200)
  })

  test('200 tokens with unknown key ids load the keys at most twice', async () => {
    const { client, store } = cold()
    const { privateKey } = await generateKeyPair('RS256')
    world.provider.clearRequests()
    const responses = Array.from({ length: 200 }, async () => {
      const token = await new SignJWT({ sid: 's' })
        .setProtectedHeader({ alg: 'RS256', kid: crypto.randomUUID() })
        .sign(privateKey)
      return (await deliver(client, token)).status
    })
    expect(new Set(await Promise.all(responses))).toEqual(new Set([400]))
    expect([world.provider.count('discovery'), world.provider.count('jwks')]).toEqual([1, 2])
    expect((await deliver(client, await right())).status).toBe(200)
    expect(store.told).toHaveLength(1)
  })

  test('keys that were replaced just before are found', async () => {
    const { client } = cold()
    expect((await deliver(client, await right())).status).toBe(200)
    await world.provider.rotateKeys()
    expect((await deliver(client, await right())).status).toBe(200)
  })
})

test('the configured clock is used, with the tolerance of ID tokens', async () => {
  const store = toldStore()
  const clock = { now: world.clock.now }
  const { client } = world.another({ sessionStore: store, [customClock]: () => clock.now })
  const token = await world.provider.logoutToken(
    { sub: SUB },
    {
      change: (claims) => {
        delete claims['exp']
        claims['iat'] = clock.now
      },
    },
  )
  clock.now += 661
  expect((await deliver(client, token)).status).toBe(400)
  clock.now -= 1
  expect((await deliver(client, token)).status).toBe(200)
  expect((await deliver(client, token)).code).toBe('LOGOUT_TOKEN_REPLAYED')
})
