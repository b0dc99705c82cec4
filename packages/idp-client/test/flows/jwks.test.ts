import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JWK } from 'jose'
import {
  createLocalJWKSet,
  decodeProtectedHeader,
  exportJWK,
  exportPKCS8,
  exportSPKI,
  generateKeyPair,
  jwtVerify,
} from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { IdpClient, IdpClientOptions, PublicJwk } from '../../src/index.ts'
import { generateDpopKeyPair } from '../../src/index.ts'
import type { World } from '../support/app.ts'
import { Browser, startWorld } from '../support/app.ts'
import { rejectionOf } from '../support/provider-engine.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  world.provider.clearRequests()
  world.events.length = 0
})

const keysOf = async (options: IdpClientOptions) => (await world.another(options).client.jwks()).keys

interface Pair {
  readonly key: CryptoKey
  readonly pem: string
  readonly jwk: JWK
  readonly publicPem: string
}

async function newPair(alg: string): Promise<Pair> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  const [pem, publicPem, jwk] = await Promise.all([
    exportPKCS8(privateKey),
    exportSPKI(publicKey),
    exportJWK(publicKey),
  ])
  return { key: privateKey, pem, publicPem, jwk }
}

/** Making an RSA key takes long, so tests that need any key of an algorithm share it. */
const shared = new Map<string, Promise<Pair>>()

function anyPair(alg: string): Promise<Pair> {
  const pair = shared.get(alg) ?? newPair(alg)
  shared.set(alg, pair)
  return pair
}

const PUBLIC = ['alg', 'crv', 'e', 'kid', 'kty', 'n', 'use', 'x', 'y']

describe('the public keys', () => {
  test.each(['RS256', 'PS256', 'ES256', 'ES384', 'ES512', 'EdDSA'])(
    'of a private key for %s have no member of that key, whether it is PEM text or a CryptoKey',
    async (alg) => {
      const { jwk, key, pem } = await anyPair(alg)
      const secret: Record<string, unknown> = await exportJWK(key)
      for (const given of [key, pem]) {
        const keys = await keysOf({
          clientAssertionSigningKey: given,
          clientAssertionSigningAlg: alg,
          clientAssertionSigningKeyId: 'k',
        })
        expect(keys).toEqual([{ ...jwk, kid: 'k', alg, use: 'sig' }])
        const text = JSON.stringify(keys)
        for (const name of ['d', 'p', 'q', 'dp', 'dq', 'qi'])
          if (typeof secret[name] === 'string') expect(text).not.toContain(secret[name])
        for (const name of Object.keys(keys[0] ?? {})) expect(PUBLIC).toContain(name)
      }
    },
  )

  test('verify what the client signs, with the kid in its header', async () => {
    const [assertions, requests] = [await anyPair('ES256'), await anyPair('RS256')]
    const options: IdpClientOptions = {
      clientAssertionSigningKey: assertions.pem,
      clientAssertionSigningKeyId: 'assertions-1',
      requestObject: { key: requests.key, keyId: 'requests-1' },
    }
    const { browser, client } = world.another(options)
    const jwks = await client.jwks()
    const request = new URL(await world.begin(browser)).searchParams.get('request') ?? ''
    expect(decodeProtectedHeader(request).kid).toBe('requests-1')
    await jwtVerify(request, createLocalJWKSet(jwks))
    await rejectionOf(
      client.customTokenExchange({ subjectToken: 'alice', subjectTokenType: 'urn:example:user' }),
    )
    const assertion = world.provider.requests('token')[0]?.body['client_assertion'] ?? ''
    expect(decodeProtectedHeader(assertion).kid).toBe('assertions-1')
    await jwtVerify(assertion, createLocalJWKSet(jwks))
  })

  test('of a key that has no kid have none, and no alg if the key has several', async () => {
    const { jwk, pem } = await anyPair('RS256')
    expect(await keysOf({ clientAssertionSigningKey: pem })).toEqual([{ ...jwk, use: 'sig' }])
  })

  test('are listed once for each key and kid, for all algorithms of the key', async () => {
    const { jwk, pem, publicPem } = await anyPair('RS256')
    const clientAssertion = {
      clientAssertionSigningKey: pem,
      clientAssertionSigningAlg: 'RS256',
      clientAssertionSigningKeyId: 'a',
    }
    const same = { ...clientAssertion, requestObject: { key: pem, alg: 'RS256', keyId: 'a' } }
    expect(
      await keysOf({ ...same, additionalPublicKeys: [publicPem, { ...(jwk as PublicJwk), alg: 'RS256' }] }),
    ).toEqual([{ ...jwk, kid: 'a', use: 'sig' }])
    expect(await keysOf(same)).toEqual([{ ...jwk, kid: 'a', alg: 'RS256', use: 'sig' }])
    expect(
      await keysOf({ ...clientAssertion, requestObject: { key: pem, alg: 'PS256', keyId: 'a' } }),
    ).toEqual([{ ...jwk, kid: 'a', use: 'sig' }])
    const pair = { clientAssertionSigningKey: pem, requestObject: { key: pem, alg: 'PS256', keyId: 'a' } }
    const another = await anyPair('ES256')
    expect(await keysOf({ ...pair, additionalPublicKeys: [another.publicPem, publicPem] })).toEqual([
      { ...jwk, kid: 'a', use: 'sig' },
      expect.objectContaining({ kty: 'EC' }),
    ])
    const others = await keysOf({ ...clientAssertion, requestObject: { key: pem, alg: 'RS256', keyId: 'b' } })
    expect(others.map(({ kid }) => kid)).toEqual(['a', 'b'])
  })

  test('contain neither the key of DPoP nor the secret, and no further member of an additional key', async () => {
    const { jwk } = await newPair('EdDSA')
    const additional = {
      ...jwk,
      kid: 'next',
      key_ops: ['verify'],
      x5c: ['certificate'],
      note: 'x',
    } as PublicJwk
    const keys = await keysOf({
      useDPoP: true,
      dpopKeyPair: await generateDpopKeyPair({ extractable: true }),
      additionalPublicKeys: [additional],
    })
    expect(keys).toEqual([{ ...jwk, kid: 'next', use: 'sig' }])
  })

  test.each(['RS256', 'ES256', 'ES384', 'ES512', 'EdDSA'])('may be PEM text: %s', async (alg) => {
    const { jwk, publicPem } = await anyPair(alg)
    expect(await keysOf({ additionalPublicKeys: [publicPem] })).toEqual([{ ...jwk, use: 'sig' }])
  })

  test('are copies: changing them changes nothing', async () => {
    const { pem } = await anyPair('ES256')
    const { client } = world.another({ clientAssertionSigningKey: pem })
    const { keys } = await client.jwks()
    keys.length = 0
    expect((await client.jwks()).keys).toHaveLength(1)
  })
})

