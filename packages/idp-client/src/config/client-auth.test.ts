import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { resolveClientAuth, resolveIdTokenAlgorithms, resolveRequestObject } from './client-auth.ts'
import type { Problem } from './config.ts'
import type { Env } from './env.ts'
import type { IdpClientOptions } from './options.ts'

function resolveIt(options: IdpClientOptions, env: Env = {}) {
  const problems: Problem[] = []
  const auth = resolveClientAuth({
    options,
    env,
    addIssue: (kind, message) => problems.push({ kind, message }),
  })
  return { auth, problems }
}

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trim()
const sec1 = privateKey.export({ type: 'sec1', format: 'pem' }).toString()
const spki = publicKey.export({ type: 'spki', format: 'pem' }).toString()
const encrypted = privateKey
  .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
  .toString()

describe('secret', () => {
  test('[S027] clientSecret authenticates the client', () => {
    expect(resolveIt({ clientSecret: 's3cret' })).toEqual({
      auth: { kind: 'secret', secret: 's3cret' },
      problems: [],
    })
  })

  test('[S028] IDP_CLIENT_SECRET sets it, the option overrides it', () => {
    const env = { IDP_CLIENT_SECRET: 'by-variable' }
    expect(resolveIt({}, env).auth).toEqual({ kind: 'secret', secret: 'by-variable' })
    expect(resolveIt({ clientSecret: 'by-option' }, env).auth).toEqual({
      kind: 'secret',
      secret: 'by-option',
    })
  })

  test('[S252,S253] without secret and key the message names every way to set them', () => {
    const { auth, problems } = resolveIt({})
    expect(auth).toBeUndefined()
    expect(problems).toMatchObject([{ kind: 'missing' }])
    for (const way of [
      'clientSecret',
      'IDP_CLIENT_SECRET',
      'clientAssertionSigningKey',
      'IDP_CLIENT_ASSERTION_SIGNING_KEY',
    ]) {
      expect(problems[0]?.message).toContain(way)
    }
  })

  test('a secret that is not a string is reported as invalid, not as missing', () => {
    expect(resolveIt({ clientSecret: 7 as never })).toMatchObject({
      auth: undefined,
      problems: [{ kind: 'wrong-option' }],
    })
  })
})

