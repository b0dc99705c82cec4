import type { JWTHeaderParameters } from 'jose'
import { CompactSign, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import { engineFor } from '../../test/support/engine.ts'
import type { IdpClientOptions } from '../config/options.ts'
import { LogoutTokenError } from '../errors/logout-token.ts'
import { validateLogoutToken } from './logout-token.ts'
import type { Provider } from './provider.ts'
import { createProvider } from './provider.ts'
import { readKeySet } from './signed-token.ts'

const ISSUER = 'https://idp.example.com'
const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const now = 1_800_000_000

let privateKey: CryptoKey
let published: string
beforeAll(async () => {
  const pair = await generateKeyPair('ES256', { extractable: true })
  privateKey = pair.privateKey
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' }
  published = JSON.stringify({ keys: [jwk] })
})

/** A provider whose documents are here already; nothing of it talks to a network. */
function providerOf(options: IdpClientOptions = {}): Provider {
  const { config } = engineFor(options).engine
  return {
    ...createProvider(config),
    send: () => Promise.reject(new Error('not expected')),
    metadata: async () => ({
      issuer: ISSUER,
      idTokenAlgorithms: ['ES256'],
      requirePar: false,
      issuerInCallback: false,
      unusable: new Map(),
    }),
    keys: async () => readKeySet(published),
    newerKeys: async () => ({ newer: null, age: 0, pause: 60 }),
  }
}

type Members = Readonly<Record<string, unknown>>

function without(members: Members): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

function tokenOf(claims: Members = {}, header: Members = {}): Promise<string> {
  const complete = {
    iss: ISSUER,
    aud: 'client',
    iat: now,
    jti: 'j1',
    sub: 'alice',
    sid: 's1',
    events: { [EVENT]: {} },
    ...claims,
  }
  const protectedHeader = without({ alg: 'ES256', kid: 'k1', typ: 'logout+jwt', ...header })
  return new SignJWT(without(complete))
    .setProtectedHeader(protectedHeader as unknown as JWTHeaderParameters)
    .sign(privateKey)
}

async function refusalOf(token: string, provider = providerOf()): Promise<string> {
  const error: unknown = await validateLogoutToken(provider, token).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof LogoutTokenError)) throw new Error('expected a LogoutTokenError', { cause: error })
  expect([error.code, error.cause]).toEqual(['BACKCHANNEL_LOGOUT_ERROR', undefined])
  return error.message
}

test('a valid token returns the sessions that end, and the time until which it can be replayed', async () => {
  expect(await validateLogoutToken(providerOf(), await tokenOf())).toEqual({
    iss: ISSUER,
    sub: 'alice',
    sid: 's1',
    jti: 'j1',
    iat: now,
    endsAt: now + 661,
  })
})

test('a token that was issued within a second has times in seconds, as clocks and stores have them', async () => {
  const notice = await validateLogoutToken(providerOf(), await tokenOf({ iat: now - 0.5 }))
  expect([notice.iat, notice.endsAt]).toEqual([now - 1, now + 661])
})

test('[B10] tokens without exp are accepted, and reported once', async () => {
  // A process reports each notice once.
  Reflect.deleteProperty(globalThis, Symbol.for('idp-client'))
  const notices: string[] = []
  const provider = providerOf({ logger: (event) => event.code === 'NOTICE' && notices.push(event.message) })
  await validateLogoutToken(provider, await tokenOf({ exp: now + 120 }))
  expect(notices).toEqual([])
  for (const jti of ['j1', 'j2']) await validateLogoutToken(provider, await tokenOf({ jti }))
  expect(notices).toEqual([expect.stringMatching(/logout tokens have no exp/)])
})

test('[B9] a configured algorithm is the only accepted one, advertised or not', async () => {
  const token = await tokenOf()
  expect(await validateLogoutToken(providerOf({ idTokenSignedResponseAlg: 'ES256' }), token)).toMatchObject({
    jti: 'j1',
  })
  expect(await refusalOf(token, providerOf({ idTokenSignedResponseAlg: ['RS256', 'PS256'] }))).toMatch(
    /ES256, which the option idTokenSignedResponseAlg does not name/,
  )
})

describe('the type', () => {
  test.each(['logout+jwt', 'application/logout+jwt', 'JWT', 'jwt', 'Logout+JWT', undefined])(
    '%s is accepted',
    async (typ) => {
      expect(await validateLogoutToken(providerOf(), await tokenOf({}, { typ }))).toMatchObject({ jti: 'j1' })
    },
  )

  test.each([
    'at+jwt',
    'dpop+jwt',
    'secevent+jwt',
    'application/at+jwt',
    'logout+jwt ',
    '',
    7,
    null,
    ['JWT'],
  ])('%j is rejected', async (typ) => {
    expect(await refusalOf(await tokenOf({}, { typ }))).toMatch(/another kind/)
  })
})

