import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { decodeProtectedHeader, jwtVerify } from 'jose'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { resolveClientAuth } from '../../src/config/client-auth.ts'
import type { ClientAuth } from '../../src/config/config.ts'
import type { IdpClientOptions } from '../../src/config/options.ts'
import { exchange, printed, providerOf, rejection } from './client.ts'
import { CLIENT_ID, LocalProvider, signingKey } from './local-provider.ts'

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
  const auth = resolveClientAuth(options, {}, (_kind, message) => {
    throw new Error(message)
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

test('[S029,TE-03,TE-04] an assertion is addressed to the issuer, short-lived and fresh each time', async () => {
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

test('[TE-04] the key id is the configured one; without one none is guessed', async () => {
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
  [pem, undefined, ['HS256', 'none', 'ES256', 'PS256', 'RS256'], 'PS256'],
  [ellipticPem, undefined, ['RS256', 'PS256', 'ES256'], 'ES256'],
  [pem, 'PS512', ['RS256'], 'PS512'],
  [okp, undefined, ['EdDSA'], 'EdDSA'],
  [okp, undefined, ['Ed25519'], 'Ed25519'],
])(
  '[S032,S033,TE-05] the algorithm fits option, metadata and key (%#)',
  async (key, algorithm, advertised, expected) => {
    op.metadata = { token_endpoint_auth_signing_alg_values_supported: advertised }
    await exchange(clientOf(assertion(key, { clientAssertionSigningAlg: algorithm })))
    expect(headerOf(lastForm()).alg).toBe(expected)
  },
)

test('[TE-05] a key that fits nothing is a configuration error; the key is not in it', async () => {
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

test('a key that does not import is a configuration error; the key is not in it', async () => {
  const broken = ellipticPem.replace(/\n[^-\n]+\n-----END/, '\nAAAA\n-----END')
  const error = await rejection(exchange(clientOf(assertion(broken))))
  expect(error).toMatchObject({
    code: 'INVALID_CONFIGURATION',
    message: expect.stringMatching(/clientAssertionSigningKey.*ES256/),
  })
  expect(printed(error)).not.toContain(broken.split('\n')[1])
  expect(op.count('token')).toBe(0)
})
