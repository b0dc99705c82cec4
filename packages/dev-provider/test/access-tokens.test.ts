import { createLocalJWKSet, generateKeyPair, jwtVerify } from 'jose'
import * as client from 'openid-client'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DevProvider, DevProviderSettings } from '../src/index.ts'
import { startDevProvider } from '../src/index.ts'
import type { RelyingParty } from './relying-party.ts'
import { relyingParty } from './relying-party.ts'

/** Access tokens as an API receives them from different providers. */

const THINGS = 'https://api.example.test/'
const REQUEST = { audience: THINGS, scope: 'openid read:things' }

let provider: DevProvider
let app: RelyingParty
beforeEach(async () => {
  provider = await startDevProvider()
  app = await relyingParty(provider)
})
afterEach(() => provider.stop())

/** Verifies a token for the API. */
async function read(token: string) {
  const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(provider.jwks()), {
    issuer: provider.issuer,
    audience: THINGS,
  })
  return { header: protectedHeader, claims: payload }
}

type Profile = DevProviderSettings['accessTokenProfile']

test.each<[Profile, string | undefined, object, readonly string[]]>([
  ['rfc9068', 'at+jwt', { client_id: 'dev-app', scope: 'openid read:things', aud: THINGS }, ['azp', 'typ']],
  ['jwt', 'JWT', { client_id: 'dev-app', scope: 'openid read:things', aud: THINGS }, ['azp', 'typ']],
  ['untyped', undefined, { client_id: 'dev-app', scope: 'openid read:things', aud: THINGS }, ['azp', 'typ']],
  ['auth0', 'JWT', { azp: 'dev-app', scope: 'openid read:things' }, ['client_id', 'typ']],
  [
    'keycloak',
    'JWT',
    { azp: 'dev-app', typ: 'Bearer', scope: 'openid read:things', aud: [THINGS, 'account'] },
    ['client_id'],
  ],
  [
    'entra',
    'JWT',
    { appid: 'dev-app', scp: 'openid read:things', aud: THINGS },
    ['client_id', 'azp', 'scope'],
  ],
])('accessTokenProfile %s: type %s', async (profile, type, claims, absent) => {
  provider.settings.accessTokenProfile = profile
  const tokens = await app.logIn(REQUEST)
  const token = await read(tokens.access_token)
  expect(token.header.typ).toBe(type)
  expect(token.claims).toMatchObject({ sub: 'dev|alice', ...claims })
  for (const name of absent) expect(token.claims).not.toHaveProperty(name)
  // The provider's own endpoints understand every profile.
  const userinfo = await client.fetchUserInfo(app.config, tokens.access_token, 'dev|alice')
  expect(userinfo).toEqual({ sub: 'dev|alice' })
})

test('a token of a client has its id as subject in every profile that names the client', async () => {
  provider.settings.accessTokenProfile = 'keycloak'
  const { access_token: token } = await client.clientCredentialsGrant(app.config, { audience: THINGS })
  expect((await read(token)).claims).toMatchObject({ sub: 'dev-app', azp: 'dev-app' })
})

test('tamperAccessToken changes JWTs, signed again or not, and leaves opaque tokens alone', async () => {
  const undo = provider.tamperAccessToken((claims, header) => {
    claims['aud'] = [THINGS, 'https://other.example.test/']
    delete claims['client_id']
    header.typ = 'JWT'
    return undefined
  })
  const { claims, header } = await read((await app.logIn(REQUEST)).access_token)
  expect(header.typ).toBe('JWT')
  expect(claims.aud).toEqual([THINGS, 'https://other.example.test/'])
  expect(claims).not.toHaveProperty('client_id')
  expect((await app.logIn()).access_token).not.toContain('.')
  undo()
  provider.tamperAccessToken(() => ({ keepSignature: true }), { times: 1 })
  const forged = (await app.logIn({ ...REQUEST, scope: 'openid' })).access_token
  expect((await read((await app.logIn(REQUEST)).access_token)).header.typ).toBe('at+jwt')
  expect(forged.split('.')).toHaveLength(3)
})

test('introspectionOf: an API may introspect the tokens of other clients only with any', async () => {
  const { clientId, clientSecret } = await provider.addClient({})
  const api = await relyingParty(provider, {
    clientId,
    auth: client.ClientSecretPost(clientSecret ?? ''),
  })
  const { access_token: token } = await app.logIn()
  expect(await client.tokenIntrospection(api.config, token)).toEqual({ active: false })
  provider.settings.introspectionOf = 'any'
  expect(await client.tokenIntrospection(api.config, token)).toMatchObject({ active: true, sub: 'dev|alice' })
})

test('a refresh token is active at introspection, with nothing that an access token has', async () => {
  const { refresh_token: token = '' } = await app.logIn({ audience: THINGS })
  const found = await client.tokenIntrospection(app.config, token)
  expect(found).toMatchObject({ active: true })
  expect(found).not.toHaveProperty('token_type')
})

test('an API with opaque tokens learns by introspection what they are good for', async () => {
  const audience = 'https://opaque.example.test/'
  provider.addApi({ audience, scopes: ['read:things'], tokenFormat: 'opaque' })
  const tokens = await app.logIn({ audience, scope: 'openid offline_access read:things' })
  expect(tokens.access_token).not.toContain('.')
  const described = await client.tokenIntrospection(app.config, tokens.access_token)
  expect(described).toMatchObject({
    active: true,
    aud: audience,
    client_id: 'dev-app',
    iss: provider.issuer,
    sub: 'dev|alice',
    token_type: 'Bearer',
  })
  expect(described.scope?.split(' ')).toContain('read:things')
  // Active, too: an API has to tell it from an access token.
  expect(await client.tokenIntrospection(app.config, tokens.refresh_token ?? '')).toMatchObject({
    active: true,
  })
  await client.tokenRevocation(app.config, tokens.access_token)
  expect(await client.tokenIntrospection(app.config, tokens.access_token)).toEqual({ active: false })
})

test('signAccessToken: header, claims and key of other kinds of tokens', async () => {
  const aud = [THINGS, 'https://other.example.test/']
  const { claims, header } = await read(
    await provider.signAccessToken(
      { sub: 'dev|alice', aud, typ: 'Refresh', client_id: undefined },
      { header: { typ: undefined } },
    ),
  )
  expect(header).not.toHaveProperty('typ')
  expect(claims).toMatchObject({ aud, typ: 'Refresh', iss: provider.issuer })
  expect(claims).not.toHaveProperty('client_id')

  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const named = { jku: 'https://other.example.test/jwks.json', x5c: ['MIIB'] }
  const foreign = await provider.signAccessToken({ aud: THINGS }, { key: privateKey, header: named })
  expect((await jwtVerify(foreign, publicKey)).protectedHeader).toEqual({
    alg: 'RS256',
    typ: 'at+jwt',
    ...named,
  })
})

test('an ID token with the API in its audience', async () => {
  provider.tamperIdToken((claims) => {
    claims.aud = [provider.clientId, THINGS]
    claims['azp'] = provider.clientId
    return undefined
  })
  const { id_token: idToken = '' } = await app.logIn(REQUEST)
  expect((await read(idToken)).claims).toMatchObject({ sub: 'dev|alice', aud: ['dev-app', THINGS] })
  expect(await client.tokenIntrospection(app.config, idToken)).toEqual({ active: false })
})
