import { createHash } from 'node:crypto'
import { calculateJwkThumbprint, EmbeddedJWK, exportPKCS8, exportSPKI, jwtVerify } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import { engineFor } from '../../test/support/engine.ts'
import type { Config } from '../config/config.ts'
import type { DpopKeyPair, IdpClientOptions } from '../config/options.ts'
import { generateDpopKeyPair } from '../crypto/keys.ts'
import type { Dpop } from './dpop.ts'
import {
  challengeErrors,
  createDpop,
  importDpopKeys,
  isNonceChallenge,
  nonceRetryDelay,
  refusesToken,
} from './dpop.ts'

const TOKEN = 'access-token'

const pemPair = async ({ publicKey, privateKey }: DpopKeyPair) =>
  [await exportSPKI(publicKey), await exportPKCS8(privateKey)] as const

let pair: DpopKeyPair
beforeAll(async () => {
  pair = await generateDpopKeyPair()
})

function configOf(options: IdpClientOptions = {}): Config {
  return engineFor({ useDPoP: true, dpopKeyPair: pair, ...options }).engine.config
}

const dpopOf = (options: IdpClientOptions = {}): Dpop => createDpop(configOf(options))

async function claimsOf(dpop: Dpop, url: string, method = 'GET') {
  const proof = await dpop.prove({ method, url: new URL(url), accessToken: TOKEN })
  const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
    currentDate: new Date(1_800_000_000_000),
  })
  return { payload, protectedHeader }
}

const respondWith = (status: number, headers: Record<string, string>) =>
  new Response(null, { status, headers })
const challenge = { 'www-authenticate': 'DPoP error="use_dpop_nonce"' }

describe('a proof for an API', () => {
  test('contains key, method, URL and token hash, and nothing else', async () => {
    const url = 'https://api.example:8443/things/a%20b?x=1#y'
    const { payload, protectedHeader } = await claimsOf(dpopOf(), url, 'POST')
    expect(payload).toEqual({
      jti: expect.stringMatching(/^[\w-]{22}$/),
      htm: 'POST',
      htu: 'https://api.example:8443/things/a%20b',
      iat: 1_800_000_000,
      ath: createHash('sha256').update(TOKEN).digest('base64url'),
    })
    expect({ ...protectedHeader, jwk: Object.keys(protectedHeader.jwk ?? {}).sort() }).toEqual({
      alg: 'ES256',
      typ: 'dpop+jwt',
      jwk: ['crv', 'kty', 'x', 'y'],
    })
    expect(await calculateJwkThumbprint(protectedHeader.jwk as { kty: 'EC' })).toBe(
      (await dpopOf().handle()).thumbprint,
    )
  })

  test('has a unique id', async () => {
    const dpop = dpopOf()
    const proofs = await Promise.all(Array.from({ length: 20 }, () => claimsOf(dpop, 'https://api.example/')))
    expect(new Set(proofs.map(({ payload }) => payload.jti)).size).toBe(20)
  })

  test('clockSkew changes its time, clockTolerance does not', async () => {
    const dpop = dpopOf({ dpopOptions: { clockSkew: -30, clockTolerance: 200 } })
    expect((await claimsOf(dpop, 'https://api.example/')).payload.iat).toBe(1_800_000_000 - 30)
  })

  test('keys for fetchers work without useDPoP', async () => {
    const dpop = dpopOf({ useDPoP: false })
    expect((await claimsOf(dpop, 'https://api.example/')).payload['htm']).toBe('GET')
  })

  test('without a key it is a configuration error', async () => {
    const proof = createDpop(engineFor().engine.config).prove({
      method: 'GET',
      url: new URL('https://a.example'),
      accessToken: TOKEN,
    })
    await expect(proof).rejects.toMatchObject({ code: 'INVALID_CONFIGURATION', message: /dpopKeyPair/ })
  })
})