describe('claims', () => {
  const right: [string, Members][] = [
    ['sid alone', { sub: undefined }],
    ['sub alone', { sid: undefined }],
    ['several audiences', { aud: ['api', 'client'] }],
    ['an end', { exp: now + 120 }],
    ['an end within the tolerance', { exp: now - 59 }],
    ['the greatest age', { iat: now - 660 }],
    ['a clock that is a little ahead', { iat: now + 60 }],
    ['further events', { events: { [EVENT]: { more: 1 }, 'https://other.example/event': 7 } }],
    ['further claims', { sid: '<b>\r\n', groups: ['a'], toString: 'x' }],
  ]
  test.each(right)('with %s are accepted', async (_title, claims) => {
    expect(await validateLogoutToken(providerOf(), await tokenOf(claims))).toMatchObject({ jti: 'j1' })
  })

  const wrong: [string, Members, RegExp][] = [
    ['another issuer', { iss: 'https://evil.example' }, /iss /],
    ['the issuer with a slash more', { iss: `${ISSUER}/` }, /iss /],
    ['the issuer in a list', { iss: [ISSUER] }, /iss /],
    ['no issuer', { iss: undefined }, /iss /],
    ['another audience', { aud: 'client-2' }, /aud /],
    ['an audience that begins like ours', { aud: ['client-2', 'clien'] }, /aud /],
    ['an empty audience list', { aud: [] }, /aud /],
    ['no audience', { aud: undefined }, /aud /],
    ['no iat', { iat: undefined }, /iat /],
    ['iat as text', { iat: String(now) }, /iat /],
    ['an iat in the future', { iat: now + 61 }, /iat .*clock/],
    ['an iat too long ago', { iat: now - 661 }, /iat .*clock/],
    ['an old iat and an end to come', { iat: now - 3600, exp: now + 3600 }, /iat .*clock/],
    ['an end that is past', { exp: now - 60 }, /exp /],
    ['an end as text', { exp: String(now + 60) }, /exp /],
    ['null as end', { exp: null }, /exp /],
    ['a beginning to come', { nbf: now + 61 }, /nbf /],
    ['no jti', { jti: undefined }, /jti /],
    ['an empty jti', { jti: '' }, /jti /],
    ['a jti that is a number', { jti: 7 }, /jti /],
    ['no events', { events: undefined }, /events /],
    ['events as text', { events: EVENT }, /events /],
    ['events as a list', { events: [EVENT] }, /events /],
    ['other events only', { events: { 'https://other.example/event': {} } }, /events /],
    ['the event as a list', { events: { [EVENT]: [] } }, /events /],
    ['the event as null', { events: { [EVENT]: null } }, /events /],
    ['the event as text', { events: { [EVENT]: '{}' } }, /events /],
    ['a nonce', { nonce: 'n' }, /nonce/],
    ['null as nonce', { nonce: null }, /nonce/],
    ['neither sub nor sid', { sub: undefined, sid: undefined }, /neither/],
    ['an empty sub', { sub: '' }, /sub /],
    ['a sub that is a number', { sub: 7 }, /sub /],
    ['null as sub', { sub: null }, /sub /],
    ['an empty sid', { sid: '' }, /sid /],
    ['a sid in a list', { sid: ['s1'] }, /sid /],
  ]
  test.each(wrong)('with %s are rejected', async (_title, claims, detail) => {
    expect(await refusalOf(await tokenOf(claims))).toMatch(detail)
  })

  test('are compared with the configured skew and tolerance', async () => {
    const provider = providerOf({ dpopOptions: { clockSkew: 1000, clockTolerance: 10 } })
    const notice = await validateLogoutToken(provider, await tokenOf({ iat: now + 1010 }))
    expect(notice.endsAt).toBe(now + 621)
    expect(await refusalOf(await tokenOf({ iat: now + 1011 }), provider)).toMatch(/iat /)
    expect(await refusalOf(await tokenOf({ iat: now + 389 }), provider)).toMatch(/iat /)
  })

  test('named like properties of Object.prototype do not change it', async () => {
    const text = JSON.stringify({ iss: ISSUER, aud: 'client', iat: now, jti: 'j1', sid: 's1' })
    const events = `"events":{"${EVENT}":{},"__proto__":{"polluted":1}},"__proto__":{"polluted":1}`
    const token = await new CompactSign(new TextEncoder().encode(`${text.slice(0, -1)},${events}}`))
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .sign(privateKey)
    expect(await validateLogoutToken(providerOf(), token)).toMatchObject({ sid: 's1' })
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })
})

describe('the signature', () => {
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

  test('by another key is rejected before the claims are read', async () => {
    const { privateKey: stranger } = await generateKeyPair('ES256')
    const token = await new SignJWT({ sid: 's1' })
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .sign(stranger)
    expect(await refusalOf(token)).toMatch(/signature/)
  })

  test.each([
    ['none', (rest: string) => `${encode({ alg: 'none', kid: 'k1' })}.${rest}`],
    ['HMAC', (rest: string) => `${encode({ alg: 'HS256', kid: 'k1' })}.${rest}`],
    ['no algorithm', (rest: string) => `${encode({ kid: 'k1' })}.${rest}`],
    ['no header', (rest: string) => `!.${rest}`],
    ['five parts', (rest: string) => `${encode({ alg: 'ES256' })}.e30.e30.${rest}`],
  ])('by %s is rejected', async (_title, forge) => {
    const [, payload, signature] = (await tokenOf()).split('.')
    expect(await refusalOf(forge(`${payload}.${signature}`))).toMatch(/algorithm|header|compact/)
  })

  test('with a critical extension is rejected', async () => {
    const token = await tokenOf({}, { b64: true, crit: ['b64'] })
    expect(await refusalOf(token)).toMatch(/extension/)
  })
})

test('[I2] a token of more than 1 MiB is rejected, even with a valid signature', async () => {
  const limit = 1_048_576
  const padded = async (characters: number): Promise<string> => tokenOf({ padding: 'x'.repeat(characters) })
  // Four characters for three bytes: the rest of the token decides which lengths there are.
  const overhead = (await padded(0)).length
  const characters = Math.floor(((limit - overhead) * 3) / 4) - 4
  const longest = await padded(characters)
  expect(longest.length).toBeGreaterThan(limit - 16)
  expect(longest.length).toBeLessThanOrEqual(limit)
  expect((await validateLogoutToken(providerOf(), longest)).sub).toBe('alice')
  const longer = await padded(characters + 16)
  expect(longer.length).toBeGreaterThan(limit)
  expect(await refusalOf(longer)).toMatch(/too long/)
})
