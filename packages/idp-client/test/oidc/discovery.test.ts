import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readMetadata } from '../../src/oidc/metadata.ts'
import type { Provider } from '../../src/oidc/provider.ts'
import { providerOf, recordingLog, rejection } from './client.ts'
import type { Responder } from './local-provider.ts'
import { json, LocalProvider, signingKey } from './local-provider.ts'
import { documents } from './provider-documents.ts'
import { faults } from './wire-faults.ts'

let op: LocalProvider

beforeEach(async () => {
  op = await new LocalProvider(await signingKey('k1', 'ES256')).start()
})
afterEach(() => op.stop())

/* Documents that are cached are returned without a promise. */
const load = async (provider: Provider) => provider.metadata()
const loadKeys = async (provider: Provider) => provider.keys()

describe('the issuer', () => {
  test.each(documents)('the document of $name is accepted for its own domain', ({ issuers, document }) => {
    const metadata = readMetadata(document, {
      provider: { url: 'https://unused.example', issuers },
      allowInsecureRequests: false,
    })
    expect(metadata.issuer).toBe(document['issuer'])
    expect(metadata.authorizationEndpoint).toBe(document['authorization_endpoint'])
    expect(metadata.tokenEndpoint).toBe(document['token_endpoint'])
    expect(metadata.jwksUri).toBe(document['jwks_uri'])
    expect(metadata.idTokenAlgorithms).toContain('RS256')
    expect(metadata.idTokenAlgorithms).not.toContain('HS256')
    expect(metadata.unusable.size).toBe(0)
  })

  test.each(documents)(
    'the document of $name is rejected for another domain',
    ({ wrongIssuers, document }) => {
      for (const issuer of wrongIssuers) {
        const config = {
          provider: { url: 'https://unused.example', issuers: [issuer] },
          allowInsecureRequests: false,
        }
        expect(() => readMetadata(document, config)).toThrow(
          expect.objectContaining({ code: 'DISCOVERY_ERROR' }),
        )
      }
    },
  )

  test('a bare host may end in a slash, a path must match exactly', async () => {
    const bare = op.issuer
    for (const issuer of [bare, `${bare}/`]) {
      op.metadata = { issuer }
      const provider = providerOf(bare, { provider: { url: bare, issuers: [`${bare}/`, bare] } })
      expect((await provider.metadata()).issuer).toBe(issuer)
    }
    for (const issuer of [
      'https://evil.example',
      `${bare}/tenant`,
      bare.toUpperCase(),
      `${bare}//`,
      ' ',
      7,
      null,
    ]) {
      op.metadata = { issuer }
      const provider = providerOf(bare, { provider: { url: bare, issuers: [`${bare}/`, bare] } })
      expect(await rejection(load(provider))).toMatchObject({ code: 'DISCOVERY_ERROR' })
    }
  })

  test.each([
    ['https://op.example/realms/a/', 'differs in the trailing slash'],
    ['https://op.example:443/realms/a', 'upper case or a default port'],
    ['https://OP.example/realms/a', 'upper case or a default port'],
    ['https://op.example:8443/realms/a', 'differs in port'],
    ['http://other.example/realms/b', 'differs in scheme, host, path'],
    ['realms/a', 'is missing or not a URL'],
    [undefined, 'is missing or not a URL'],
  ])('the error for %s says what differs', (issuer, difference) => {
    const url = 'https://op.example/realms/a'
    const config = { provider: { url, issuers: [url] }, allowInsecureRequests: false }
    expect(() => readMetadata({ issuer }, config)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(difference) }),
    )
  })
})

