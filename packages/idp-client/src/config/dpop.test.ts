import { generateKeyPairSync } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { generateDpopKeyPair } from '../crypto/keys.ts'
import type { Problem } from './config.ts'
import { resolveDpop } from './dpop.ts'
import type { Env } from './env.ts'
import type { DpopKeyPair, DpopOptions, IdpClientOptions } from './options.ts'

function resolveIt(options: IdpClientOptions, env: Env = {}) {
  const problems: Problem[] = []
  const dpop = resolveDpop({ options, env, addIssue: (kind, message) => problems.push({ kind, message }) })
  return { dpop, problems }
}

const pems = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const variables = { IDP_DPOP_PUBLIC_KEY: pems.publicKey, IDP_DPOP_PRIVATE_KEY: pems.privateKey }

async function pairOn(namedCurve: string): Promise<DpopKeyPair> {
  return await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve }, false, ['sign', 'verify'])
}

let pair: DpopKeyPair

beforeAll(async () => {
  pair = await pairOn('P-256')
})

describe('keys', () => {
  test('[S068] is off by default; keys in variables are available to fetchers with DPoP', () => {
    expect(resolveIt({})).toMatchObject({ dpop: { enabled: false, keys: { kind: 'none' } }, problems: [] })
    expect(resolveIt({}, variables)).toMatchObject({
      dpop: { enabled: false, keys: { kind: 'pem' } },
      problems: [],
    })
    expect(resolveIt({}, { ...variables, IDP_DPOP_PUBLIC_KEY: 'x' })).toMatchObject({
      dpop: { keys: { kind: 'none' } },
      problems: [],
    })
  })

  test('[S069,S104] the option overrides the variables', () => {
    expect(resolveIt({ useDPoP: true, dpopKeyPair: pair }, variables)).toMatchObject({
      dpop: { enabled: true, keys: { kind: 'pair', ...pair } },
      problems: [],
    })
  })

  test('[S070] PEM text in variables is accepted, with line breaks also as \\n', () => {
    const escaped = { ...variables, IDP_DPOP_PRIVATE_KEY: pems.privateKey.replaceAll('\n', '\\n') }
    expect(resolveIt({ useDPoP: true }, escaped)).toMatchObject({
      dpop: { keys: { kind: 'pem', publicKey: pems.publicKey.trim(), privateKey: pems.privateKey.trim() } },
      problems: [],
    })
  })

  test('the lines of dpop-keys are accepted with their quotes, which docker run --env-file keeps', () => {
    const quote = (pem: string): string => `"${pem.trim().replaceAll('\n', '\\n')}"`
    const quoted = {
      IDP_DPOP_PUBLIC_KEY: quote(pems.publicKey),
      IDP_DPOP_PRIVATE_KEY: quote(pems.privateKey),
    }
    expect(resolveIt({ useDPoP: true }, quoted)).toMatchObject({
      dpop: { keys: { kind: 'pem', publicKey: pems.publicKey.trim(), privateKey: pems.privateKey.trim() } },
      problems: [],
    })
  })

  test.each([{}, { IDP_DPOP_PUBLIC_KEY: pems.publicKey }, { IDP_DPOP_PRIVATE_KEY: pems.privateKey }])(
    'missing keys are reported with every way to set them',
    (env) => {
      const { dpop, problems } = resolveIt({ useDPoP: true }, env)
      expect(dpop.keys).toEqual({ kind: 'none' })
      expect(problems).toMatchObject([
        { kind: 'missing', message: expect.stringMatching(/dpopKeyPair.*IDP_DPOP_PUBLIC_KEY/) },
      ])
    },
  )

  test("keys in each other's variables are rejected", () => {
    const swapped = { IDP_DPOP_PUBLIC_KEY: pems.privateKey, IDP_DPOP_PRIVATE_KEY: pems.publicKey }
    expect(
      resolveIt({ useDPoP: true }, swapped).problems.map(({ kind, message }) => [
        kind,
        message.split(' ')[0],
      ]),
    ).toEqual([
      ['wrong-variable', 'IDP_DPOP_PUBLIC_KEY'],
      ['wrong-variable', 'IDP_DPOP_PRIVATE_KEY'],
    ])
  })

  test('another curve or algorithm, swapped keys, a private key as the public one and other values are rejected', async () => {
    const { privateKey } = await generateDpopKeyPair({ extractable: true })
    const ecdh = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits'])
    const wrong = [
      { publicKey: privateKey, privateKey },
      { publicKey: ecdh.publicKey, privateKey },
      await pairOn('P-384'),
      { publicKey: pair.privateKey, privateKey: pair.publicKey },
      {},
      'keys',
      pems,
    ]
    for (const dpopKeyPair of wrong) {
      const { dpop, problems } = resolveIt({ useDPoP: true, dpopKeyPair: dpopKeyPair as DpopKeyPair })
      expect(dpop.keys).toEqual({ kind: 'none' })
      expect(problems.every(({ kind }) => kind === 'wrong-option') && problems.length > 0).toBe(true)
    }
  })

  test.each([
    ['rsa', { modulusLength: 2048 }],
    ['ec', { namedCurve: 'P-384' }],
    ['ed25519', {}],
  ])('%s %j in a variable is rejected immediately', (type, parameters) => {
    const { privateKey, publicKey } = generateKeyPairSync(type as 'rsa', {
      ...(parameters as { modulusLength: number }),
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    })
    const env = { IDP_DPOP_PUBLIC_KEY: publicKey, IDP_DPOP_PRIVATE_KEY: privateKey }
    expect(resolveIt({ useDPoP: true }, env)).toMatchObject({
      dpop: { keys: { kind: 'none' } },
      problems: [
        { kind: 'wrong-variable', message: expect.stringMatching(/^IDP_DPOP_PUBLIC_KEY.*ES256/) },
        { kind: 'wrong-variable', message: expect.stringMatching(/^IDP_DPOP_PRIVATE_KEY.*ES256/) },
      ],
    })
  })

  test('[N4] keys of two different pairs in variables are rejected immediately, with a fix', () => {
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey
    const env = {
      ...variables,
      IDP_DPOP_PUBLIC_KEY: other.export({ type: 'spki', format: 'pem' }).toString(),
    }
    expect(resolveIt({ useDPoP: true }, env)).toMatchObject({
      dpop: { enabled: true, keys: { kind: 'none' } },
      problems: [
        {
          kind: 'wrong-variable',
          message: expect.stringMatching(
            /^IDP_DPOP_PUBLIC_KEY is not .*: set both from one run of npx idp-client dpop-keys\.$/,
          ),
        },
      ],
    })
  })

  test('a key pair without useDPoP is reported', () => {
    expect(resolveIt({ dpopKeyPair: pair })).toMatchObject({
      dpop: { enabled: false, keys: { kind: 'pair' } },
      problems: [{ kind: 'notice', message: expect.stringContaining('is used only by fetchers') }],
    })
  })
})