describe('a configuration error names the remedy', () => {
  const detailOf = async (options: IdpClientOptions): Promise<unknown> => {
    const error = await rejectionOf(world.another(options).client.jwks())
    expect(error).toMatchObject({ code: 'INVALID_CONFIGURATION' })
    return error['detail']
  }

  test('without a key', async () => {
    expect(await detailOf({})).toMatch(/set clientAssertionSigningKey, requestObject or additionalPublicKeys/)
  })

  test('for a CryptoKey that is not extractable, unless its public key is an additional one with its kid', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: false })
    const jwk = (await exportJWK(publicKey)) as PublicJwk
    const requestObject = { key: privateKey, keyId: 'r-1' }
    expect(await detailOf({ requestObject })).toMatch(
      /^requestObject\.key is a CryptoKey that is not extractable.*additionalPublicKeys, with the kid that requestObject\.keyId has/,
    )
    const additionalPublicKeys = [{ ...jwk, kid: 'r-1' }]
    expect(await detailOf({ requestObject: { key: privateKey }, additionalPublicKeys })).toMatch(
      /not extractable/,
    )
    expect(await keysOf({ requestObject, additionalPublicKeys })).toEqual([
      { ...jwk, kid: 'r-1', use: 'sig' },
    ])
  })

  test('for two keys with one kid, and for PEM text that is not a key', async () => {
    const [one, other] = [await newPair('ES256'), await newPair('ES256')]
    const additionalPublicKeys = [{ ...(other.jwk as PublicJwk), kid: 'k' }]
    const own = { clientAssertionSigningKey: one.pem, clientAssertionSigningKeyId: 'k' }
    expect(await detailOf({ ...own, additionalPublicKeys })).toMatch(/Two different keys have the same kid/)
    const broken = one.publicPem.replace(/.{8}(?=\s*-----END)/, 'AAAAAAAA')
    expect(await detailOf({ additionalPublicKeys: [broken.replace(/A{8}/, '')] })).toMatch(
      /^additionalPublicKeys\[0\] cannot be read as a key/,
    )
  })
})

