import { decodeJwt } from 'jose'
import * as client from 'openid-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DevProvider } from '../src/index.ts'
import { startDevProvider } from '../src/index.ts'
import type { RelyingParty } from './relying-party.ts'
import { oauthError, relyingParty } from './relying-party.ts'

const THINGS = 'https://api.example.test/'
const GLOBEX = { org_id: 'org_globex', org_name: 'globex' }

let provider: DevProvider
let app: RelyingParty
beforeAll(async () => {
  provider = await startDevProvider()
  app = await relyingParty(provider)
})
afterAll(() => provider.stop())

/** The parameters with which the browser comes back. */
async function authorizationResponse(
  parameters: Record<string, string>,
  options: Parameters<DevProvider['login']>[1],
): Promise<Record<string, string>> {
  const { url } = await app.authorize(parameters)
  const { location } = await provider.login(url.href, options)
  return Object.fromEntries(new URL(location ?? '').searchParams)
}

test.each(['org_globex', 'globex', 'Globex'])(
  '%s is in both tokens, also after a refresh',
  async (organization) => {
    const tokens = await app.logIn({ organization, audience: THINGS }, { user: 'bob' })
    const refreshed = await app.refresh(tokens)
    for (const { access_token, id_token } of [tokens, refreshed]) {
      expect(decodeJwt(access_token)).toMatchObject(GLOBEX)
      expect(decodeJwt(id_token ?? '')).toMatchObject(GLOBEX)
    }
  },
)

test('without the parameter no token contains one', async () => {
  const tokens = await app.logIn({ audience: THINGS }, { user: 'bob' })
  for (const token of [tokens.access_token, tokens.id_token ?? '']) {
    expect(decodeJwt(token)).not.toHaveProperty('org_id')
    expect(decodeJwt(token)).not.toHaveProperty('org_name')
  }
})

test.each(['globex', 'org_globex', 'ORG_ACME', 'unknown'])(
  '%s rejects users who are not members',
  async (organization) => {
    expect(await authorizationResponse({ organization, state: 's1' }, { user: 'alice' })).toMatchObject({
      error: 'access_denied',
      state: 's1',
      iss: provider.issuer,
    })
  },
)

test('a session at the provider does not bypass it, and another user can still sign in', async () => {
  const jar = provider.createJar()
  await app.logIn({}, { jar, user: 'alice' })
  expect(await authorizationResponse({ organization: 'globex' }, { jar })).toMatchObject({
    error: 'access_denied',
  })
  expect(await authorizationResponse({ organization: 'globex', prompt: 'none' }, { jar })).toMatchObject({
    error: 'access_denied',
  })
  const bob = await app.logIn({ organization: 'globex', prompt: 'login' }, { jar, user: 'bob' })
  expect(bob.claims()).toMatchObject({ sub: 'dev|bob', ...GLOBEX })
  const acme = await app.logIn({ organization: 'acme', prompt: 'none' }, { jar })
  expect(acme.claims()).toMatchObject({ sub: 'dev|bob', org_id: 'org_acme' })
})

test('a user who is added may be a member of any', async () => {
  const organizations = [{ id: 'org_1', name: 'initech' }]
  await provider.addUser({ name: 'peter', organizations })
  const tokens = await app.logIn({ organization: 'initech' }, { user: 'peter' })
  expect(tokens.claims()).toMatchObject({ org_id: 'org_1', org_name: 'initech' })
  const page = await provider.visit(`${provider.issuer}/dev`)
  expect(page.kind === 'page' && page.html).toContain('>initech (org_1)<')
})

test('also applies to a token exchange and a backchannel login', async () => {
  const bob = await app.logIn({}, { user: 'bob' })
  const exchange = (organization: string): Promise<client.TokenEndpointResponse> =>
    app.grant('urn:ietf:params:oauth:grant-type:token-exchange', {
      subject_token: bob.access_token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      audience: THINGS,
      organization,
    })
  expect(decodeJwt((await exchange('globex')).access_token)).toMatchObject(GLOBEX)
  expect(await oauthError(exchange('unknown'))).toBe('invalid_grant')

  const start = (organization: string): Promise<client.BackchannelAuthenticationResponse> =>
    client.initiateBackchannelAuthentication(app.config, { scope: 'openid', login_hint: 'bob', organization })
  provider.settings.cibaAutoApprove = true
  try {
    const tokens = await client.pollBackchannelAuthenticationGrant(app.config, await start('globex'))
    expect(tokens.claims()).toMatchObject(GLOBEX)
    expect(await oauthError(start('unknown'))).toBe('access_denied')
  } finally {
    provider.settings.cibaAutoApprove = false
  }
})
