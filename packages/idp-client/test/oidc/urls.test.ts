import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { vendorValues } from '../../src/config/vendor.ts'
import { authorizationUrl, newCodeVerifier } from '../../src/oidc/authorize.ts'
import { endSessionUrl, v2LogoutUrl } from '../../src/oidc/end-session.ts'
import { configOf, providerOf, REDIRECT_URI, rejection } from './client.ts'
import { CLIENT_ID, LocalProvider, signingKey } from './local-provider.ts'

let op: LocalProvider

beforeAll(async () => {
  op = await new LocalProvider(await signingKey('k1', 'ES256')).start()
})
afterAll(() => op.stop())
afterEach(() => {
  op.metadata = {}
})

describe('the authorization URL', () => {
  const request = (parameters: Record<string, string> = {}, redirectUri = REDIRECT_URI) => ({
    parameters: new Map(Object.entries(parameters)),
    redirectUri,
    state: 'the-state',
    nonce: 'the-nonce',
    codeVerifier: 'verifier-verifier-verifier-verifier-verifier-1',
  })
  const owned = {
    client_id: CLIENT_ID,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    code_challenge: createHash('sha256')
      .update('verifier-verifier-verifier-verifier-verifier-1')
      .digest('base64url'),
    code_challenge_method: 'S256',
    state: 'the-state',
    nonce: 'the-nonce',
  }
  const build = async (...input: Parameters<typeof request>) =>
    authorizationUrl(providerOf(op.issuer), request(...input))
  /** Repeated parameters would be lost in an object, so their number is compared too. */
  const queryOf = (url: URL) => {
    const query = Object.fromEntries(url.searchParams)
    expect([...url.searchParams.keys()]).toHaveLength(Object.keys(query).length)
    return query
  }

  test('[S035] [S096] [S098] [S100] [S102] [S103] has the configured parameters and those of the protocol', async () => {
    const given = {
      scope: 'openid profile email offline_access',
      audience: 'https://api.example',
      max_age: '0',
      organization: 'org_1',
      'ext-x': 'a b&c=d',
    }
    const url = await build(given)
    expect(url.href.split('?')[0]).toBe(`${op.issuer}/authorize`)
    expect(queryOf(url)).toEqual({ ...given, ...owned })
  })

  test('no parameter of the protocol can be replaced or repeated', async () => {
    const names = [...Object.keys(owned), 'client_secret', 'client_assertion', 'client_assertion_type']
    const hostile = Object.fromEntries(names.map((name) => [name, 'evil']))
    expect(queryOf(await build({ ...hostile, scope: 'openid' }))).toEqual({ ...owned, scope: 'openid' })
  })

  test("2.4 keeps the endpoint's own query, except parameters of the protocol", async () => {
    op.metadata = {
      authorization_endpoint: `${op.issuer}/authorize?p=policy_1&scope=theirs&state=theirs&scope=again`,
    }
    expect(queryOf(await build({ scope: 'openid' }))).toEqual({ ...owned, p: 'policy_1', scope: 'openid' })
  })

  test('an endpoint may end with the character that begins a fragment', async () => {
    op.metadata = { authorization_endpoint: `${op.issuer}/authorize?p=policy_1#` }
    const url = await build({ scope: 'openid' })
    expect(queryOf(url)).toEqual({ ...owned, p: 'policy_1', scope: 'openid' })
    expect(url.hash).toBe('')
  })

  test('[S099] has the redirect URI unchanged', async () => {
    for (const redirectUri of [
      'https://app.example/cb?x=a%20b+c&y',
      'https://app.example',
      'https://app.example/%7Ecaf%C3%A9',
    ]) {
      expect((await build({}, redirectUri)).searchParams.get('redirect_uri')).toBe(redirectUri)
    }
  })

  test('uses PKCE with S256 for any metadata', async () => {
    for (const methods of [undefined, ['plain'], []]) {
      op.metadata = { code_challenge_methods_supported: methods }
      expect((await build()).searchParams.get('code_challenge_method')).toBe('S256')
    }
  })

  test('has a new verifier of the allowed form each time', () => {
    const verifiers = new Set(Array.from({ length: 100 }, newCodeVerifier))
    expect(verifiers.size).toBe(100)
    for (const verifier of verifiers) expect(verifier).toMatch(/^[A-Za-z0-9._~-]{43,128}$/)
  })

  test('a provider that requires pushed requests is a configuration error that names the option', async () => {
    op.metadata = { require_pushed_authorization_requests: true }
    expect(await rejection(build())).toMatchObject({
      code: 'INVALID_CONFIGURATION',
      message: expect.stringContaining('pushedAuthorizationRequests'),
    })
  })

  test.each([undefined, 'http://op.example/authorize', 'javascript:alert(1)', 7])(
    '[S058] the authorization endpoint %s is a typed error',
    async (address) => {
      const document = { ...op.document(), issuer: 'https://op.example', authorization_endpoint: address }
      const fetch = async (): Promise<Response> => new Response(JSON.stringify(document))
      const provider = providerOf('https://op.example', { allowInsecureRequests: false, fetch })
      expect(await rejection(authorizationUrl(provider, request()))).toMatchObject({
        code: 'DISCOVERY_ERROR',
        message: expect.stringContaining('authorization_endpoint'),
      })
    },
  )

  test('[S059] with allowInsecureRequests an http endpoint is used', async () => {
    expect((await build()).protocol).toBe('http:')
  })
})