describe('the cache', () => {
  test('[S058] 100 parallel calls of two clients without a cache send one request; the next none', async () => {
    const fetch = (input: string | URL | Request, init?: RequestInit): Promise<Response> =>
      globalThis.fetch(input, init)
    const first = providerOf(op.issuer, { fetch })
    const second = providerOf(op.issuer, { fetch })
    await Promise.all(Array.from({ length: 100 }, (_, index) => (index % 2 ? first : second).metadata()))
    await second.metadata()
    expect(op.count('discovery')).toBe(1)
    await providerOf(op.issuer).metadata()
    expect(op.count('discovery')).toBe(2)
  })

  test('[Q4] a client that allows insecure requests shares no metadata with one that does not', async () => {
    const issuer = 'https://op.example'
    const tokenEndpoint = `${op.issuer}/token`
    op.metadata = { issuer, token_endpoint: tokenEndpoint }
    const fetch = (input: string | URL | Request, init?: RequestInit): Promise<Response> =>
      globalThis.fetch(String(input).replace(issuer, op.issuer), init)
    const endpoint = async (allowInsecureRequests: boolean): Promise<string | undefined> =>
      (await providerOf(issuer, { fetch, allowInsecureRequests }).metadata()).tokenEndpoint
    expect([await endpoint(true), await endpoint(false)]).toEqual([tokenEndpoint, undefined])
  })

  test('hundreds of clients with their own fetch displace no document of another client', async () => {
    const provider = providerOf(op.issuer)
    await provider.metadata()
    for (let index = 0; index < 300; index++) {
      const fetch = (input: string | URL | Request, init?: RequestInit): Promise<Response> =>
        globalThis.fetch(input, init)
      await providerOf(op.issuer, { fetch }).metadata()
    }
    const before = op.count('discovery')
    await provider.metadata()
    expect(op.count('discovery')).toBe(before)
  })

  test('nothing is requested before the first use', async () => {
    providerOf(op.issuer)
    await new Promise((resolve) => setImmediate(resolve))
    expect(op.requests).toHaveLength(0)
  })

  test('a failure is not cached, and reaches all waiting callers', async () => {
    const provider = providerOf(op.issuer)
    op.responders.set('discovery', (response) => json(response, {}, 503))
    const outcomes = await Promise.allSettled([provider.metadata(), provider.metadata()])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(op.count('discovery')).toBe(1)
    op.responders.clear()
    expect((await provider.metadata()).issuer).toBe(op.issuer)
  })

  test('after 600 s it is loaded again; a stale one is used while the provider is down', async () => {
    let now = 1000
    const log = recordingLog()
    const provider = providerOf(op.issuer, { clock: () => now, log })
    await provider.metadata()
    now += 599
    await provider.metadata()
    expect(op.count('discovery')).toBe(1)
    now += 2
    op.metadata = { end_session_endpoint: `${op.issuer}/elsewhere` }
    expect((await provider.metadata()).endSessionEndpoint).toBe(`${op.issuer}/elsewhere`)
    expect(op.count('discovery')).toBe(2)
    op.responders.set('discovery', (response) => json(response, {}, 500))
    now += 601
    for (let use = 0; use < 5; use++)
      expect((await provider.metadata()).endSessionEndpoint).toBe(`${op.issuer}/elsewhere`)
    expect(op.count('discovery')).toBe(3)
    expect(log.events).toEqual([
      expect.objectContaining({
        level: 'error',
        code: 'PROVIDER_FAILURE',
        endpoint: 'discovery',
        error: 'DISCOVERY_ERROR',
        status: 500,
        remedy: 'PROVIDER_UNAVAILABLE',
        url: `${op.issuer}/.well-known/openid-configuration`,
      }),
    ])
    op.responders.clear()
    op.metadata = {}
    now += 31
    expect((await provider.metadata()).endSessionEndpoint).toBe(`${op.issuer}/logout`)
  })
})

