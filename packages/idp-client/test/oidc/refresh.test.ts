import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { reportFailure } from '../../src/log/failure.ts'
import { refreshTokens, withProgress } from '../../src/oidc/token-endpoint.ts'
import { providerOf, recordingLog, rejection } from './client.ts'
import type { Claims, SigningKey } from './local-provider.ts'
import { ACCESS_TOKEN, json, LocalProvider, nowInSeconds, signingKey } from './local-provider.ts'
import { faults } from './wire-faults.ts'

let key: SigningKey
let op: LocalProvider
beforeAll(async () => {
  key = await signingKey('k1', 'ES256')
  op = await new LocalProvider(key).start()
})
afterAll(() => op.stop())
beforeEach(() => {
  op.responders.clear()
  op.requests.length = 0
  op.tokens = {}
  op.key = key
  op.published = [key.publicJwk]
  op.idToken = () => op.sign({ nonce: undefined })
  log.events.length = 0
})

const log = recordingLog()
type RefreshRequest = Parameters<typeof refreshTokens>[1]

/** A session whose ID token named a time, a nonce and the client, and no organization. */
const request = (changes: Partial<RefreshRequest> = {}): RefreshRequest => ({
  refreshToken: 'refresh-token-0',
  subject: 'alice',
  previous: { ...op.claims(), auth_time: 5 },
  ...changes,
})

const refresh = (changes: Partial<RefreshRequest> = {}) =>
  refreshTokens(providerOf(op.issuer, { log }), request(changes))

const form = () => Object.fromEntries(op.requests.find(({ endpoint }) => endpoint === 'token')?.form ?? [])

describe('the request', () => {
  test('has the refresh token, and scope and audience only if they are given', async () => {
    await refresh()
    expect(form()).toEqual({ grant_type: 'refresh_token', refresh_token: 'refresh-token-0' })
    op.requests.length = 0
    await refresh({ scope: 'openid a', audience: 'https://api.example' })
    expect(form()).toMatchObject({ scope: 'openid a', audience: 'https://api.example' })
  })

  test('properties that the response lacks are absent', async () => {
    op.tokens = { refresh_token: undefined, id_token: undefined, scope: undefined, expires_in: undefined }
    const grant = await refresh()
    expect(Object.keys(grant).sort()).toEqual(['accessToken', 'expiresAt', 'tokenType'])
    expect(grant.accessToken).toBe(ACCESS_TOKEN)
  })

  test.each([null, ''])('an ID token %j in the response counts as absent', async (absent) => {
    op.tokens = { id_token: absent }
    const grant = await refresh()
    expect([grant.accessToken, grant.idToken]).toEqual([ACCESS_TOKEN, undefined])
    expect(log.events).toEqual([])
  })
})

/** Claims of a token that nobody would accept for a reason of its own. */
const expired = (): Claims => ({ exp: nowInSeconds() - 3600, iat: nowInSeconds() - 7200 })

