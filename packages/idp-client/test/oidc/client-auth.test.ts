import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { decodeProtectedHeader, jwtVerify } from 'jose'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { ClientAuth } from '../../src/config/config.ts'
import { exchange, providerOf, rejection } from './client.ts'
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

function lastForm(): URLSearchParams {
  const request = op.requests.findLast(({ endpoint }) => endpoint === 'token')
  if (!request) throw new Error('no token request was made')
  expect(request.headers.authorization).toBeUndefined()
  return request.form
}

test('TE-03 TE-04 an assertion is addressed to the issuer, short-lived and fresh each time', async () => {
  const provider = clientOf({ kind: 'assertion', key: pem })
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

test.each([
  [pem, undefined, undefined, 'RS256'],
  [pem, undefined, ['HS256', 'none', 'ES256', 'PS256', 'RS256'], 'PS256'],
  [ellipticPem, undefined, ['RS256', 'PS256', 'ES256'], 'ES256'],
  [pem, 'PS512', ['RS256'], 'PS512'],
])('TE-05 the algorithm fits option, metadata and key (%#)', async (key, algorithm, advertised, expected) => {
  op.metadata = { token_endpoint_auth_signing_alg_values_supported: advertised }
  await exchange(clientOf({ kind: 'assertion', key, ...(algorithm ? { algorithm } : {}) }))
  expect(decodeProtectedHeader(lastForm().get('client_assertion') ?? '').alg).toBe(expected)
})

test('TE-05 a key that fits nothing is a configuration error; the key is not in it', async () => {
  op.metadata = { token_endpoint_auth_signing_alg_values_supported: ['ES256'] }
  for (const key of [pem, 'not a key']) {
    const error = await rejection(exchange(clientOf({ kind: 'assertion', key })))
    expect(error).toMatchObject({
      code: 'INVALID_CONFIGURATION',
      message: expect.stringMatching(/clientAssertionSigningKey.*ES256/),
    })
    expect(op.count('token')).toBe(0)
  }
})
