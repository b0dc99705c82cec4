import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JWK } from 'jose'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { GuardedApi, Outcome } from '../support/guarded-api.ts'
import { API, provideGuardedApi } from '../support/guarded-api.ts'

/** Access tokens that are bound to a certificate (RFC 8705), nonces of DPoP (RFC 9449 section 9), and origins of pages. */

let api: GuardedApi
provideGuardedApi((started) => {
  api = started
})

describe('a token that is bound to a certificate', () => {
  let folder: string
  let pem: string
  let der: Buffer
  let token: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'certificate-'))
    const file = join(folder, 'client.pem')
    const key = join(folder, 'key.pem')
    const subject = ['-subj', '/CN=client', '-days', '1', '-nodes']
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']
    execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-keyout', key, '-out', file], {
      stdio: 'ignore',
    })
    pem = readFileSync(file, 'utf8')
    der = execFileSync('openssl', ['x509', '-in', file, '-outform', 'der'])
    const thumbprint = execFileSync('openssl', ['dgst', '-sha256', '-binary'], { input: der })
    token = await api.sign({ cnf: { 'x5t#S256': thumbprint.toString('base64url') } })
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const send = (clientCertificate?: () => unknown, scheme = 'Bearer'): Promise<Outcome> => {
    const resource = { clientCertificate } as object
    return api.call({ authorization: `${scheme} ${token}` }, clientCertificate ? { resource } : {})
  }

  test('passes with that certificate, as PEM or DER, also a header that a proxy has encoded', async () => {
    const encoded = encodeURIComponent(pem)
    for (const certificate of [pem, new Uint8Array(der), decodeURIComponent(encoded), `${pem}${pem}`])
      expect((await send(() => certificate)).status).toBe(200)
    expect((await send(async () => pem)).status).toBe(200)
  })

  test('gets the headers of the request', async () => {
    const authorization = `Bearer ${token}`
    const headers = { 'x-client-cert': encodeURIComponent(pem) }
    const resource = {
      clientCertificate: (request: { readonly headers: { get(name: string): string | null } }) =>
        decodeURIComponent(request.headers.get('x-client-cert') ?? ''),
    }
    expect((await api.call({ authorization, headers }, { resource })).status).toBe(200)
    expect((await api.call({ authorization }, { resource })).status).toBe(401)
  })

  test('needs one: empty bytes are no certificate, whatever the token is bound to', async () => {
    const bound = await api.sign({ cnf: { 'x5t#S256': createHash('sha256').digest('base64url') } })
    const resource = { clientCertificate: () => new Uint8Array() }
    expect((await api.call({ authorization: `Bearer ${bound}` }, { resource })).status).toBe(401)
  })

  test.each<[string, () => unknown]>([
    ['no certificate', () => undefined],
    ['an empty one', () => ''],
    ['empty bytes', () => new Uint8Array()],
    ['another one', () => new Uint8Array([...der, 0])],
    ['other text', () => 'certificate'],
    ['PEM without base64', () => '-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----'],
    ['PEM with broken base64', () => '-----BEGIN CERTIFICATE-----\na=b\n-----END CERTIFICATE-----'],
    ['a list, as of a proxy that appends', () => `${pem},${pem}`],
    ['a private key', () => pem.replaceAll('CERTIFICATE', 'PRIVATE KEY')],
    ['null', () => null],
    ['a number', () => 7],
  ])('is refused with %s', async (_, certificate) => {
    expect(await send(certificate)).toMatchObject({ status: 401, error: 'invalid_token' })
  })

  test('is refused without the option, as DPoP, and if the function throws', async () => {
    expect((await send()).status).toBe(401)
    expect((await send(() => pem, 'DPoP')).status).toBe(401)
    const throws = (): never => {
      throw new Error('no proxy')
    }
    expect((await send(throws)).status).toBe(500)
  })

  test.each([
    [{ 'x5t#S256': 'short' }],
    [{ jkt: 'a'.repeat(43), 'x5t#S256': 'a'.repeat(43) }],
    [{ 'x5t#S256': ['a'.repeat(43)] }],
    [{}],
    ['x5t#S256'],
  ])('is refused with the binding %j', async (cnf) => {
    const authorization = `Bearer ${await api.sign({ cnf })}`
    expect((await api.call({ authorization }, { resource: { clientCertificate: () => pem } })).status).toBe(
      401,
    )
  })
})

