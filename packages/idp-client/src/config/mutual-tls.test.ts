import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Env } from './env.ts'
import type { IdpClientOptions } from './options.ts'
import { customFetch } from './options.ts'
import { resolve } from './resolve.ts'

const key = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString()

const required = {
  domain: 'https://idp.example.com',
  clientId: 'bank-app',
  secret: '0123456789abcdef'.repeat(4),
}
const presenting = { [customFetch]: fetch }

function resolveIt(options: IdpClientOptions, env: Env = {}) {
  const { config, problems } = resolve({ ...required, ...options }, env)
  return { config, problems }
}

describe('a client with a certificate', () => {
  test('authenticates with it', () => {
    const { config, problems } = resolveIt({ ...presenting, clientCertificate: true })
    expect(problems).toEqual([])
    expect(config).toMatchObject({ clientAuth: { kind: 'certificate' }, mutualTls: { boundTokens: false } })
  })

  test.each<[string, IdpClientOptions]>([
    ['the certificate', { clientCertificate: true }],
    ['a key', { clientAssertionSigningKey: key }],
  ])('can demand bound tokens beside %s', (_, authentication) => {
    const options = { ...presenting, ...authentication, certificateBoundAccessTokens: true }
    const { config, problems } = resolveIt(options)
    expect(problems).toEqual([])
    expect(config?.mutualTls).toEqual({ boundTokens: true })
  })

  test('has no part in the configuration of other clients', () => {
    const options = { clientSecret: 's', clientCertificate: false, certificateBoundAccessTokens: false }
    expect(resolveIt(options).config).not.toHaveProperty('mutualTls')
  })
})

describe('a wrong set-up is an option that names its fix:', () => {
  const other = (name: string): string =>
    `clientCertificate is a way to authenticate the client, and so is ${name}: set one of the two.`

  test.each<[string, IdpClientOptions, Env, string]>([
    ['a secret', { clientCertificate: true, clientSecret: 's' }, {}, other('clientSecret')],
    [
      'the variable of a secret',
      { clientCertificate: true },
      { IDP_CLIENT_SECRET: 's' },
      other('IDP_CLIENT_SECRET'),
    ],
    [
      'a key',
      { clientCertificate: true, clientAssertionSigningKey: key },
      {},
      other('clientAssertionSigningKey'),
    ],
    [
      'a way to send a secret',
      { clientCertificate: true, tokenEndpointAuthMethod: 'client_secret_post' },
      {},
      other('tokenEndpointAuthMethod'),
    ],
    ...(
      [
        ['clientAssertionSigningAlg', 'ES256'],
        ['clientAssertionSigningKeyId', 'one'],
        ['clientAssertionAudience', 'token_endpoint'],
        ['clientAssertionTyp', 'JWT'],
      ] as const
    ).map(([name, value]): [string, IdpClientOptions, Env, string] => [
      name,
      { clientCertificate: true, [name]: value },
      {},
      `clientCertificate authenticates the client without an assertion: remove ${name}.`,
    ]),
    [
      'bound tokens and useDPoP',
      {
        clientCertificate: true,
        certificateBoundAccessTokens: true,
        useDPoP: true,
      },
      {},
      'certificateBoundAccessTokens and useDPoP bind tokens in two ways: set one of the two.',
    ],
    [
      'bound tokens and a secret',
      { clientSecret: 's', certificateBoundAccessTokens: true },
      {},
      'certificateBoundAccessTokens needs clientCertificate or clientAssertionSigningKey in place of a client secret.',
    ],
  ])('%s', (_, options, env, message) => {
    const { config, problems } = resolveIt({ ...presenting, ...options }, env)
    expect(config).toBeNull()
    expect(problems).toContainEqual({ kind: 'wrong-option', message })
  })

  test.each<[string, IdpClientOptions]>([
    ['clientCertificate', { clientCertificate: true }],
    ['certificateBoundAccessTokens', { clientAssertionSigningKey: key, certificateBoundAccessTokens: true }],
  ])('%s without [customFetch], with the lines of each runtime', (name, options) => {
    const { config, problems } = resolveIt(options)
    expect(config).toBeNull()
    expect(problems).toMatchObject([{ kind: 'wrong-option' }])
    const [{ message } = { message: '' }] = problems
    expect(message).toMatch(new RegExp(`^${name} needs \\[customFetch\\]`))
    for (const line of [
      'new Agent({ connect: { cert, key } })',
      'tls: { cert, key }',
      'Deno.createHttpClient({ cert, key })',
      'mtls_certificates',
    ])
      expect(message).toContain(line)
  })

  test('of an API alone', () => {
    const { problems } = resolve(
      { domain: 'https://idp.example.com', sessions: false, clientCertificate: true },
      {},
    )
    expect(problems).toContainEqual({
      kind: 'wrong-option',
      message: 'clientCertificate has no effect with sessions: false: remove it.',
    })
  })
})
