import { exportJWK, generateKeyPair } from 'jose'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { validateLogoutToken } from '../../src/oidc/logout-token.ts'
import { exchange, providerOf, recordingLog, refused, rejection } from './client.ts'
import type { Responder, SigningKey } from './local-provider.ts'
import { json, LocalProvider, signingKey } from './local-provider.ts'
import { faults } from './wire-faults.ts'

let first: SigningKey
let second: SigningKey
let op: LocalProvider
let now: number
const clock = (): number => now

beforeAll(async () => {
  first = await signingKey('k1', 'ES256')
  second = await signingKey('k2', 'ES256')
})
beforeEach(async () => {
  op = await new LocalProvider(first).start()
  op.clock = clock
  now = 1_900_000_000
})
afterEach(() => op.stop())

function rotate(to: SigningKey): void {
  op.key = to
  op.published = [to.publicJwk]
}

test('keys of a server that sends them as application/jwk-set+json only are loaded', async () => {
  op.responders.set('jwks', (response, { headers: { accept = '' } }) => {
    const isAccepted = accept.includes('application/jwk-set+json')
    const type = { 'content-type': 'application/jwk-set+json' }
    json(response, isAccepted ? { keys: op.published } : {}, isAccepted ? 200 : 406, type)
  })
  expect((await exchange(providerOf(op.issuer, { clock }))).claims?.sub).toBe('alice')
})

