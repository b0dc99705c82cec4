import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'
import type { AccessTokenExchangeOptions, Auth, TokenAuth } from '../../src/index.ts'
import { generateDpopKeyPair, isIdpError } from '../../src/index.ts'
import type { GuardedApi } from '../support/guarded-api.ts'
import { API, provideGuardedApi } from '../support/guarded-api.ts'

/** Uses of the caller of an access token: an exchange on behalf of the user, and the form of the MCP SDK. */

let api: GuardedApi
provideGuardedApi((started) => {
  api = started
})

/** Returns the caller of a request with this token. */
async function callerOf(
  authorization: string | undefined,
  client = api.world.client,
  audience = API,
): Promise<Auth> {
  const headers = { authorization: authorization ?? '' }
  const accept = [client.resource({ audience })]
  const { auth } = await client.requireAuth(new Request('http://localhost:3000/api', { headers }), { accept })
  if (!auth) throw new Error('the guard rejects the token')
  return auth
}

async function ofUser(): Promise<TokenAuth> {
  const auth = await callerOf((await api.bearer()).authorization)
  return auth.kind === 'token' ? auth : expect.unreachable()
}

const ORDERS = 'https://orders.example.test/'
const sent = () => api.world.provider.requests('token').map(({ body }) => body)

describe('exchange', () => {
  test('returns a token of the same user for another API, and sends only the scope that is given', async () => {
    const auth = await ofUser()
    const { accessToken, ...rest } = await auth.exchange({ audience: ORDERS, scope: 'read:orders' })
    expect(decodeJwt(accessToken)).toMatchObject({ sub: 'dev|alice', aud: ORDERS })
    expect(rest).toMatchObject({ tokenType: 'Bearer', expiresIn: expect.any(Number) })
    expect(Object.keys(rest)).not.toContain('refreshToken')
    await auth.exchange({ audience: ORDERS })
    const access = 'urn:ietf:params:oauth:token-type:access_token'
    const request = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: auth.token,
      subject_token_type: access,
      requested_token_type: access,
      audience: ORDERS,
    }
    expect(sent()).toEqual([{ ...request, scope: 'read:orders' }, request])
  })

  test('drops a refresh token of the response', async () => {
    const auth = await ofUser()
    const body = { access_token: 'a', token_type: 'Bearer', expires_in: 60, refresh_token: 'r' }
    const headers = { 'content-type': 'application/json' }
    api.world.provider.faults.set('token', {
      kind: 'respond',
      status: 200,
      body: JSON.stringify(body),
      headers,
    })
    expect(await auth.exchange({ audience: ORDERS })).toEqual({
      accessToken: 'a',
      tokenType: 'Bearer',
      expiresIn: 60,
    })
  })

  test('sends nothing for a misspelt option: without the scope the provider may grant more', async () => {
    const auth = await ofUser()
    const misspelt: object = { scopes: 'read:orders' }
    const exchanged = auth.exchange({ audience: ORDERS, ...misspelt })
    await expect(exchanged).rejects.toMatchObject({
      code: 'INVALID_ARGUMENTS',
      detail: expect.stringContaining('Did you mean scope?'),
    })
    await auth.exchange({ audience: ORDERS, ...{ scopes: undefined } })
    expect(sent()).toHaveLength(1)
  })

  test('throws what the provider says, without the token', async () => {
    const auth = await ofUser()
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ error: 'invalid_target' })
    api.world.provider.faults.set('token', { kind: 'respond', status: 400, body, headers })
    const error = await auth.exchange({ audience: ORDERS }).catch((thrown: unknown) => thrown)
    expect(isIdpError(error, 'EXCHANGE_FAILED')).toBe(true)
    expect(error).toMatchObject({ cause: { error: 'invalid_target' } })
    expect(JSON.stringify(error)).not.toContain(auth.token)
  })

  test('throws the error of the configuration as it is', async () => {
    const [one, other] = await Promise.all([generateDpopKeyPair(), generateDpopKeyPair()])
    const dpopKeyPair = { publicKey: one.publicKey, privateKey: other.privateKey }
    const changes = { useDPoP: true, dpopKeyPair }
    const { client } = api.world.another(changes)
    const auth = await callerOf((await api.bearer()).authorization, client)
    if (auth.kind !== 'token') expect.unreachable()
    await expect(auth.exchange({ audience: ORDERS })).rejects.toMatchObject({ code: 'INVALID_CONFIGURATION' })
    expect(sent()).toEqual([])
  })

  test.each([
    undefined,
    {},
    { audience: '' },
    { audience: 7 },
    { audience: ORDERS, scope: '' },
    { audience: ORDERS, scope: ['a'] },
  ])('with %j throws INVALID_ARGUMENTS before any request', async (options) => {
    const auth = await ofUser()
    const exchange = auth.exchange(options as unknown as AccessTokenExchangeOptions)
    await expect(exchange).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' })
    expect(sent()).toEqual([])
  })
})

describe('authInfo', () => {
  test('is what the MCP SDK takes', async () => {
    const { client, clock } = api.world
    const auth = await ofUser()
    const described = client.resource({ audience: API, resource: 'https://api.example.test/mcp' })
    expect(described.authInfo(auth)).toEqual({
      token: auth.token,
      clientId: 'mobile-app',
      scopes: ['openid', 'read:things'],
      expiresAt: clock.now + 300,
      resource: new URL('https://api.example.test/mcp'),
      extra: { sub: 'dev|alice' },
    })
  })

  test('has no scopes without a scope, and no resource without the URL of the API', async () => {
    const { client } = api.world
    const { authorization } = await api.bearer({ aud: 'orders', scope: undefined })
    const info = client
      .resource({ audience: 'orders' })
      .authInfo(await callerOf(authorization, client, 'orders'))
    expect(info.scopes).toEqual([])
    expect(info).not.toHaveProperty('resource')
  })

  test('throws for a token without a client or of another resource, and for a session', async () => {
    const { client } = api.world
    const resource = client.resource({ audience: API })
    expect(resource.audience).toBe(API)
    const anonymous = await callerOf((await api.bearer({ client_id: undefined })).authorization)
    const { auth: session } = await api.call({ cookie: true }, { mixed: true })
    const other = client.resource({ audience: ORDERS })
    const auth = await ofUser()
    expect(() => other.authInfo(auth)).toThrow(expect.objectContaining({ code: 'INVALID_TOKEN' }))
    for (const auth of [anonymous, session as Auth])
      expect(() => resource.authInfo(auth)).toThrow(expect.objectContaining({ code: 'INVALID_TOKEN' }))
  })
})