describe('a refreshed ID token must be about the same user', () => {
  test.each<[string, Claims]>([
    ['as it was', { auth_time: 5, azp: 'client-1', nonce: 'nonce-of-this-login' }],
    ['with less in it', { nonce: undefined }],
    ['with null in place of what it lacks', { at_hash: null, azp: null, nonce: null }],
    ['with its audience as a list', { aud: ['client-1'], nonce: undefined }],
    ['with its audience twice', { aud: ['client-1', 'client-1'], azp: 'client-1', nonce: undefined }],
    ['[B1] of a later authentication', { auth_time: 6, nonce: undefined }],
  ])('%s', async (_how, claims) => {
    op.idToken = () => op.sign(claims)
    const grant = await refresh()
    expect(grant.claims).toMatchObject({ sub: 'alice' })
    expect(grant.idToken).toEqual(expect.any(String))
    expect(log.events).toEqual([])
  })

  test.each<[string, Claims, Claims]>([
    [
      'with its audiences in another order',
      { aud: ['api', 'client-1'] },
      { aud: ['client-1', 'api'], azp: 'client-1' },
    ],
    ['if of the earlier one only the user is known', { iss: undefined, aud: undefined }, {}],
    ['with a nonce that the earlier one lacked', { nonce: undefined }, { nonce: 'another' }],
  ])('%s', async (_how, earlier, claims) => {
    op.idToken = () => op.sign({ nonce: undefined, ...claims })
    const grant = await refresh({ previous: { ...op.claims(), ...earlier } })
    expect(grant.claims).toMatchObject({ sub: 'alice' })
  })

  test('also if the session does not know its user otherwise', async () => {
    op.idToken = () => op.sign({ nonce: undefined, sub: 'mallory' })
    const { subject: _subject, ...unknown } = request()
    const error = await rejection(refreshTokens(providerOf(op.issuer, { log }), unknown))
    expect(String(error)).toMatch(/sub is not that of the ID token before/)
  })

  const others: [string, Claims, RegExp][] = [
    ['another user', { sub: 'mallory' }, /sub is not the requested user/],
    ['no user', { sub: undefined }, /sub is missing/],
    ['another issuer', { iss: 'https://other.example' }, /iss is not/],
    ['no issuer', { iss: undefined }, /iss is not/],
    ['another client', { aud: 'client-2' }, /aud/],
    ['no audience', { aud: undefined }, /aud/],
    ['a further audience', { aud: ['client-1', 'client-2'], azp: 'client-1' }, /aud is not that/],
    ['another party', { azp: 'client-2' }, /azp/],
    ['an organization', { org_id: 'org_1' }, /org_id or org_name is not that/],
    ['no end', { exp: undefined }, /exp is missing/],
    ['an end that is no number', { exp: 'never' }, /exp is not a number/],
    ['the hash of another access token', { at_hash: 'AAAAAAAAAAAAAAAAAAAAAA' }, /at_hash/],
  ]

  test.each(others)('[B2] %s: the whole response is rejected', async (_who, claims, why) => {
    op.idToken = () => op.sign({ nonce: undefined, ...claims })
    const error = await rejection(refresh())
    expect(error).toMatchObject({ code: 'ID_TOKEN_INVALID', transient: false })
    expect(String(error)).toMatch(why)
    reportFailure(log, error)
    expect(log.events.at(-1)).toMatchObject({ code: 'PROVIDER_FAILURE', error: 'ID_TOKEN_INVALID' })
  })

  test.each<[string, Claims]>([
    ['another issuer', { iss: 'https://other.example' }],
    ['another client', { aud: 'client-2' }],
  ])('[B2] %s, without a session to compare with: the whole response is rejected', async (_who, claims) => {
    op.idToken = () => op.sign({ nonce: undefined, ...claims })
    const provider = providerOf(op.issuer, { log })
    expect(await rejection(refreshTokens(provider, { refreshToken: 'r' }))).toMatchObject({
      code: 'ID_TOKEN_INVALID',
    })
  })

  test('that the cached keys verify causes no request for others', async () => {
    const provider = providerOf(op.issuer, { log })
    for (let at = 0; at < 2; at++) expect(await refreshTokens(provider, request())).toHaveProperty('claims')
    expect(op.count('jwks')).toBe(1)
  })

  test.each<[string, Claims, Claims]>([
    ['another organization', { org_id: 'org_1' }, { org_id: 'org_2' }],
    ['an organization in a session without one', {}, { org_id: 'org_1' }],
    ['another name alone', { org_name: 'acme' }, { org_name: 'globex' }],
  ])('[B2] %s: the whole response is refused', async (_what, before, now) => {
    op.idToken = () => op.sign({ nonce: undefined, ...now })
    const error = await rejection(refresh({ previous: { ...op.claims(), ...before } }))
    expect(String(error)).toMatch(/org_id or org_name is not that/)
  })

  test('[B9] another algorithm than the configured one rejects the whole response', async () => {
    const provider = providerOf(op.issuer, { log, idTokenAlgorithms: ['RS256'] })
    expect(await rejection(refreshTokens(provider, request()))).toMatchObject({ code: 'ID_TOKEN_INVALID' })
  })

  test('may have the same organization with its name beside the id', async () => {
    op.idToken = () => op.sign({ nonce: undefined, org_id: 'org_1', org_name: 'acme' })
    const { claims } = await refresh({ previous: { ...op.claims(), org_id: 'org_1' } })
    expect(claims).toMatchObject({ org_name: 'acme' })
  })

  test('is compared by its subject if nothing else of the session is known', async () => {
    const known = { refreshToken: 'r', subject: 'alice' }
    const provider = providerOf(op.issuer, { log })
    expect((await refreshTokens(provider, known)).claims?.sub).toBe('alice')
    expect(await rejection(refreshTokens(provider, { ...known, subject: 'bob' }))).toMatchObject({
      code: 'ID_TOKEN_INVALID',
    })
  })
})