test('the metadata says whether tokens may be bound to a certificate (RFC 9728 section 2)', async () => {
  const audience = 'https://app.example.test/'
  for (const [options, isSupported] of [
    [{}, undefined],
    [{ clientCertificate: () => undefined }, true],
  ] as const) {
    const { client } = api.world.another()
    client.resource({ audience, metadata: true, ...options })
    const url = 'http://localhost:3000/.well-known/oauth-protected-resource'
    const document = await (await client.middleware(new Request(url))).json()
    expect(document.resource).toBe(audience)
    expect(document.tls_client_certificate_bound_access_tokens).toBe(isSupported)
  }
})

describe('a nonce', () => {
  let privateKey: CryptoKey
  let jwk: JWK
  let token: string
  beforeAll(async () => {
    const pair = await generateKeyPair('ES256', { extractable: true })
    privateKey = pair.privateKey
    jwk = await exportJWK(pair.publicKey)
    token = await api.sign({ cnf: { jkt: await calculateJwkThumbprint(jwk) } })
  })

  async function prove(nonce: unknown, jti: string = crypto.randomUUID()): Promise<string> {
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token))
    const ath = Buffer.from(digest).toString('base64url')
    const iat = api.world.clock.now
    const claims = { jti, htm: 'GET', htu: 'http://localhost:3000/api/orders', iat, ath, nonce }
    return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk }).sign(privateKey)
  }

  const send = (dpop: string): Promise<Outcome> =>
    api.call({ authorization: `DPoP ${token}`, headers: { dpop } }, { resource: { dpop: { nonce: true } } })

  test('is demanded, given, and accepted for 300 s by every client with the same secret', async () => {
    const refused = await send(await prove(undefined))
    expect(refused).toMatchObject({ status: 401, error: 'use_dpop_nonce' })
    expect(refused.challenge).toMatch(/^DPoP error="use_dpop_nonce", .*algs="/)
    const nonce = refused.headers.get('dpop-nonce') ?? ''
    expect(nonce).toMatch(/^[\w.-]+$/)
    const { clock } = api.world
    for (const seconds of [0, 150, 150]) {
      clock.now += seconds
      expect((await send(await prove(nonce))).status).toBe(200)
    }
    clock.now += 1
    const late = await send(await prove(nonce))
    expect(late).toMatchObject({ status: 401, error: 'use_dpop_nonce' })
    clock.now -= 301
  })

  test('of a process whose clock is ahead is accepted up to 300 s', async () => {
    const { clock } = api.world
    clock.now += 301
    const nonce = (await send(await prove(undefined))).headers.get('dpop-nonce')
    clock.now -= 300
    expect((await send(await prove(nonce))).status).toBe(200)
    clock.now -= 1
    expect(await send(await prove(nonce))).toMatchObject({ status: 401, error: 'use_dpop_nonce' })
  })

  test('that is refused does not use the proof up, and one that is accepted does', async () => {
    const nonce = (await send(await prove(undefined))).headers.get('dpop-nonce')
    const jti = crypto.randomUUID()
    expect((await send(await prove('other', jti))).error).toBe('use_dpop_nonce')
    expect((await send(await prove(nonce, jti))).status).toBe(200)
    expect(await send(await prove(nonce, jti))).toMatchObject({ status: 401, error: 'invalid_dpop_proof' })
  })

  test.each(['x', '', 7, ['a'], 'eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..a.b.c'])(
    '%j is refused',
    async (nonce) => {
      expect(await send(await prove(nonce))).toMatchObject({ status: 401, error: 'use_dpop_nonce' })
    },
  )
})