describe('nonces of APIs', () => {
  test('the latest nonce of each origin is used, whatever the response was', async () => {
    const dpop = dpopOf()
    const [one, two] = ['https://one.example/a', 'https://two.example/a'] as const
    expect((await claimsOf(dpop, one)).payload['nonce']).toBeUndefined()
    expect(dpop.learn(new URL(one), respondWith(401, { ...challenge, 'dpop-nonce': 'n1' }))).toBe('n1')
    expect((await claimsOf(dpop, `${one}/b`)).payload['nonce']).toBe('n1')
    expect((await claimsOf(dpop, two)).payload['nonce']).toBeUndefined()
    expect(dpop.learn(new URL(one), respondWith(200, { 'dpop-nonce': 'n2' }))).toBe('n2')
    expect(dpop.learn(new URL(one), respondWith(200, {}))).toBe(null)
    expect((await claimsOf(dpop, one)).payload['nonce']).toBe('n2')
    expect((await claimsOf(dpopOf(), one)).payload['nonce']).toBeUndefined()
  })

  test('the number of remembered origins is limited', async () => {
    const dpop = dpopOf()
    for (let n = 0; n < 101; n++) {
      dpop.learn(new URL(`https://host-${n}.example`), respondWith(200, { 'dpop-nonce': `n${n}` }))
    }
    expect((await claimsOf(dpop, 'https://host-0.example')).payload['nonce']).toBeUndefined()
    expect((await claimsOf(dpop, 'https://host-100.example')).payload['nonce']).toBe('n100')
  })

  test.each([
    ['DPoP error="use_dpop_nonce", error_description="x"', true],
    ['dpop ERROR=use_dpop_nonce', true],
    ['DPoP algs="ES256", error="use_dpop_nonce"', true],
    ['Bearer realm="a", DPoP error="use_dpop_nonce"', true],
    ['DPoP error="invalid_token"', false],
    ['DPoP error="use_dpop_nonces"', false],
    ['Bearer error="use_dpop_nonce"', false],
    ['XDPoP error="use_dpop_nonce"', false],
  ])('%s: %s', (header, expected) => {
    const response = respondWith(401, { 'www-authenticate': header, 'dpop-nonce': 'n' })
    expect(isNonceChallenge(response, null)).toBe(expected)
  })

  test('the challenge of an authorization server is in its body', () => {
    expect(isNonceChallenge(respondWith(400, {}), { error: 'use_dpop_nonce' })).toBe(true)
    expect(isNonceChallenge(respondWith(400, {}), { error: 'invalid_grant' })).toBe(false)
    expect(isNonceChallenge(respondWith(200, {}), { error: 'use_dpop_nonce' })).toBe(false)
    expect(isNonceChallenge(respondWith(500, challenge), null)).toBe(false)
  })
})

test.each([
  ['DPoP error="use_dpop_nonce", error_description="x"', 'use_dpop_nonce'],
  ['dpop ERROR = use_dpop_nonce', 'use_dpop_nonce'],
  ['DPoP algs="ES256 PS256", error="use_dpop_nonce"', 'use_dpop_nonce'],
  ['Bearer realm="a, DPoP error=x", DPoP error="use_dpop_nonce"', 'use_dpop_nonce'],
  ['Negotiate dG9rZW4==, DPoP error="use_dpop_nonce"', 'use_dpop_nonce'],
  ['DPoP error="a\\"b"', 'a"b'],
  ['DPoP realm="error=use_dpop_nonce"', null],
  ['Bearer error="use_dpop_nonce"', null],
  ['DPoP algs="ES256", Bearer error="use_dpop_nonce"', null],
  ['DPoP error="first", error="second", Bearer error="third"', 'first'],
  ['XDPoP error="use_dpop_nonce"', null],
  ['DPoP error="', ''],
  ['DPoP', null],
  ['', null],
])('%s: %s', (header, expected) => {
  const { headers } = respondWith(401, { 'www-authenticate': header })
  expect(challengeErrors(headers).get('dpop') ?? null).toBe(expected)
})

