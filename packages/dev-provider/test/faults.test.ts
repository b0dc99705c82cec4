import { request as httpRequest } from 'node:http'
import { createLocalJWKSet, errors, generateKeyPair, jwtVerify } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { DevProvider, Fault } from '../src/index.ts'
import { startDevProvider } from '../src/index.ts'
import type { RelyingParty } from './relying-party.ts'
import { oauthError, relyingParty } from './relying-party.ts'

let provider: DevProvider
let app: RelyingParty
beforeAll(async () => {
  provider = await startDevProvider()
  app = await relyingParty(provider)
})
afterEach(() => {
  provider.faults.clear()
  provider.clearRequests()
})
afterAll(() => provider.stop())

const jwksUrl = (): string => `${provider.issuer}/.well-known/jwks.json`

async function outcome(fault: Fault): Promise<Response> {
  provider.faults.set('jwks', fault)
  return fetch(jwksUrl(), { redirect: 'manual', signal: AbortSignal.timeout(20_000) })
}

async function failureCode(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'no failure'
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
  }
}

describe('invalid responses', () => {
  test.each<[Fault, number, string]>([
    [
      { kind: 'respond', status: 503, headers: { 'retry-after': '1' }, body: '<h1>down</h1>' },
      503,
      '<h1>down</h1>',
    ],
    [{ kind: 'empty' }, 200, ''],
    [{ kind: 'null' }, 200, 'null'],
    [{ kind: 'array' }, 200, '[]'],
  ])('%o', async (fault, status, body) => {
    const response = await outcome(fault)
    expect([response.status, await response.text()]).toEqual([status, body])
    expect(response.headers.get('retry-after')).toBe(fault.kind === 'respond' ? '1' : null)
  })

  test('truncated and mislabelled JSON', async () => {
    const whole = await (await fetch(jwksUrl())).text()
    const truncated = await (await outcome({ kind: 'truncate' })).text()
    expect(whole.startsWith(truncated)).toBe(true)
    expect(() => JSON.parse(truncated)).toThrow(SyntaxError)
    const labelled = await outcome({ kind: 'label' })
    expect(labelled.headers.get('content-type')).toBe('text/html')
    expect(await labelled.text()).toBe(whole)
  })

  test('redirects to elsewhere and to itself', async () => {
    const elsewhere = await outcome({ kind: 'redirect', location: 'https://elsewhere.example/', status: 307 })
    expect([elsewhere.status, elsewhere.headers.get('location')]).toEqual([307, 'https://elsewhere.example/'])
    const itself = await outcome({ kind: 'redirect' })
    expect([itself.status, itself.headers.get('location')]).toEqual([302, '/.well-known/jwks.json'])
  })
})

describe('broken responses', () => {
  test.each<[Fault, RegExp]>([
    [{ kind: 'reset' }, /ECONNRESET|UND_ERR_SOCKET/],
    [{ kind: 'reset', at: 'commit' }, /ECONNRESET|UND_ERR_SOCKET/],
    [{ kind: 'hugeHeader' }, /UND_ERR_HEADERS_OVERFLOW/],
  ])('%o', async (fault, code) => {
    expect(await failureCode(outcome(fault))).toMatch(code)
  })

  test('a reset in the middle of the body, and a broken gzip stream', async () => {
    const reset = await outcome({ kind: 'reset', at: 'body' })
    expect(reset.status).toBe(200)
    expect(await failureCode(reset.text())).toMatch(/ECONNRESET|UND_ERR_SOCKET/)
    const broken = await outcome({ kind: 'brokenGzip' })
    await expect(broken.text()).rejects.toThrow()
  })

  test('a connection that is closed silently after a valid response', async () => {
    const response = await outcome({ kind: 'closeAfterAnswer' })
    expect(await response.json()).toHaveProperty('keys')
    provider.faults.clear()
    expect((await fetch(jwksUrl())).status).toBe(200)
  })
})