describe('key', () => {
  test('PEM text takes precedence over a secret', () => {
    const options = { clientSecret: 's', clientAssertionSigningKey: pem, clientAssertionSigningAlg: 'ES256' }
    expect(resolveIt(options)).toEqual({
      auth: { kind: 'assertion', key: pem, algorithms: ['ES256'], algorithm: 'ES256', audience: 'issuer' },
      problems: [],
    })
    expect(resolveIt({ clientAssertionSigningKey: pem }).auth).toEqual({
      kind: 'assertion',
      key: pem,
      algorithms: ['ES256'],
      audience: 'issuer',
    })
  })

  test('[S031,S034] variables set key and algorithm; line breaks may be written as \\n', () => {
    const env = {
      IDP_CLIENT_ASSERTION_SIGNING_KEY: pem.replaceAll('\n', '\\n'),
      IDP_CLIENT_ASSERTION_SIGNING_ALG: 'ES256',
    }
    expect(resolveIt({}, env)).toEqual({
      auth: { kind: 'assertion', key: pem, algorithms: ['ES256'], algorithm: 'ES256', audience: 'issuer' },
      problems: [],
    })
  })

  test('a CryptoKey must be private and able to sign', async () => {
    const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, [
      'sign',
      'verify',
    ])
    expect(resolveIt({ clientAssertionSigningKey: pair.privateKey }).auth).toEqual({
      kind: 'assertion',
      key: pair.privateKey,
      algorithms: ['ES256'],
      audience: 'issuer',
    })
    expect(resolveIt({ clientAssertionSigningKey: pair.publicKey }).problems).toMatchObject([
      { kind: 'wrong-option' },
    ])
  })

  test.each([
    ['no PEM', 'MIGHAgEAMBMGByqGSM49', /must be PEM text/],
    ['a truncated PEM', pem.slice(0, -10), /one complete PEM/],
    ['two keys in one text', `${pem}\n${pem}`, /one complete PEM/],
    ['SEC1', sec1, /openssl pkcs8/],
    ['a public key', spki, /PKCS#8/],
    ['an encrypted key', encrypted, /not be encrypted/],
  ])('rejects %s with the reason, and does not repeat the key', (_what, key, why) => {
    const { auth, problems } = resolveIt({ clientSecret: 's', clientAssertionSigningKey: key })
    expect(auth).toBeUndefined()
    expect(problems).toMatchObject([{ kind: 'wrong-option', message: expect.stringMatching(why) }])
    expect(problems[0]?.message).not.toContain('MIGH')
    expect(resolveIt({}, { IDP_CLIENT_ASSERTION_SIGNING_KEY: key }).problems).toMatchObject([
      { kind: 'wrong-variable' },
    ])
  })

  test.each(['HS256', 'none', 'RS1', 'es256'])('rejects the algorithm %s', (alg) => {
    const options = { clientAssertionSigningKey: pem, clientAssertionSigningAlg: alg }
    expect(resolveIt(options).problems).toMatchObject([
      { kind: 'wrong-option', message: expect.stringContaining('RS256') },
    ])
  })

  test.each([
    [{ type: 'rsa', modulusLength: 2048 }, ['RS256', 'PS256', 'RS384', 'PS384', 'RS512', 'PS512']],
    [{ type: 'ec', namedCurve: 'P-384' }, ['ES384']],
    [{ type: 'ec', namedCurve: 'P-521' }, ['ES512']],
    [{ type: 'ed25519' }, ['EdDSA', 'Ed25519']],
  ])('PEM text of %j allows exactly the algorithms that it can sign with', (kind, algorithms) => {
    const { type, ...parameters } = kind
    const key = generateKeyPairSync(type as 'rsa', parameters as { modulusLength: number }).privateKey
    const text = key.export({ type: 'pkcs8', format: 'pem' }).toString().trim()
    expect(resolveIt({ clientAssertionSigningKey: text }).auth).toMatchObject({ algorithms })
  })

  test.each([
    [{ name: 'RSA-PSS', hash: 'SHA-512' }, ['PS512']],
    [{ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, ['RS256']],
    [{ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-1' }, undefined],
    [{ name: 'ECDSA', namedCurve: 'P-521' }, ['ES512']],
    [{ name: 'Ed25519' }, ['EdDSA', 'Ed25519']],
    [{ name: 'HMAC', hash: 'SHA-256' }, undefined],
    [{ name: 'Ed448' }, undefined],
  ])('a CryptoKey of %j allows exactly the algorithms that it can sign with', async (kind, algorithms) => {
    const rsa = kind.name.startsWith('RSA')
      ? { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) }
      : {}
    const made = await crypto.subtle.generateKey({ ...kind, ...rsa } as HmacKeyGenParams, false, [
      'sign',
      'verify',
    ])
    const key = made instanceof CryptoKey ? made : (made as CryptoKeyPair).privateKey
    const { auth, problems } = resolveIt({ clientAssertionSigningKey: key })
    if (algorithms) expect(auth).toEqual({ kind: 'assertion', key, algorithms, audience: 'issuer' })
    else expect(problems).toMatchObject([{ kind: 'wrong-option' }])
  })

  test('an algorithm that the key cannot sign with is rejected, for PEM text and CryptoKey', async () => {
    const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, [
      'sign',
      'verify',
    ])
    for (const key of [pem, pair.privateKey]) {
      const options = { clientAssertionSigningKey: key, clientAssertionSigningAlg: 'RS256' }
      expect(resolveIt(options)).toMatchObject({
        auth: undefined,
        problems: [
          {
            kind: 'wrong-option',
            message: expect.stringMatching(/^clientAssertionSigningAlg does not fit.*ES256/),
          },
        ],
      })
    }
    const env = { IDP_CLIENT_ASSERTION_SIGNING_KEY: pem, IDP_CLIENT_ASSERTION_SIGNING_ALG: 'RS256' }
    expect(resolveIt({}, env).problems).toMatchObject([{ kind: 'wrong-variable' }])
  })

  test('a key of a type that cannot sign is rejected', () => {
    const secp = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey
    const text = secp.export({ type: 'pkcs8', format: 'pem' }).toString()
    expect(resolveIt({ clientAssertionSigningKey: text }).problems).toMatchObject([
      { kind: 'wrong-option', message: expect.stringMatching(/RSA.*P-256.*Ed25519/) },
    ])
    const bytes = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----'
    expect(resolveIt({ clientAssertionSigningKey: bytes }).problems).toHaveLength(1)
  })

  test('an algorithm without a key is reported', () => {
    expect(resolveIt({ clientSecret: 's', clientAssertionSigningAlg: 'ES256' }).problems).toMatchObject([
      { kind: 'notice' },
    ])
    expect(resolveIt({ clientSecret: 's', clientAssertionSigningKeyId: 'k' }).problems).toMatchObject([
      { kind: 'notice' },
    ])
  })

  test('the key id is unchanged', () => {
    const options = { clientAssertionSigningKey: pem, clientAssertionSigningKeyId: 'key-1' }
    expect(resolveIt(options)).toMatchObject({ auth: { keyId: 'key-1' }, problems: [] })
    const wrong = { clientAssertionSigningKey: pem, clientAssertionSigningKeyId: 7 as never }
    expect(resolveIt(wrong).problems).toMatchObject([{ kind: 'wrong-option' }])
  })
})

describe('[B4] tokenEndpointAuthMethod', () => {
  test.each(['client_secret_basic', 'client_secret_post'] as const)(
    '%s is accepted as an option and as a variable',
    (method) => {
      const auth = { kind: 'secret', secret: 's', method }
      expect(resolveIt({ clientSecret: 's', tokenEndpointAuthMethod: method })).toEqual({
        auth,
        problems: [],
      })
      const env = { IDP_CLIENT_SECRET: 's', IDP_TOKEN_ENDPOINT_AUTH_METHOD: method }
      expect(resolveIt({}, env)).toEqual({ auth, problems: [] })
      const other = method === 'client_secret_post' ? 'client_secret_basic' : 'client_secret_post'
      expect(resolveIt({ tokenEndpointAuthMethod: other }, env).auth).toMatchObject({ method: other })
    },
  )

  test.each(['private_key_jwt', 'none', 'client_secret_jwt', 7, true, ['client_secret_post']])(
    '%j is rejected',
    (value) => {
      expect(resolveIt({ clientSecret: 's', tokenEndpointAuthMethod: value as never }).problems).toEqual([
        {
          kind: 'wrong-option',
          message: "tokenEndpointAuthMethod must be one of 'client_secret_basic', 'client_secret_post'.",
        },
      ])
    },
  )

  test('an invalid variable is rejected at the first use', () => {
    const env = { IDP_CLIENT_SECRET: 's', IDP_TOKEN_ENDPOINT_AUTH_METHOD: 'tls_client_auth' }
    expect(resolveIt({}, env).problems).toMatchObject([{ kind: 'wrong-variable' }])
  })

  test('a method of the secret together with a key is rejected, with or without a secret', () => {
    for (const further of [{}, { clientSecret: 's' }]) {
      const options = {
        clientAssertionSigningKey: pem,
        tokenEndpointAuthMethod: 'client_secret_post' as const,
      }
      expect(resolveIt({ ...options, ...further }).problems).toEqual([
        {
          kind: 'wrong-option',
          message: expect.stringMatching(/^tokenEndpointAuthMethod .* clientAssertionSigningKey/),
        },
      ])
    }
    const env = {
      IDP_CLIENT_ASSERTION_SIGNING_KEY: pem,
      IDP_TOKEN_ENDPOINT_AUTH_METHOD: 'client_secret_basic',
    }
    expect(resolveIt({}, env).problems).toMatchObject([
      { kind: 'wrong-variable', message: expect.stringMatching(/^IDP_TOKEN_ENDPOINT_AUTH_METHOD /) },
    ])
  })

  test('the key is used if both secret and key are set', () => {
    expect(resolveIt({ clientSecret: 's', clientAssertionSigningKey: pem })).toMatchObject({
      auth: { kind: 'assertion' },
      problems: [],
    })
  })
})

describe('clientAssertionTyp', () => {
  const key = { clientAssertionSigningKey: pem }

  test.each(['JWT', 'client-authentication+jwt'] as const)('%s is the typ of assertions', (typ) => {
    expect(resolveIt({ ...key, clientAssertionTyp: typ })).toMatchObject({ auth: { typ }, problems: [] })
    expect(resolveIt(key).auth).not.toHaveProperty('typ')
  })

  test.each(['jwt', 'dpop+jwt', 1])('%j is rejected', (value) => {
    expect(resolveIt({ ...key, clientAssertionTyp: value as never }).problems).toEqual([
      {
        kind: 'wrong-option',
        message: "clientAssertionTyp must be one of 'JWT', 'client-authentication+jwt'.",
      },
    ])
  })

  test('without a key it is reported', () => {
    expect(resolveIt({ clientSecret: 's', clientAssertionTyp: 'JWT' }).problems).toMatchObject([
      { kind: 'notice' },
    ])
  })
})

describe('[B6] clientAssertionAudience', () => {
  test('is set by option and variable; the default is the issuer', () => {
    const key = { clientAssertionSigningKey: pem }
    expect(resolveIt({ ...key, clientAssertionAudience: 'token_endpoint' }).auth).toMatchObject({
      audience: 'token_endpoint',
    })
    const env = { IDP_CLIENT_ASSERTION_AUDIENCE: 'token_endpoint' }
    expect(resolveIt(key, env).auth).toMatchObject({ audience: 'token_endpoint' })
    expect(resolveIt({ ...key, clientAssertionAudience: 'issuer' }, env).auth).toMatchObject({
      audience: 'issuer',
    })
  })

  test.each(['https://idp.example/token', 'tokenEndpoint', 1])('%j is rejected', (value) => {
    const options = { clientAssertionSigningKey: pem, clientAssertionAudience: value as never }
    expect(resolveIt(options).problems).toEqual([
      { kind: 'wrong-option', message: "clientAssertionAudience must be one of 'issuer', 'token_endpoint'." },
    ])
  })

  test('without a key it is reported', () => {
    const options = { clientSecret: 's', clientAssertionAudience: 'issuer' as const }
    expect(resolveIt(options).problems).toMatchObject([{ kind: 'notice' }])
  })

  test('a key in a variable may have its line breaks as \\n', () => {
    const env = { IDP_CLIENT_ASSERTION_SIGNING_KEY: pem.replaceAll('\n', '\\n') }
    expect(resolveIt({}, env)).toMatchObject({ auth: { key: pem }, problems: [] })
  })
})

describe('[B9] idTokenSignedResponseAlg', () => {
  function algorithms(given: unknown, variable?: string) {
    const problems: Problem[] = []
    const env = variable === undefined ? {} : { IDP_ID_TOKEN_SIGNED_RESPONSE_ALG: variable }
    const names = resolveIdTokenAlgorithms({
      options: { idTokenSignedResponseAlg: given as never },
      env,
      addIssue: (kind, message) => problems.push({ kind, message }),
    })
    return { names, problems }
  }

  test.each<[unknown, string | undefined, string[]]>([
    ['PS256', undefined, ['PS256']],
    [['RS256', 'EdDSA', 'RS256'], undefined, ['RS256', 'EdDSA']],
    ['RS256, ES256', undefined, ['RS256', 'ES256']],
    [undefined, 'ES512', ['ES512']],
    [undefined, 'RS256,PS256', ['RS256', 'PS256']],
    ['ES256', 'none', ['ES256']],
  ])('%j, variable %j', (given, variable, names) => {
    expect(algorithms(given, variable)).toEqual({ names, problems: [] })
  })

  test('an empty value sets no algorithm', () => {
    for (const given of [undefined, null, '', ' '])
      expect(algorithms(given)).toEqual({ names: undefined, problems: [] })
  })

  test.each([
    'none',
    'HS256',
    'ES256K',
    'rs256',
    'RS256,none',
    'RS256,',
    [],
    ['HS256'],
    [7],
    7,
    { RS256: true },
  ])('%j is rejected', (given) => {
    expect(algorithms(given)).toMatchObject({
      names: undefined,
      problems: [
        { kind: 'wrong-option', message: expect.stringMatching(/^idTokenSignedResponseAlg must be /) },
      ],
    })
  })

  test('an invalid variable is named', () => {
    expect(algorithms(undefined, 'HS512').problems).toMatchObject([
      {
        kind: 'wrong-variable',
        message: expect.stringMatching(/^IDP_ID_TOKEN_SIGNED_RESPONSE_ALG must be /),
      },
    ])
  })
})

describe('requestObject', () => {
  function resolveRequest(requestObject: unknown) {
    const problems: string[] = []
    const key = resolveRequestObject({
      options: { requestObject } as IdpClientOptions,
      env: {},
      addIssue: (_, message) => problems.push(message),
    })
    return { key, problems }
  }

  test('absent: requests are not signed', () => {
    expect(resolveRequest(undefined)).toEqual({ key: undefined, problems: [] })
  })

  test('a key, its algorithm and its id', () => {
    expect(resolveRequest({ key: pem, alg: 'ES256', keyId: 'k' })).toEqual({
      key: { key: pem, algorithms: ['ES256'], algorithm: 'ES256', keyId: 'k' },
      problems: [],
    })
  })

  test.each([
    ['no object', pem, 'requestObject must be an object.'],
    ['no key', {}, 'requestObject.key is required: the private key that signs authorization requests.'],
    ['a public key', { key: spki }, 'requestObject.key'],
    [
      'an algorithm of another key',
      { key: pem, alg: 'RS256' },
      'requestObject.alg does not fit requestObject.key, which signs with ES256.',
    ],
    ['a symmetric algorithm', { key: pem, alg: 'HS256' }, 'requestObject.alg must be one of'],
  ])('%s', (_, given, message) => {
    const { key, problems } = resolveRequest(given)
    expect(key === undefined || problems.length > 0).toBe(true)
    expect(problems[0]).toContain(message)
    expect(problems.join()).not.toContain('MII')
  })
})