describe('endpoints', () => {
  const secure = {
    provider: { url: 'https://op.example', issuers: ['https://op.example'] },
    allowInsecureRequests: false,
  }
  const read = (changes: Record<string, unknown>) =>
    readMetadata({ issuer: 'https://op.example', ...changes }, secure)

  test.each([
    ['http://op.example/logout', 'is not https'],
    ['javascript:alert(1)', 'is not https'],
    ['data:text/html,x', 'is not https'],
    ['/logout', 'is not an absolute URL'],
    ['', 'is not an absolute URL'],
    [7, 'is not an absolute URL'],
    [['https://op.example'], 'is not an absolute URL'],
    ['https://user:pw@op.example/logout', 'contains credentials'],
    ['https://user@op.example/logout', 'contains credentials'],
    ['https://:pw@op.example/logout', 'contains credentials'],
    ['https://op.example/logout#x', 'has a fragment'],
  ])('[S058] the URL %s is not used', (address, reason) => {
    const metadata = read({ end_session_endpoint: address, token_endpoint: address, jwks_uri: address })
    expect(metadata.endSessionEndpoint).toBeUndefined()
    expect(metadata.tokenEndpoint).toBeUndefined()
    expect(metadata.unusable.get('jwks_uri')).toBe(reason)
  })

  test('an endpoint on another https host is used, and one on http if insecure requests are allowed', () => {
    expect(read({ token_endpoint: 'https://tokens.example/t' }).tokenEndpoint).toBe(
      'https://tokens.example/t',
    )
    const document = { issuer: 'https://op.example', token_endpoint: 'http://127.0.0.1:1/t' }
    expect(readMetadata(document, { ...secure, allowInsecureRequests: true }).tokenEndpoint).toBe(
      'http://127.0.0.1:1/t',
    )
  })

  test('null counts as absent, as some providers write it for an endpoint that they lack', () => {
    const metadata = read({ revocation_endpoint: null })
    expect([metadata.revocationEndpoint, metadata.unusable.size]).toEqual([undefined, 0])
  })

  test('only the issuer is required at first', async () => {
    op.responders.set('discovery', (response) => json(response, { issuer: op.issuer }))
    const provider = providerOf(op.issuer)
    expect(await provider.metadata()).toMatchObject({
      issuer: op.issuer,
      requirePar: false,
      idTokenAlgorithms: ['RS256'],
    })
    expect(await rejection(loadKeys(provider))).toMatchObject({
      code: 'DISCOVERY_ERROR',
      message: expect.stringMatching(/jwks_uri is missing/),
    })
  })

  test('symmetric, unknown and absent algorithms are ignored', () => {
    const advertised = ['none', 'HS256', 'hs512', 'RS256', 'ES384', 'ML-DSA-44', 7]
    expect(read({ id_token_signing_alg_values_supported: advertised }).idTokenAlgorithms).toEqual([
      'RS256',
      'ES384',
    ])
    expect(read({ id_token_signing_alg_values_supported: ['HS256'] }).idTokenAlgorithms).toEqual([])
    expect(read({ id_token_signing_alg_values_supported: 'HS256' }).idTokenAlgorithms).toEqual(['RS256'])
  })
})

describe('wire faults', () => {
  test.each(faults)(
    '$title: a typed error, not cached, works again afterwards',
    async ({ respond, timeout, tolerated }) => {
      const fetch = (input: string | URL | Request, init?: RequestInit): Promise<Response> =>
        globalThis.fetch(input, init)
      const provider = providerOf(op.issuer, { fetch, httpTimeout: timeout ? 200 : 20_000 })
      const good: Responder = (response) => json(response, op.document())
      op.responders.set('discovery', (response, request) => respond(response, request, good))
      const outcome = await load(provider).then(
        ({ issuer }) => ({ issuer }),
        (error: unknown) => error,
      )
      if (tolerated) expect(outcome).toEqual({ issuer: op.issuer })
      else {
        const code = timeout ? 'DISCOVERY_TIMEOUT' : 'DISCOVERY_ERROR'
        expect(outcome).toMatchObject({
          name: 'DiscoveryError',
          code,
          message: expect.not.stringContaining('<html'),
        })
      }
      expect(op.count('discovery')).toBe(1)
      op.responders.clear()
      expect((await provider.metadata()).issuer).toBe(op.issuer)
      expect(op.requests.filter(({ endpoint }) => endpoint === 'other')).toHaveLength(0)
    },
  )

  test.each([201, 404, 500])('a document with status %i is rejected', async (status) => {
    op.responders.set('discovery', (response) => json(response, op.document(), status))
    expect(await rejection(load(providerOf(op.issuer)))).toMatchObject({
      code: 'DISCOVERY_ERROR',
      message: expect.stringContaining(String(status)),
    })
  })

  test('fails with the code of the system if the port is closed', async () => {
    const closed = await new LocalProvider(op.key).start()
    await closed.stop()
    expect(await rejection(load(providerOf(closed.issuer)))).toMatchObject({
      code: 'DISCOVERY_ERROR',
      message: expect.stringContaining('ECONNREFUSED'),
    })
  })
})