/** Stands for JSON that is nested too deep to be written again. */
const DEEP = 'deep'

/** Forged ID tokens, and those of other providers, for this user. */
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const forgeries: [string, (claims: Claims) => unknown][] = [
  ['of another user', (claims) => op.sign({ ...claims, sub: 'mallory' })],
  ['of another issuer', (claims) => op.sign({ ...claims, iss: 'https://other.example' })],
  ['of another client', (claims) => op.sign({ ...claims, aud: 'client-2' })],
  ['of an organization', (claims) => op.sign({ ...claims, org_id: 'org_1' })],
  ['for another party', (claims) => op.sign({ ...claims, azp: 'client-2' })],
  ['with the hash of another token', (claims) => op.sign({ ...claims, at_hash: 'AAAAAAAAAAAAAAAAAAAAAA' })],
  ['unsigned', (claims) => `${encode({ alg: 'none' })}.${encode(op.claims(claims))}.`],
  ['without its signature', async (claims) => (await op.sign(claims)).replace(/[^.]*$/, '')],
  ['signed with a secret', (claims) => `${encode({ alg: 'HS256' })}.${encode(op.claims(claims))}.AAAA`],
  ['of an access token', (claims) => op.sign(claims, { typ: 'at+jwt' })],
  ['in two parts', async (claims) => (await op.sign(claims)).split('.').slice(0, 2).join('.')],
  ['encrypted', () => 'e30.e30.e30.e30.e30'],
  ['of no base64url', async (claims) => (await op.sign(claims)).replace(/\.[^.]*\./, '.§.')],
  ['with a signature of no base64url', async (claims) => (await op.sign(claims)).replace(/[^.]*$/, '§')],
  ['with a payload of no JSON', async (claims) => (await op.sign(claims)).replace(/\.[^.]*\./, '.AAAA.')],
  ['of no text', () => 5],
  ['in a list', async (claims) => [await op.sign(claims)]],
  ['in too many lists', () => DEEP],
]

describe('[B2] a token that is provably forged rejects the response, whatever else is invalid', () => {
  const respondWith = (idToken: (claims: Claims) => unknown, claims: Claims): void => {
    op.responders.set('token', async (response) => {
      const body = JSON.stringify({ ...(await op.tokenResponse()), id_token: await idToken(claims) })
      json(response, body.replace(JSON.stringify(DEEP), `${'['.repeat(100_000)}${']'.repeat(100_000)}`))
    })
  }

  test.each(forgeries)(
    '%s, expired, with another nonce, and keys that cannot be loaded',
    async (_how, idToken) => {
      respondWith(idToken, { ...expired(), nonce: 'another', auth_time: 4 })
      op.responders.set('jwks', (response) => json(response, {}, 500))
      expect(await rejection(refresh())).toMatchObject({ code: 'ID_TOKEN_INVALID' })
    },
  )

  test.each(forgeries)('%s, and otherwise valid', async (_how, idToken) => {
    respondWith(idToken, { nonce: undefined })
    expect(await rejection(refresh())).toMatchObject({ code: 'ID_TOKEN_INVALID' })
  })

  test.each<[string, (stranger: SigningKey) => Promise<string>]>([
    ['under a published key id', (stranger) => op.sign(expired(), {}, stranger)],
    ['without a key id', (stranger) => op.sign(expired(), { kid: undefined }, stranger)],
    [
      'under the key id of a key for another algorithm',
      async (stranger) => {
        op.published = [(await signingKey('k1', 'RS256')).publicJwk]
        return op.sign(expired(), {}, stranger)
      },
    ],
  ])('by another key %s, and out of time', async (_how, idToken) => {
    const stranger = await signingKey('k1', 'ES256')
    op.idToken = () => idToken(stranger)
    const error = await rejection(refresh())
    expect(error).toMatchObject({ code: 'ID_TOKEN_INVALID', message: expect.stringContaining('signature') })
  })
})

