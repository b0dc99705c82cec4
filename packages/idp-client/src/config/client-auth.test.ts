import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { resolveClientAuth } from './client-auth.ts'
import type { Problem } from './config.ts'
import type { Env } from './env.ts'
import type { IdpClientOptions } from './options.ts'

function resolveIt(options: IdpClientOptions, env: Env = {}) {
  const problems: Problem[] = []
  const auth = resolveClientAuth(options, env, (kind, message) => {
    problems.push({ kind, message })
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

  test('[S028] IDP_CLIENT_SECRET supplies it, the option wins', () => {
    const env = { IDP_CLIENT_SECRET: 'by-variable' }
    expect(resolveIt({}, env).auth).toEqual({ kind: 'secret', secret: 'by-variable' })
    expect(resolveIt({ clientSecret: 'by-option' }, env).auth).toEqual({
      kind: 'secret',
      secret: 'by-option',
    })
  })

  test('[S252,S253] neither secret nor key: every way is named', () => {
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

  test('a secret that is no text is wrong, not missing', () => {
    expect(resolveIt({ clientSecret: 7 as never })).toMatchObject({
      auth: undefined,
      problems: [{ kind: 'wrong-option' }],
    })
  })
})

describe('key', () => {
  test('PEM text wins over a secret', () => {
    const options = { clientSecret: 's', clientAssertionSigningKey: pem, clientAssertionSigningAlg: 'ES256' }
    expect(resolveIt(options)).toEqual({
      auth: { kind: 'assertion', key: pem, algorithm: 'ES256' },
      problems: [],
    })
    expect(resolveIt({ clientAssertionSigningKey: pem }).auth).toEqual({ kind: 'assertion', key: pem })
  })

  test('variables supply key and algorithm; line breaks may be written as \\n', () => {
    const env = {
      IDP_CLIENT_ASSERTION_SIGNING_KEY: pem.replaceAll('\n', '\\n'),
      IDP_CLIENT_ASSERTION_SIGNING_ALG: 'PS256',
    }
    expect(resolveIt({}, env)).toEqual({
      auth: { kind: 'assertion', key: pem, algorithm: 'PS256' },
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
  ])('refuses %s, says why, and repeats nothing of it', (_what, key, why) => {
    const { auth, problems } = resolveIt({ clientSecret: 's', clientAssertionSigningKey: key })
    expect(auth).toBeUndefined()
    expect(problems).toMatchObject([{ kind: 'wrong-option', message: expect.stringMatching(why) }])
    expect(problems[0]?.message).not.toContain('MIGH')
    expect(resolveIt({}, { IDP_CLIENT_ASSERTION_SIGNING_KEY: key }).problems).toMatchObject([
      { kind: 'wrong-variable' },
    ])
  })

  test.each(['HS256', 'none', 'RS1', 'es256'])('refuses the algorithm %s', (alg) => {
    const options = { clientAssertionSigningKey: pem, clientAssertionSigningAlg: alg }
    expect(resolveIt(options).problems).toMatchObject([
      { kind: 'wrong-option', message: expect.stringContaining('RS256') },
    ])
  })

  test('an algorithm without key is reported', () => {
    expect(resolveIt({ clientSecret: 's', clientAssertionSigningAlg: 'ES256' }).problems).toMatchObject([
      { kind: 'notice' },
    ])
  })
})