describe('large and slow responses', () => {
  test('a huge body is streamed and valid', async () => {
    const response = await outcome({ kind: 'huge', bytes: 3_000_000 })
    const text = await response.text()
    expect(text).toHaveLength(3_000_014)
    expect(() => JSON.parse(text)).not.toThrow()
  })

  test('a huge body stops when the client has gone away', async () => {
    const response = await outcome({ kind: 'huge' })
    await response.body?.cancel()
    provider.faults.clear()
    expect((await fetch(jwksUrl())).status).toBe(200)
  })

  test('a gzip bomb is small on the wire', async () => {
    provider.faults.set('jwks', { kind: 'gzipBomb', bytes: 20_000_000 })
    const compressed = await new Promise<number>((resolve, reject) => {
      httpRequest(jwksUrl(), (response) => {
        let size = 0
        response.on('data', (chunk: Buffer) => {
          size += chunk.length
        })
        response.once('end', () => resolve(size))
      })
        .once('error', reject)
        .end()
    })
    expect(compressed).toBeLessThan(200_000)
    expect((await (await fetch(jwksUrl())).arrayBuffer()).byteLength).toBe(20_000_000)
  })

  test.each<Fault>([
    { kind: 'delay', ms: 20 },
    { kind: 'slowHeaders', ms: 0 },
    { kind: 'slowBody', ms: 0 },
  ])('%o arrives complete in the end', async (fault) => {
    provider.faults.set('dev', fault)
    const response = await fetch(`${provider.issuer}/dev/avatar/alice.svg`)
    expect(await response.text()).toMatch(/^<svg .*<\/svg>$/)
  })

  test.each<Fault>([{ kind: 'hang' }, { kind: 'hang', commit: true }])('%o never responds', async (fault) => {
    provider.faults.set('jwks', fault)
    await expect(fetch(jwksUrl(), { signal: AbortSignal.timeout(150) })).rejects.toThrow(/timeout/)
    expect(provider.requests('jwks')[0]?.status).toBe('commit' in fault ? 200 : undefined)
  })
})

test('down rejects every request, open connections included, until it is up again', async () => {
  await fetch(jwksUrl())
  await provider.faults.down()
  expect(await failureCode(fetch(jwksUrl()))).toMatch(/ECONNRESET|UND_ERR_SOCKET/)
  provider.faults.clear()
  // On a connection of its own: `fetch` may still have others that were open.
  const status = await new Promise((resolve, reject) => {
    httpRequest(jwksUrl(), { agent: false }, (response) => resolve(response.resume().statusCode))
      .once('error', reject)
      .end()
  })
  expect(status).toBe(200)
})

test('a fault applies to the configured number of matching requests', async () => {
  const undo = provider.faults.set('jwks', { kind: 'empty' }, { times: 1 })
  expect(await (await fetch(jwksUrl())).text()).toBe('')
  expect(await (await fetch(jwksUrl())).json()).toHaveProperty('keys')
  undo()
  const tokens = await app.logIn()
  const refreshOnly = {
    when: ({ body }: { body: Readonly<Record<string, string>> }) => body['grant_type'] === 'refresh_token',
  }
  provider.faults.set('token', { kind: 'respond', status: 500 }, refreshOnly)
  await app.logIn()
  await expect(app.refresh(tokens)).rejects.toThrow()
})

test('a reset after commit loses a rotated refresh token', async () => {
  const tokens = await app.logIn()
  provider.faults.set('token', { kind: 'reset', at: 'commit' }, { times: 1 })
  await expect(app.refresh(tokens)).rejects.toThrow()
  expect(await oauthError(app.refresh(tokens))).toBe('invalid_grant')
})

test('the request log contains the requests in order', async () => {
  provider.clearRequests()
  await app.logIn({ audience: 'https://api.example.test/', ui_locales: 'de' })
  expect(provider.requests().map(({ endpoint }) => endpoint)).toEqual([
    'authorize',
    'interaction',
    'interaction',
    'authorize',
    'token',
  ])
  expect(provider.requests('authorize')[0]).toMatchObject({
    method: 'GET',
    query: { audience: 'https://api.example.test/', ui_locales: 'de', client_id: provider.clientId },
    status: 303,
  })
  const [token] = provider.requests('token')
  expect(token).toMatchObject({
    method: 'POST',
    url: '/oauth/token',
    body: { grant_type: 'authorization_code' },
  })
  expect(token?.headers['content-type']).toContain('application/x-www-form-urlencoded')
  expect(Math.abs((token?.time ?? 0) - Date.now())).toBeLessThan(60_000)
})