describe('origins', () => {
  const resource = { origins: ['https://inspector.example'] }
  test.each<[string | undefined, number]>([
    [undefined, 200],
    ['https://inspector.example', 200],
    ['http://localhost:3000', 200],
    ['https://evil.example', 403],
    ['https://inspector.example.evil.example', 403],
    ['null', 403],
    ['', 403],
  ])('a token from a page of %s', async (origin, status) => {
    const headers = origin === undefined ? {} : { origin }
    const outcome = await api.call({ ...(await api.bearer()), headers }, { resource })
    expect(outcome.status).toBe(status)
    if (status === 403) expect(outcome.error).toBe('cross_site_request')
  })

  test('a page of another origin is refused before its credential, also if it has none', async () => {
    const headers = { origin: 'https://evil.example' }
    for (const request of [{ headers }, { headers, cookie: true }, { headers, authorization: 'Bearer x' }])
      expect((await api.call(request, { mixed: true, resource })).status).toBe(403)
  })

  test('a page of the configured appBaseUrl is one of the application', async () => {
    const appBaseUrl = 'https://app.example.test'
    const { client } = api.world.another({ appBaseUrl })
    const headers = { origin: appBaseUrl, authorization: (await api.bearer()).authorization ?? '' }
    const accept = [client.resource({ audience: API, ...resource })]
    const { auth } = await client.requireAuth(new Request(`${appBaseUrl}/api`, { headers }), { accept })
    expect(auth).toMatchObject({ kind: 'token' })
  })
})

test('a page may use its token only where that resource allows its origin', async () => {
  const { client } = api.world
  const accept = [
    client.resource({ audience: API, origins: ['https://a.example'] }),
    client.resource({ audience: 'https://orders.example.test/', origins: ['https://b.example'] }),
    client.resource({ audience: 'https://open.example.test/' }),
  ]
  const statusOf = async (origin: string, aud = API) => {
    const headers = { authorization: `Bearer ${await api.sign({ aud })}`, origin }
    const { response } = await client.requireAuth(new Request('http://localhost:3000/api', { headers }), {
      accept,
    })
    return response?.status ?? 200
  }
  expect([await statusOf('https://a.example'), await statusOf('https://b.example')]).toEqual([200, 403])
  expect(await statusOf('https://c.example', 'https://open.example.test/')).toBe(200)
})

test('a host that does not belong to the application has a foreign page, without an error', async () => {
  const { client } = api.world.another({ appBaseUrl: ['http://localhost:3000', 'http://localhost:4000'] })
  const accept = [client.resource({ audience: API, origins: ['https://a.example'] })]
  const { authorization = '' } = await api.bearer()
  const headers = { authorization, host: 'evil.example', origin: 'http://evil.example' }
  const { response } = await client.requireAuth(new Request('http://evil.example/api', { headers }), {
    accept,
  })
  expect(response?.status).toBe(403)
})

test('a page that binds its name to a server without appBaseUrl is foreign', async () => {
  const { client } = api.world.another({ appBaseUrl: undefined })
  const accept = [client.resource({ audience: API, origins: ['https://inspector.example'] })]
  const { authorization = '' } = await api.bearer()
  const statusOf = async (host: string) => {
    const headers = { authorization, host, origin: `http://${host}` }
    const { response } = await client.requireAuth(new Request(`http://${host}/api`, { headers }), { accept })
    return response?.status ?? 200
  }
  expect(await statusOf('rebound.example:3000')).not.toBe(200)
  expect(await statusOf('localhost:3000')).toBe(200)
})

test.each([
  [{ dpop: true }],
  [{ dpop: { nonces: true } }],
  [{ dpop: { nonce: 'true' } }],
  [{ clientCertificate: 'pem' }],
  [{ origins: [] }],
  [{ origins: ['https://a.example/path'] }],
  [{ origins: ['*'] }],
  [{ introspection: 'sometimes' }],
  [{ introspection: { audience: 'required' } }],
  [{ introspection: { audience: 'optional', always: true } }],
])('the options %j are refused at once', (options) => {
  const create = () => api.world.client.resource({ audience: 'https://api.example/', ...(options as object) })
  expect(create).toThrow(expect.objectContaining({ name: 'InvalidConfigurationError' }))
})
