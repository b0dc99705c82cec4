import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { resolveClientAuth } from '../../src/config/client-auth.ts'
import type { ClientAuth } from '../../src/config/config.ts'
import type { IdpClientOptions } from '../../src/config/options.ts'
import { exchange, printed, providerOf, refused, rejection } from './client.ts'
import { CLIENT_ID, json, LocalProvider, signingKey } from './local-provider.ts'

let op: LocalProvider
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const pem = rsa.export({ type: 'pkcs8', format: 'pem' }).toString()
const elliptic = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const ellipticPem = elliptic.export({ type: 'pkcs8', format: 'pem' }).toString()

beforeAll(async () => {
  op = await new LocalProvider(await signingKey('k1', 'ES256')).start()
})
afterAll(() => op.stop())
afterEach(() => {
  op.requests.length = 0
  op.metadata = {}
})

const clientOf = (clientAuth: ClientAuth) => providerOf(op.issuer, { clientAuth })

/** As the options say it. */
function assertion(key: string | CryptoKey, further: IdpClientOptions = {}): ClientAuth {
  const options = { clientAssertionSigningKey: key, ...further }
  const auth = resolveClientAuth({
    options,
    env: {},
    addIssue: (_kind, message) => {
      throw new Error(message)
    },
  })
  if (!auth) throw new Error('nothing was resolved')
  return auth
}

const headerOf = (form: URLSearchParams) => decodeProtectedHeader(form.get('client_assertion') ?? '')

function lastForm(): URLSearchParams {
  const request = op.requests.findLast(({ endpoint }) => endpoint === 'token')
  if (!request) throw new Error('no token request was made')
  expect(request.headers.authorization).toBeUndefined()
  return request.form
}

test('[S029] an assertion has the issuer as audience, a short lifetime and a new jti', async () => {
  const provider = clientOf(assertion(pem))
  const seen = new Set<unknown>()
  for (let login = 0; login < 3; login++) {
    await exchange(provider)
    const form = lastForm()
    expect(form.get('client_assertion_type')).toBe('urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
    expect(form.has('client_secret')).toBe(false)
    const { payload } = await jwtVerify(form.get('client_assertion') ?? '', createPublicKey(rsa), {
      algorithms: ['RS256'],
    })
    expect(payload).toMatchObject({ aud: op.issuer, iss: CLIENT_ID, sub: CLIENT_ID })
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBeLessThanOrEqual(300)
    seen.add(payload.jti)
  }
  expect(seen.size).toBe(3)
})

test('the key id is the configured one; without one none is sent', async () => {
  await exchange(clientOf(assertion(pem, { clientAssertionSigningKeyId: 'key-7' })))
  expect(headerOf(lastForm()).kid).toBe('key-7')
  await exchange(clientOf(assertion(pem)))
  expect(headerOf(lastForm())).not.toHaveProperty('kid')
})

test('[S030] a CryptoKey signs too, extractable or not', async () => {
  for (const extractable of [true, false]) {
    const usages = ['sign', 'verify'] as const
    const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, extractable, usages)
    await exchange(clientOf(assertion(pair.privateKey)))
    await jwtVerify(lastForm().get('client_assertion') ?? '', pair.publicKey, { algorithms: ['ES256'] })
  }
})

const okp = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

test.each([
  [pem, undefined, undefined, 'RS256'],
  [pem, undefined, ['HS256', 'none', 'ES256', 'PS256', 'RS256'], 'RS256'],
  [pem, undefined, ['PS384', 'PS512', 'PS256'], 'PS256'],
  [pem, undefined, ['RS512', 'PS384'], 'PS384'],
  [pem, undefined, ['PS512', 'PS384', 'RS384'], 'RS384'],
  [ellipticPem, undefined, ['RS256', 'PS256', 'ES256'], 'ES256'],
  [pem, 'PS512', ['RS256'], 'PS512'],
  [okp, undefined, ['EdDSA'], 'EdDSA'],
  [okp, undefined, ['Ed25519'], 'Ed25519'],
])(
  '[B6,S032,S033] the algorithm follows option, metadata and key (%#)',
  async (key, algorithm, advertised, expected) => {
    op.metadata = { token_endpoint_auth_signing_alg_values_supported: advertised }
    await exchange(clientOf(assertion(key, { clientAssertionSigningAlg: algorithm })))
    expect(headerOf(lastForm()).alg).toBe(expected)
  },
)

