import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { refreshTokens } from '../../src/oidc/grants.ts'
import { providerOf, recordingLog, rejection } from './client.ts'
import type { Claims, SigningKey } from './local-provider.ts'
import { ACCESS_TOKEN, json, LocalProvider, signingKey } from './local-provider.ts'
import { faults } from './wire-faults.ts'

let key: SigningKey
let op: LocalProvider
let idToken: string
beforeAll(async () => {
  key = await signingKey('k1', 'ES256')
  op = await new LocalProvider(key).start()
  idToken = await op.sign({ auth_time: 5, azp: 'client-1' })
})
afterAll(() => op.stop())
beforeEach(() => {
  op.answers.clear()
  op.requests.length = 0
  op.tokens = {}
  op.key = key
  op.idToken = () => op.sign({ nonce: undefined })
})

const log = recordingLog()
const refresh = (changes: Partial<Parameters<typeof refreshTokens>[1]> = {}) =>
  refreshTokens(providerOf(op.issuer, { log, httpTimeout: 500 }), {
    refreshToken: 'refresh-token-0',
    idToken,
    subject: 'alice',
    ...changes,
  })

const form = () => Object.fromEntries(op.requests.find(({ endpoint }) => endpoint === 'token')?.form ?? [])

describe('the request', () => {
  test('names the refresh token, and scope and audience only when given', async () => {
    await refresh()
    expect(form()).toEqual({ grant_type: 'refresh_token', refresh_token: 'refresh-token-0' })
    op.requests.length = 0
    await refresh({ scope: 'openid a', audience: 'https://api.example' })
    expect(form()).toMatchObject({ scope: 'openid a', audience: 'https://api.example' })
  })

  test('[RT-05] what the answer leaves out is left out', async () => {
    op.tokens = { refresh_token: undefined, id_token: undefined, scope: undefined, expires_in: undefined }
    const grant = await refresh()
    expect(Object.keys(grant).sort()).toEqual(['accessToken', 'expiresAt', 'tokenType'])
    expect(grant.accessToken).toBe(ACCESS_TOKEN)
  })
})

describe('[RT-01] a refreshed ID token speaks about the same login', () => {
  test.each<[string, Claims]>([
    ['as it was', { auth_time: 5, azp: 'client-1', nonce: 'nonce-of-this-login' }],
    ['with less in it', { nonce: undefined }],
    ['with its audience as a list', { aud: ['client-1'], nonce: undefined }],
  ])('%s', async (_how, claims) => {
    op.idToken = () => op.sign(claims)
    expect((await refresh()).claims?.sub).toBe('alice')
  })

  test.each<[string, Claims, RegExp]>([
    ['another user', { sub: 'mallory' }, /sub is not the user/],
    ['another issuer', { iss: 'https://other.example' }, /iss is not/],
    ['another client', { aud: 'client-2' }, /aud/],
    ['a further audience', { aud: ['client-1', 'client-2'], azp: 'client-1' }, /aud is not that/],
    ['another party', { azp: 'client-2' }, /azp/],
    ['another login', { auth_time: 6 }, /auth_time is not that/],
    ['another nonce', { nonce: 'of another login' }, /nonce is not that/],
  ])('%s: the whole answer is refused', async (_who, claims, why) => {
    op.idToken = () => op.sign({ nonce: undefined, ...claims })
    const error = await rejection(refresh())
    expect(error).toMatchObject({ code: 'ID_TOKEN_INVALID', transient: false })
    expect(String(error)).toMatch(why)
    expect(log.events.at(-1)).toMatchObject({ code: 'PROVIDER_FAILURE', error: 'ID_TOKEN_INVALID' })
  })

  test('a bad signature: refused', async () => {
    const stranger = await signingKey('k1', 'ES256')
    op.idToken = () => op.sign({ nonce: undefined }, {}, stranger)
    expect(await rejection(refresh())).toMatchObject({ code: 'ID_TOKEN_INVALID' })
  })

  test('without an earlier one, or with one that is not readable, the subject still decides', async () => {
    for (const before of [undefined, 'garbage']) {
      const request = before === undefined ? { subject: 'alice' } : { subject: 'alice', idToken: before }
      const provider = providerOf(op.issuer, { log })
      const grant = await refreshTokens(provider, { refreshToken: 'r', ...request })
      expect(grant.claims?.sub).toBe('alice')
      const other = refreshTokens(provider, { refreshToken: 'r', ...request, subject: 'bob' })
      expect(await rejection(other)).toMatchObject({ code: 'ID_TOKEN_INVALID' })
    }
  })
})

describe('[RT-06,TE-11,TE-13] failures', () => {
  test.each([
    [400, 'invalid_grant', false],
    [401, 'invalid_client', false],
    [400, 'invalid_scope', false],
    [403, 'access_denied', false],
    [418, 'unknown_custom_error', false],
    [429, 'slow_down', true],
    [500, 'server_error', true],
    [503, 'temporarily_unavailable', true],
  ])('%s %s: transient %s, one request', async (status, error, transient) => {
    op.answers.set('token', (response) => json(response, { error }, status))
    expect(await rejection(refresh())).toMatchObject({ name: 'OAuthError', error, status, transient })
    expect(op.count('token')).toBe(1)
  })

  test.each(faults)('$title: one request', async (fault) => {
    const provider = providerOf(op.issuer, { log })
    await provider.keys()
    const { fetch } = provider.config
    const hurried = providerOf(op.issuer, { log, fetch, httpTimeout: fault.timeout ? 200 : 20_000 })
    op.requests.length = 0
    op.answers.set('token', (response, request) =>
      fault.answer(response, request, async (target) => json(target, await op.tokenAnswer())),
    )
    const outcome = refreshTokens(hurried, { refreshToken: 'r', idToken, subject: 'alice' })
    if (fault.tolerated) expect((await outcome).accessToken).toBe(ACCESS_TOKEN)
    else {
      expect(await rejection(outcome)).toMatchObject({
        name: 'OAuthError',
        transient: fault.transient ?? false,
      })
    }
    expect(op.count('token')).toBe(1)
  })
})