describe('rotation', () => {
  test('a rotation between two quick logins works, with one reload', async () => {
    const provider = providerOf(op.issuer, { clock })
    await exchange(provider)
    rotate(second)
    expect((await exchange(provider)).claims?.sub).toBe('alice')
    await exchange(provider)
    expect(op.count('jwks')).toBe(2)
  })

  test('a rotation just before signing works for many logins at once, with one reload', async () => {
    const provider = providerOf(op.issuer, { clock })
    await exchange(provider)
    rotate(second)
    const grants = await Promise.all(Array.from({ length: 20 }, () => exchange(provider)))
    expect(grants.map(({ claims }) => claims?.sub)).toEqual(Array(20).fill('alice'))
    expect(op.count('jwks')).toBe(2)
  })

  test('a key that was replaced under the same key id, or without one, is found too', async () => {
    for (const kid of ['k1', undefined]) {
      const server = await new LocalProvider(first).start()
      server.clock = clock
      const provider = providerOf(server.issuer, { clock })
      server.published = [{ ...first.publicJwk, kid }]
      server.idToken = () => server.sign({}, { kid })
      await exchange(provider)
      server.published = [{ ...second.publicJwk, kid }]
      server.idToken = () => server.sign({}, { kid }, second)
      expect((await exchange(provider)).claims?.sub).toBe('alice')
      await server.stop()
    }
  })

  test('a key that replaces an unusable one under the same key id is found too', async () => {
    const provider = providerOf(op.issuer, { clock })
    op.published = [{ ...first.publicJwk, y: first.publicJwk.x }]
    const { cause } = await refused(exchange(provider))
    expect(cause.message).toMatch(/Its signature cannot be verified\. The keys were loaded 0 s ago/)
    op.published = [first.publicJwk]
    now += 5
    expect((await exchange(provider)).claims?.sub).toBe('alice')
  })

  test('[K2] a failed reload is repeated 5 s later, also if strangers send tokens meanwhile', async () => {
    const provider = providerOf(op.issuer, { clock })
    await exchange(provider)
    rotate(second)
    op.responders.set('jwks', (response) => json(response, {}, 503))
    expect(await rejection(exchange(provider))).toMatchObject({ code: 'JWKS_ERROR' })
    now += 4
    const stranger = (): Promise<unknown> =>
      op
        .sign({}, { kid: crypto.randomUUID(), typ: 'logout+jwt' })
        .then((token) => validateLogoutToken(provider, token))
    await rejection(stranger())
    expect((await refused(exchange(provider))).cause.message).toMatch(
      /no key that fits it\. The keys were loaded 4 s ago and may be loaded again in 1 s\./,
    )
    op.responders.clear()
    now += 1
    expect((await exchange(provider)).claims?.sub).toBe('alice')
  })

  test('[K2] unknown key ids of logout tokens do not delay the reload for a login', async () => {
    const provider = providerOf(op.issuer, { clock })
    const logoutToken = (kid: string): Promise<string> => op.sign({}, { kid, typ: 'logout+jwt' })
    await rejection(validateLogoutToken(provider, await logoutToken('unknown')))
    expect(op.count('jwks')).toBe(2)
    rotate(second)
    expect((await exchange(provider)).claims?.sub).toBe('alice')
    expect(op.count('jwks')).toBe(3)
    now += 59
    const error = await rejection(validateLogoutToken(provider, await logoutToken('unknown')))
    expect(String(error)).toMatch(/loaded 59 s ago and may be loaded again in 1 s/)
    expect(op.count('jwks')).toBe(3)
    now += 1
    await rejection(validateLogoutToken(provider, await logoutToken('unknown')))
    expect(op.count('jwks')).toBe(4)
  })

  test('[K2] a flood of unknown key ids loads the keys at most once per 5 s, and valid logins succeed', async () => {
    const provider = providerOf(op.issuer, { clock })
    await exchange(provider)
    const good = op.idToken
    op.idToken = () => op.sign({}, { kid: crypto.randomUUID() })
    for (let attempt = 0; attempt < 50; attempt++) {
      expect((await refused(exchange(provider))).cause.code).toBe('ID_TOKEN_INVALID')
    }
    expect(op.count('jwks')).toBe(2)
    op.idToken = good
    expect((await exchange(provider)).claims?.sub).toBe('alice')
    expect(op.count('jwks')).toBe(2)
    now += 5
    op.idToken = () => op.sign({}, { kid: 'unknown' })
    await Promise.all(Array.from({ length: 20 }, () => refused(exchange(provider))))
    expect(op.count('jwks')).toBe(3)
  })

  test('a removed key is rejected after 600 s', async () => {
    const provider = providerOf(op.issuer, { clock })
    await exchange(provider)
    op.published = [second.publicJwk]
    now += 599
    expect((await exchange(provider)).claims?.sub).toBe('alice')
    now += 1
    const { cause } = await refused(exchange(provider))
    expect(cause.message).toMatch(/no key that fits/)
  })

  test('100 parallel logins without a cache load the metadata once and the keys once', async () => {
    const provider = providerOf(op.issuer, { clock })
    await Promise.all(Array.from({ length: 100 }, () => exchange(provider)))
    expect([op.count('discovery'), op.count('jwks'), op.count('token')]).toEqual([1, 1, 100])
  })

  test('cached keys keep working while their endpoint is down, at any age', async () => {
    const log = recordingLog()
    const provider = providerOf(op.issuer, { clock, log })
    await exchange(provider)
    op.responders.set('jwks', (response) => json(response, {}, 500))
    now += 3600
    expect((await exchange(provider)).claims?.sub).toBe('alice')
    expect(log.events).toContainEqual(
      expect.objectContaining({
        level: 'error',
        code: 'PROVIDER_FAILURE',
        endpoint: 'jwks',
        error: 'JWKS_ERROR',
        status: 500,
      }),
    )
  })
})

describe('wire faults', () => {
  test.each(faults)('$title: no session, not cached, works again afterwards', async (fault) => {
    const provider = providerOf(op.issuer, { clock })
    await provider.metadata()
    const { fetch } = provider.config
    const hurried = providerOf(op.issuer, { clock, fetch, httpTimeout: fault.timeout ? 200 : 20_000 })
    const good: Responder = (response) => json(response, { keys: op.published })
    op.responders.set('jwks', (response, request) => fault.respond(response, request, good))
    const outcome = await (async () => hurried.keys())().then(
      () => 'loaded',
      (error: unknown) => error,
    )
    if (fault.tolerated) expect(outcome).toBe('loaded')
    else expect(outcome).toMatchObject({ name: 'DiscoveryError', code: 'JWKS_ERROR' })
    expect(op.count('jwks')).toBe(1)
    op.responders.clear()
    expect((await exchange(provider)).claims?.sub).toBe('alice')
  })
})