test('a key without a suitable algorithm is a configuration error; the key is not in it', async () => {
  op.metadata = { token_endpoint_auth_signing_alg_values_supported: ['HS256', 'ES384'] }
  for (const key of [pem, ellipticPem]) {
    const error = await rejection(exchange(clientOf(assertion(key))))
    expect(error).toMatchObject({
      code: 'INVALID_CONFIGURATION',
      message: expect.stringMatching(/clientAssertionSigningKey signs with .*provider takes none/),
    })
    expect(op.count('token')).toBe(0)
  }
})

test('a key that cannot be imported is a configuration error; the key is not in it', async () => {
  const broken = ellipticPem.replace(/\n[^-\n]+\n-----END/, '\nAAAA\n-----END')
  const error = await rejection(exchange(clientOf(assertion(broken))))
  expect(error).toMatchObject({
    code: 'INVALID_CONFIGURATION',
    message: expect.stringMatching(/clientAssertionSigningKey.*ES256/),
  })
  expect(printed(error)).not.toContain(broken.split('\n')[1])
  expect(op.count('token')).toBe(0)
})

const authorization = (): string | undefined => {
  const header = op.requests.findLast(({ endpoint }) => endpoint === 'token')?.headers.authorization
  return header && Buffer.from(header.replace('Basic ', ''), 'base64').toString()
}

describe('a client secret', () => {
  const advertised = (...methods: string[]): void => {
    op.metadata = { token_endpoint_auth_methods_supported: methods }
  }

  test.each([
    ['client_secret_post', ['client_secret_basic', 'client_secret_post']],
    ['client_secret_post', ['client_secret_basic']],
    ['client_secret_basic', ['client_secret_post']],
    ['client_secret_basic', []],
  ] as const)('[B4] is sent by %s if that is configured and %j advertised', async (method, methods) => {
    advertised(...methods)
    await exchange(clientOf({ kind: 'secret', secret: 'top secret', method }))
    const { form } = op.requests.findLast(({ endpoint }) => endpoint === 'token') ?? {}
    const isPost = method === 'client_secret_post'
    expect(form?.get('client_secret')).toBe(isPost ? 'top secret' : null)
    expect(authorization()).toBe(isPost ? undefined : `${CLIENT_ID}:top+secret`)
  })

  test.each([
    ['abc-_.~XYZ019', 'abc-_.~XYZ019'],
    ["a b+c:d/e%f!'()*", 'a+b%2Bc%3Ad%2Fe%25f%21%27%28%29%2A'],
    ['ä€', '%C3%A4%E2%82%AC'],
  ])(
    '[B5] %s is form-urlencoded for HTTP Basic, unreserved characters unchanged',
    async (secret, encoded) => {
      await exchange(clientOf({ kind: 'secret', secret }))
      expect(authorization()).toBe(`${CLIENT_ID}:${encoded}`)
    },
  )

  test('[B4] that is rejected: the error names what was sent and what is advertised', async () => {
    advertised('client_secret_post', 'client_secret_basic', 'x"><script>')
    op.responders.set('token', (response) => json(response, { error: 'invalid_client' }, 401))
    const { cause } = await refused(exchange(clientOf({ kind: 'secret', secret: 's' })))
    expect(cause.message).toContain(
      'Sent: client_secret_basic; advertised: client_secret_post, client_secret_basic.',
    )
    op.responders.clear()
  })
})

test('[B6] an assertion has the token endpoint as audience if that is configured', async () => {
  await exchange(clientOf(assertion(pem, { clientAssertionAudience: 'token_endpoint' })))
  expect(decodeJwt(lastForm().get('client_assertion') ?? '').aud).toBe(`${op.issuer}/token`)
})

test.each([undefined, 'JWT', 'client-authentication+jwt'] as const)(
  'an assertion has the configured typ %j, by default none',
  async (typ) => {
    await exchange(clientOf(assertion(pem, { clientAssertionTyp: typ })))
    expect(headerOf(lastForm()).typ).toBe(typ)
  },
)

test('[B6] an assertion that is rejected: the error names what was sent and what is advertised', async () => {
  op.metadata = {
    token_endpoint_auth_methods_supported: ['private_key_jwt'],
    token_endpoint_auth_signing_alg_values_supported: ['PS384', 'RS256', 'made-up'],
  }
  op.responders.set('token', (response) => json(response, { error: 'invalid_client' }, 401))
  const client = clientOf(assertion(pem, { clientAssertionSigningKeyId: 'key-7' }))
  const { cause } = await refused(exchange(client))
  expect(cause.message).toContain(
    'Sent: private_key_jwt with RS256, aud the issuer, with kid; advertised: private_key_jwt, with PS384, RS256.',
  )
  op.responders.clear()
})