describe('the end-session URL', () => {
  const returnTo = 'https://app.example/bye?a=b c&d=%20'
  const queryOf = (url: URL | null) => (url ? [...url.searchParams] : null)

  test('has all parameters', async () => {
    const url = await endSessionUrl(providerOf(op.issuer), {
      returnTo,
      idTokenHint: 'a.b.c',
      logoutHint: 'sid-1',
      state: 'x&y',
      federated: true,
    })
    expect(url?.href.split('?')[0]).toBe(`${op.issuer}/logout`)
    expect(queryOf(url)).toEqual([
      ['client_id', CLIENT_ID],
      ['post_logout_redirect_uri', returnTo],
      ['state', 'x&y'],
      ['logout_hint', 'sid-1'],
      ['id_token_hint', 'a.b.c'],
      ['federated', ''],
    ])
  })

  test('has only client and redirect URI without session or hint', async () => {
    const url = await endSessionUrl(providerOf(op.issuer), { returnTo, federated: false })
    expect(queryOf(url)).toEqual([
      ['client_id', CLIENT_ID],
      ['post_logout_redirect_uri', returnTo],
    ])
  })

  test("keeps the endpoint's own query", async () => {
    op.metadata = { end_session_endpoint: `${op.issuer}/logout?p=1&client_id=theirs` }
    const url = await endSessionUrl(providerOf(op.issuer), { returnTo, federated: false })
    expect(queryOf(url)).toEqual([
      ['p', '1'],
      ['client_id', CLIENT_ID],
      ['post_logout_redirect_uri', returnTo],
    ])
  })

  test.each([undefined, null, 'javascript:alert(1)', 'ftp://op.example/x', '/relative', 7])(
    'is missing for the advertised endpoint %s',
    async (address) => {
      op.metadata = { end_session_endpoint: address }
      expect(await endSessionUrl(providerOf(op.issuer), { returnTo, federated: false })).toBeNull()
    },
  )

  test('v2: starts at the root of the origin, without discovery', () => {
    const config = configOf('https://op.example:8443/tenant/a', { clientId: 'c 1' })
    expect(v2LogoutUrl(config, { returnTo, federated: false }).href).toBe(
      'https://op.example:8443/v2/logout?returnTo=https%3A%2F%2Fapp.example%2Fbye%3Fa%3Db+c%26d%3D%2520&client_id=c+1',
    )
    expect(v2LogoutUrl(config, { returnTo: 'https://app.example', federated: true }).search).toBe(
      '?returnTo=https%3A%2F%2Fapp.example&client_id=c+1&federated=',
    )
  })

  test('the option vendor replaces single wire values', () => {
    const vendor = { ...vendorValues, logoutPath: '/signout', logoutReturnToParameter: 'next' }
    const config = configOf('https://op.example', { vendor })
    expect(v2LogoutUrl(config, { returnTo: 'x', federated: true }).href).toBe(
      `https://op.example/signout?next=x&client_id=${CLIENT_ID}&federated=`,
    )
  })
})