test.each([
  ['Bearer error="invalid_token"', true],
  ['DPoP error="invalid_token"', true],
  ['error="invalid_token", error_description="x"', true],
  ['Basic error="invalid_token"', false],
  ['Bearer error="insufficient_scope"', false],
])('an API refuses a token by %s: %s', (header, expected) => {
  expect(refusesToken(respondWith(401, { 'www-authenticate': header }))).toBe(expected)
})

test('[G6] a header is parsed in linear time', () => {
  // A pattern that backtracks needs hours for a megabyte of these.
  for (const part of ['dpop ', 'dpop x="', 'a=', '"', '\\', 'dpop error,', 'dpop error= ', ' ', '\t,']) {
    const headers = new Headers({ 'www-authenticate': part.repeat(1_000_000 / part.length) })
    expect(challengeErrors(headers).get('bearer')).toBeUndefined()
  }
})

test('[S109,S111] the delay before a retry is as configured, or half of it to all of it', () => {
  const delays = (jitter: boolean) =>
    Array.from({ length: 200 }, () =>
      nonceRetryDelay({ dpop: { ...configOf().dpop, retry: { delay: 100, jitter } } }),
    )
  expect(new Set(delays(false))).toEqual(new Set([100]))
  expect(Math.min(...delays(true))).toBeGreaterThanOrEqual(50)
  expect(Math.max(...delays(true))).toBeLessThanOrEqual(100)
  expect(new Set(delays(true)).size).toBeGreaterThan(1)
})

test.each([
  [2, 800],
  [3, 1600],
  [4, 3200],
])('[M5] retry %s is immediate or up to %s ms later, one as often as the other', (retry, longest) => {
  const delays = (jitter: boolean) =>
    Array.from({ length: 400 }, () =>
      nonceRetryDelay({ dpop: { ...configOf().dpop, retry: { delay: 100, jitter } } }, retry),
    )
  expect(new Set(delays(false))).toEqual(new Set([100]))
  const [immediate, later] = [delays(true).filter((delay) => delay === 0), delays(true).filter(Boolean)]
  expect(Math.min(immediate.length, later.length)).toBeGreaterThan(100)
  expect(Math.max(...later)).toBeLessThanOrEqual(longest)
  expect(Math.max(...later)).toBeGreaterThan(longest / 2)
})

describe('keys', () => {
  test('[S070] are read from PEM text; the private key is not exportable', async () => {
    const made = await generateDpopKeyPair({ extractable: true })
    const [publicKey, privateKey] = await pemPair(made)
    const keys = await importDpopKeys({ kind: 'pem', publicKey, privateKey })
    expect(keys.privateKey.extractable).toBe(false)
    expect((await importDpopKeys({ kind: 'pair', ...made })).jwk).toEqual(keys.jwk)
  })

  test('[S104] a generated pair is ES256, and its private key is exportable only if requested', async () => {
    expect(pair.privateKey).toMatchObject({ extractable: false, type: 'private', usages: ['sign'] })
    expect(pair.publicKey.algorithm).toMatchObject({ name: 'ECDSA', namedCurve: 'P-256' })
    expect((await generateDpopKeyPair({ extractable: true })).privateKey.extractable).toBe(true)
  })

  test('that do not match or cannot be used are a configuration error without key material', async () => {
    const [publicKey] = await pemPair(await generateDpopKeyPair({ extractable: true }))
    const [, privateKey] = await pemPair(await generateDpopKeyPair({ extractable: true }))
    const wrong = [
      { kind: 'pem', publicKey, privateKey },
      { kind: 'pem', publicKey, privateKey: publicKey },
      { kind: 'pem', publicKey: 'x', privateKey },
      { kind: 'pair', publicKey: pair.publicKey, privateKey: (await generateDpopKeyPair()).privateKey },
    ] as const
    for (const keys of wrong) {
      const error: unknown = await importDpopKeys(keys).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ name: 'InvalidConfigurationError' })
      expect(String(error)).not.toContain(publicKey.slice(40, 60))
    }
  })
})