describe('the route', () => {
  test('responds with the same keys, may be cached by anybody, and sets no cookie', async () => {
    const { pem } = await anyPair('ES256')
    const { browser, client } = world.another({ clientAssertionSigningKey: pem, enableJwksEndpoint: true })
    for (const headers of [{}, { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'empty' }]) {
      const response = await browser.send('/auth/jwks', { headers })
      expect(response.status).toBe(200)
      expect(await response.json()).toEqual(await client.jwks())
      expect(response.headers.get('cache-control')).toBe('public, max-age=300')
      expect(response.headers.get('content-type')).toBe('application/json')
      expect(response.headers.getSetCookie()).toEqual([])
    }
    const refused = await browser.send('/auth/jwks', { method: 'POST' })
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET'])
    expect(refused.headers.get('cache-control')).toContain('no-store')
  })

  test('responds at every address of the application, which a provider may reach by another name', async () => {
    const { pem } = await anyPair('ES256')
    const appBaseUrl = ['https://one.example', 'https://other.example']
    const { client } = world.another({ clientAssertionSigningKey: pem, enableJwksEndpoint: true, appBaseUrl })
    const response = await client.middleware(new Request('http://10.0.0.7:3000/auth/jwks'))
    expect(response.status).toBe(200)
  })

  test('has its path by routes.jwks, and is off by default', async () => {
    const { pem } = await anyPair('ES256')
    const moved = { enableJwksEndpoint: true, routes: { jwks: '/keys.json' } }
    const { browser } = world.another({ clientAssertionSigningKey: pem, ...moved })
    expect((await browser.send('/keys.json')).headers.get('content-type')).toBe('application/json')
    const off = await world.another({ clientAssertionSigningKey: pem }).browser.send('/auth/jwks')
    expect(off.headers.get('x-middleware-next')).toBe('1')
  })

  test('without a key responds 500, uncacheable, and the log has the remedy', async () => {
    const response = await world.another({ enableJwksEndpoint: true }).browser.send('/auth/jwks')
    expect(response.status).toBe(500)
    expect(response.headers.get('cache-control')).toContain('no-store')
    expect(await response.json()).toMatchObject({ error: { code: 'INVALID_CONFIGURATION' } })
    expect(JSON.stringify(world.events)).toContain('set clientAssertionSigningKey, requestObject')
  })
})

test('a provider that loads the keys by jwks_uri accepts the old and the new key, before and after the switch', async () => {
  const [old, next] = [await newPair('ES256'), await newPair('ES256')]
  const signWith = (pair: Pair, kid: string): IdpClientOptions => ({
    clientAssertionSigningKey: pair.key,
    clientAssertionSigningKeyId: kid,
    requestObject: { key: pair.key, keyId: kid },
  })
  let current: IdpClient | undefined
  const server = createServer(async (request, response) => {
    const found = await current?.middleware(new Request(`http://localhost:3000${request.url}`))
    response.writeHead(found?.status ?? 500, Object.fromEntries(found?.headers ?? []))
    response.end(await found?.text())
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  try {
    const { clientId } = await world.provider.addClient({
      tokenEndpointAuthMethod: 'private_key_jwt',
      requireSignedRequests: true,
      jwksUri: `http://127.0.0.1:${port}/auth/jwks`,
      apps: ['http://localhost:3000'],
    })
    const start = (options: IdpClientOptions) =>
      world.another({ clientId, clientSecret: undefined, enableJwksEndpoint: true, ...options })
    const publicKey = ({ jwk }: Pair, kid: string) => [{ ...(jwk as PublicJwk), kid }]
    const before = start({ ...signWith(old, 'k-1'), additionalPublicKeys: publicKey(next, 'k-2') })
    const after = start({ ...signWith(next, 'k-2'), additionalPublicKeys: publicKey(old, 'k-1') })
    const location = async (browser: Browser) => (await world.login(browser)).headers.get('location')

    current = before.client
    expect(await location(before.browser)).toBe('http://localhost:3000/')
    // The provider still has the set that it loaded before the switch.
    expect(await location(after.browser)).toBe('http://localhost:3000/')
    current = after.client
    world.clock.now += 301
    expect(await location(after.browser)).toBe('http://localhost:3000/')
    expect(await location(new Browser(before.client))).toBe('http://localhost:3000/')
    const stranger = await newPair('ES256')
    const { browser } = start(signWith(stranger, 'k-1'))
    const refused = await world.provider.visit(await world.begin(browser))
    expect(refused.kind).not.toBe('form')
    expect(JSON.stringify(refused)).toContain('invalid_request_object')
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})