describe('hostile key sets', () => {
  const unusable = 'JWKS_ERROR'
  const refusedToken = 'AUTHORIZATION_CODE_GRANT_ERROR'
  const hostile: [string, string, () => unknown | Promise<unknown>][] = [
    ['no keys member', unusable, () => ({})],
    ['keys that are no list', unusable, () => ({ keys: { '0': first.publicJwk } })],
    ['an empty list', unusable, () => ({ keys: [] })],
    ['garbage entries', refusedToken, () => ({ keys: [null, 1, 'x', [], {}, { kty: 7 }, { kty: 'RSA' }] })],
    ['10 000 keys', unusable, () => ({ keys: Array(10_000).fill(first.publicJwk) })],
    [
      'an oct key under the key id',
      unusable,
      () => ({ keys: [{ kty: 'oct', k: 'c2VjcmV0', kid: 'k1', alg: 'ES256' }] }),
    ],
    [
      'private members',
      unusable,
      async () => ({ keys: [{ ...(await exportJWK(first.privateKey)), kid: 'k1' }] }),
    ],
    [
      'a point that is not on the curve',
      refusedToken,
      () => ({ keys: [{ ...first.publicJwk, x: first.publicJwk.y }] }),
    ],
    ['an unknown curve', refusedToken, () => ({ keys: [{ ...first.publicJwk, crv: 'P-000' }] })],
    ['a key that is a list', unusable, () => ({ keys: [[first.publicJwk]] })],
  ]
  test.each(hostile)('%s: no session, no exception', async (_, code, document) => {
    const set = await document()
    op.responders.set('jwks', (response) => json(response, set))
    const error = await rejection(exchange(providerOf(op.issuer, { clock })))
    expect(error).toMatchObject({ code })
  })

  test('a weak RSA key: no session', async () => {
    const algorithm = {
      name: 'RSASSA-PKCS1-v1_5',
      modulusLength: 1024,
      publicExponent: new Uint8Array([1, 0, 1]),
      hash: 'SHA-256',
    }
    const pair = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
    op.published = [{ ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'RS256' }]
    op.idToken = async () => {
      const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
      const input = `${part({ alg: 'RS256', kid: 'k1' })}.${part(op.claims())}`
      const signature = await crypto.subtle.sign(
        algorithm.name,
        pair.privateKey,
        new TextEncoder().encode(input),
      )
      return `${input}.${Buffer.from(signature).toString('base64url')}`
    }
    expect((await refused(exchange(providerOf(op.issuer, { clock })))).cause.code).toBe('ID_TOKEN_INVALID')
  })

  test('100 keys are read, 101 are not', async () => {
    const others = Array.from({ length: 99 }, (_, index) => ({ ...second.publicJwk, kid: `other-${index}` }))
    op.published = [...others, first.publicJwk]
    expect((await exchange(providerOf(op.issuer, { clock }))).claims?.sub).toBe('alice')
    op.published = [second.publicJwk, ...others, first.publicJwk]
    expect(await rejection(exchange(providerOf(op.issuer, { clock })))).toMatchObject({ code: 'JWKS_ERROR' })
  })

  test.each([
    ['null for what it lacks', { d: null, oth: null, k: null, crv: null, x: null, key_ops: null, ext: null }],
    ['null for its use and algorithm', { alg: null, use: null }],
    ['an empty list of further primes', { oth: [], x5c: [] }],
  ])('a public key with %s is used', async (_, members) => {
    const rsa = await signingKey('k1')
    op.key = rsa
    op.published = [{ ...rsa.publicJwk, ...members }]
    expect((await exchange(providerOf(op.issuer, { clock }))).claims?.sub).toBe('alice')
  })

  test('one valid key among invalid ones is used', async () => {
    const rsa = await generateKeyPair('RS256', { extractable: true })
    const garbage = [
      null,
      { kty: 'oct', k: 'AAAA', kid: 'k1' },
      { kty: 'EC', kid: 'k1', crv: 'P-000' },
      { kty: 'XXX', kid: 'k1' },
    ]
    op.published = [...garbage, await exportJWK(rsa.publicKey), first.publicJwk]
    expect((await exchange(providerOf(op.issuer, { clock }))).claims?.sub).toBe('alice')
  })
})