describe('rewrites', () => {
  test('change JSON responses in place and by value, and can be removed', async () => {
    const undo = provider.rewrite('discovery', (json) => {
      json['issuer'] = 'https://evil.example'
      delete json['jwks_uri']
    })
    const url = `${provider.issuer}/.well-known/openid-configuration`
    const rewritten: unknown = await (await fetch(url)).json()
    expect(rewritten).toMatchObject({ issuer: 'https://evil.example' })
    expect(rewritten).not.toHaveProperty('jwks_uri')
    undo()
    expect(await (await fetch(url)).json()).toMatchObject({ issuer: provider.issuer })
    provider.rewrite('token', (json) => ({ ...json, token_type: 'mac' }), { times: 1 })
    await expect(app.logIn()).rejects.toThrow()
    await app.logIn()
  })

  test('change text where JSON values cannot', async () => {
    provider.rewriteText('discovery', (text) => text.replace('{', '{"__proto__":{"polluted":true},'))
    const text = await (await fetch(`${provider.issuer}/.well-known/openid-configuration`)).text()
    expect(text.startsWith('{"__proto__":{"polluted":true},"')).toBe(true)
  })
})

describe('tampered ID tokens', () => {
  async function idToken(): Promise<string> {
    const { url, checks } = await app.authorize()
    const { location } = await provider.login(url.href)
    const response = await fetch(`${provider.issuer}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code: new URL(location ?? '').searchParams.get('code') ?? '',
        redirect_uri: url.searchParams.get('redirect_uri') ?? '',
        code_verifier: checks.pkceCodeVerifier ?? '',
        client_id: provider.clientId,
        client_secret: provider.clientSecret ?? '',
      }),
    })
    const body: unknown = await response.json()
    return body !== null && typeof body === 'object' && 'id_token' in body ? String(body.id_token) : ''
  }
  const verify = (token: string): ReturnType<typeof jwtVerify> =>
    jwtVerify(token, createLocalJWKSet(provider.jwks()))

  test('are signed with the real key again', async () => {
    provider.tamperIdToken((claims) => {
      claims['nonce'] = 'another'
    })
    expect((await verify(await idToken())).payload['nonce']).toBe('another')
    await expect(app.logIn()).rejects.toThrow(/unexpected JWT claim value/)
  })

  test('may change the algorithm', async () => {
    provider.tamperIdToken(() => ({ alg: 'ES256' }))
    expect((await verify(await idToken())).protectedHeader.alg).toBe('ES256')
  })

  test('may be signed with another key, not at all, or not match their signature', async () => {
    const { privateKey } = await generateKeyPair('RS256')
    provider.tamperIdToken(() => ({ key: privateKey }), { times: 1 })
    await expect(verify(await idToken())).rejects.toThrow(errors.JWSSignatureVerificationFailed)
    provider.tamperIdToken(() => ({ keepSignature: true }), { times: 1 })
    provider.tamperIdToken(
      (claims) => {
        claims.sub = 'dev|mallory'
        return { keepSignature: true }
      },
      { times: 1 },
    )
    await expect(verify(await idToken())).rejects.toThrow(errors.JWSSignatureVerificationFailed)
    provider.tamperIdToken(() => ({ alg: 'none' }), { times: 1 })
    const [header = '', , signature] = (await idToken()).split('.')
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toMatchObject({ alg: 'none' })
    expect(signature).toBe('')
    provider.tamperIdToken(() => ({ token: 'not.a.token' }), { times: 1 })
    expect(await idToken()).toBe('not.a.token')
  })

  test('can be HMACs over a public key', async () => {
    const key = Buffer.from(JSON.stringify(provider.jwks().keys[0]))
    provider.tamperIdToken(() => ({ alg: 'HS256', key }))
    expect((await jwtVerify(await idToken(), key)).protectedHeader.alg).toBe('HS256')
  })
})