describe('[B2] a refresh keeps its tokens if only the ID token is rejected for', () => {
  const taken = { accessToken: ACCESS_TOKEN, refreshToken: 'refresh-token-1', scope: 'openid profile' }

  async function expectIgnored(reason: string, outcome = refresh()): Promise<void> {
    const grant = await outcome
    expect(grant).toMatchObject(taken)
    expect(grant).not.toHaveProperty('idToken')
    expect(grant).not.toHaveProperty('claims')
    expect(log.events.at(-1)).toMatchObject({ code: 'REFRESHED_ID_TOKEN_IGNORED', level: 'warn', reason })
  }

  test.each<[string, Claims, string]>([
    ['expired', { exp: nowInSeconds() - 90 }, 'time'],
    ['issued in the future', { iat: nowInSeconds() + 90 }, 'time'],
    ['not valid yet', { nbf: nowInSeconds() + 90 }, 'time'],
    ['an earlier authentication', { auth_time: 4 }, 'auth_time'],
    ['another nonce', { nonce: 'of another login' }, 'nonce'],
  ])('%s', async (_what, claims, reason) => {
    op.idToken = () => op.sign({ nonce: undefined, ...claims })
    await expectIgnored(reason)
  })

  test.each<[string, Claims]>([
    ['no organization', {}],
    ['the organization without its name', { org_id: 'org_1' }],
  ])('%s', async (_what, claims) => {
    op.idToken = () => op.sign({ nonce: undefined, ...claims })
    const previous = { ...op.claims(), org_id: 'org_1', org_name: 'acme' }
    await expectIgnored('organization', refresh({ previous }))
  })

  test('keys that cannot be loaded', async () => {
    op.responders.set('jwks', (response) => json(response, {}, 500))
    await expectIgnored('keys')
    expect(log.events[0]).toMatchObject({ code: 'PROVIDER_FAILURE', endpoint: 'jwks' })
  })

  test('metadata without keys', async () => {
    op.metadata = { jwks_uri: undefined }
    await expectIgnored('keys').finally(() => {
      op.metadata = {}
    })
  })

  test('a key id that is not published, also right after the keys were loaded', async () => {
    op.idToken = async () => op.sign({ nonce: undefined }, {}, await signingKey('k-next', 'ES256'))
    await expectIgnored('keys')
    expect(op.count('jwks')).toBe(2)
  })

  test.each(['k1', undefined])(
    'cached keys do not prove that a signature is wrong, only newly loaded ones do: kid %s',
    async (kid) => {
      const provider = providerOf(op.issuer, { log, clock: () => nowInSeconds() })
      await provider.keys()
      const stranger = await signingKey('k1', 'ES256')
      op.idToken = () => op.sign({ nonce: undefined }, { kid }, stranger)
      op.responders.set('jwks', (response) => json(response, {}, 500))
      await expectIgnored('keys', refreshTokens(provider, request()))
      op.responders.delete('jwks')
      // The attempt above was the one within 60 s.
      await expectIgnored('keys', refreshTokens(provider, request()))
      const later = providerOf(op.issuer, { log })
      expect(await rejection(refreshTokens(later, request()))).toMatchObject({ code: 'ID_TOKEN_INVALID' })
    },
  )

  test('a key that was replaced under the same key id is loaded, and the token accepted', async () => {
    const provider = providerOf(op.issuer, { log })
    await provider.keys()
    const next = await signingKey('k1', 'ES256')
    op.published = [next.publicJwk]
    op.idToken = () => op.sign({ nonce: undefined }, {}, next)
    expect((await refreshTokens(provider, request())).claims?.sub).toBe('alice')
  })
})

describe('failures', () => {
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
    op.responders.set('token', (response) => json(response, { error }, status))
    expect(await rejection(refresh())).toMatchObject({
      name: 'OAuthError',
      error,
      providerStatus: status,
      transient,
    })
    expect(op.count('token')).toBe(1)
  })

  test.each(faults)('$title: one request', async (fault) => {
    const provider = providerOf(op.issuer, { log })
    await provider.keys()
    const { fetch } = provider.config
    const hurried = providerOf(op.issuer, { log, fetch, httpTimeout: fault.timeout ? 200 : 20_000 })
    op.requests.length = 0
    op.responders.set('token', (response, request) =>
      fault.respond(response, request, async (target) => json(target, await op.tokenResponse())),
    )
    const outcome = refreshTokens(hurried, request())
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

test('after a late response no further request is sent, such as one with the nonce that it requires', async () => {
  const provider = providerOf(op.issuer, { log })
  const sent: string[] = []
  const late = withProgress(
    {
      ...provider,
      async send(url, given) {
        sent.push(url)
        given?.onOverdue?.()
        return { response: new Response(), text: '' }
      },
    },
    { onOverdue: () => 1000 },
  )
  await late.send('https://idp.example/token')
  await expect(late.send('https://idp.example/token')).rejects.toMatchObject({ kind: 'timeout' })
  expect(sent).toHaveLength(1)
})