describe('options', () => {
  test('have defaults', () => {
    expect(resolveIt({}).dpop).toEqual({
      enabled: false,
      keys: { kind: 'none' },
      clockTolerance: 60,
      clockSkew: 0,
      retry: { delay: 100, jitter: true },
    })
  })

  test('[S106,S108,S110,S112] variables set each, options override them', () => {
    const env = {
      IDP_DPOP_CLOCK_TOLERANCE: '10',
      IDP_DPOP_CLOCK_SKEW: '-5',
      IDP_RETRY_DELAY: '250',
      IDP_RETRY_JITTER: 'false',
    }
    const byVariable = { clockTolerance: 10, clockSkew: -5, retry: { delay: 250, jitter: false } }
    expect(resolveIt({}, env)).toMatchObject({ dpop: byVariable, problems: [] })
    const byOption = { clockTolerance: 20, clockSkew: 7, retry: { delay: 0, jitter: true } }
    expect(resolveIt({ dpopOptions: byOption }, env)).toMatchObject({ dpop: byOption, problems: [] })
  })

  test('a tolerance of several minutes is reported', () => {
    expect(resolveIt({ dpopOptions: { clockTolerance: 300 } }).problems).toEqual([])
    expect(resolveIt({ dpopOptions: { clockTolerance: 301 } }).problems).toMatchObject([{ kind: 'notice' }])
  })

  test.each([
    { clockTolerance: -1 },
    { clockTolerance: Number.POSITIVE_INFINITY },
    { clockSkew: '5' },
    { retry: { delay: -1 } },
    { retry: { jitter: 'yes' } },
  ])('rejects %j', (dpopOptions) => {
    expect(resolveIt({ dpopOptions: dpopOptions as DpopOptions }).problems).toMatchObject([
      { kind: 'wrong-option' },
    ])
  })
})
