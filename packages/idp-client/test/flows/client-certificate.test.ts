import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, unwatchFile, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { ClientCertificate } from 'idp-dev-provider'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { customFetch } from '../../src/config/options.ts'
import type { IdpClient, IdpClientOptions } from '../../src/index.ts'
import { startApi } from '../support/api-server.ts'
import type { Browser } from '../support/app.ts'
import { APP } from '../support/app.ts'
import type { CertificateWorld } from '../support/mutual-tls.ts'
import { AUDIENCE, startCertificateWorld } from '../support/mutual-tls.ts'
import { fromPage } from '../support/proxied.ts'
import { PATIENT } from '../support/timeouts.ts'

let world: CertificateWorld
let certificate: ClientCertificate

beforeAll(async () => {
  world = await startCertificateWorld()
  certificate = await world.issue()
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  world.presented.current = certificate
  world.provider.settings.certificateBinding = 'right'
  world.provider.faults.clear()
  world.provider.clearRequests()
  world.called.length = 0
  world.events.length = 0
})

interface Signed {
  readonly client: IdpClient
  readonly browser: Browser
}

async function signIn(options: IdpClientOptions = {}): Promise<Signed> {
  const signed = world.another({ ...world.bank, ...options })
  const done = await world.login(signed.browser)
  expect(done.headers.get('location')).toBe(`${APP}/`)
  return signed
}

const thumbprintOf = (token: string): unknown => decodeJwt(token)['cnf']

async function tokenOf({ browser }: Signed): Promise<string> {
  return (await browser.session()).tokenSet.accessToken
}

async function callApi({ browser, client }: Signed, init: RequestInit = {}): Promise<Response> {
  const { fetchWithAuth } = await client.createFetcher({}, browser.request('/'))
  return fetchWithAuth(world.mtls.api, init)
}

describe('a client with a certificate (RFC 8705)', () => {
  test('logs in, refreshes, and reads UserInfo at the aliases, and sends its id alone', async () => {
    const signed = await signIn({ fetchUserInfo: true, pushedAuthorizationRequests: true })
    expect(thumbprintOf(await tokenOf(signed))).toEqual({ 'x5t#S256': certificate.thumbprint })
    await signed.client.getAccessToken({ refresh: true }, signed.browser.request('/'))
    const { requests } = world.provider
    const sent = [...requests('par'), ...requests('token')]
    expect(sent.map(({ status }) => status)).toEqual([201, 200, 200])
    for (const { body, headers } of sent) {
      expect(body).toMatchObject({ client_id: 'bank-app' })
      expect(Object.keys(body).filter((name) => /secret|assertion/.test(name))).toEqual([])
      expect(headers).not.toHaveProperty('authorization')
    }
    const { origin } = world.mtls
    for (const path of ['/oauth/par', '/oauth/token', '/userinfo'])
      expect(world.called).toContain(origin + path)
    expect(world.called).toContain(`${world.provider.issuer}/.well-known/jwks.json`)
  })

  test('revokes a refresh token, and authenticates a backchannel request', async () => {
    Object.assign(world.provider.settings, { cibaAutoApprove: true, cibaInterval: 0.01 })
    const { browser, client } = await signIn()
    await client.revokeRefreshToken(browser.request('/'), new Headers())
    const { tokenSet } = await client.getTokenByBackchannelAuth({
      loginHint: { sub: world.provider.users()[0]?.sub ?? '' },
      bindingMessage: 'one',
    })
    expect(thumbprintOf(tokenSet.accessToken)).toEqual({ 'x5t#S256': certificate.thumbprint })
    const { origin } = world.mtls
    expect(world.called).toEqual(expect.arrayContaining([`${origin}/oauth/revoke`, `${origin}/bc-authorize`]))
  })

  test('introspects a token at the alias', async () => {
    const { client } = world.another(world.bank)
    const accept = [client.resource({ audience: AUDIENCE, introspection: true })]
    const headers = { authorization: 'Bearer opaque' }
    const { response } = await client.requireAuth(new Request(`${APP}/api`, { headers }), { accept })
    expect(response?.status).toBe(401)
    const [sent, ...others] = world.provider.requests('introspection')
    expect(others).toEqual([])
    // The provider knows the client: it responds that the token is not active.
    expect(sent?.status).toBe(200)
    expect(sent?.body).toEqual({ client_id: 'bank-app', token: 'opaque', token_type_hint: 'access_token' })
    expect(world.called).toContain(`${world.mtls.origin}/oauth/introspect`)
  })

  test('may be known by a certificate that no authority has issued', async () => {
    const own = await world.issue({ selfSigned: true })
    world.presented.current = own
    await world.provider.addClient({
      clientId: 'self-signed',
      tokenEndpointAuthMethod: 'self_signed_tls_client_auth',
      certificates: [own.cert],
      requireCertificateBinding: true,
      apps: [APP],
    })
    const signed = await signIn({ clientId: 'self-signed' })
    expect(thumbprintOf(await tokenOf(signed))).toEqual({ 'x5t#S256': own.thumbprint })
  })

  test('may authenticate by a key, and present the certificate for its tokens only', async () => {
    const { clientId, privateKey } = await world.provider.addClient({
      tokenEndpointAuthMethod: 'private_key_jwt',
      requireCertificateBinding: true,
      apps: [APP],
    })
    const assertion = { clientCertificate: false, clientAssertionSigningKey: privateKey ?? '' }
    expect((await callApi(await signIn({ clientId, ...assertion }))).status).toBe(200)
  })

  test('uses the endpoints themselves at a provider without aliases', async () => {
    // The endpoints of this listener ask for no certificate, so that the provider refuses the client.
    world.provider.rewrite('discovery', ({ mtls_endpoint_aliases: _, ...json }) => json)
    const { browser } = world.another({ ...world.bank, ...ownDocuments() })
    expect((await world.login(browser)).status).toBe(502)
    expect(world.called).toContain(`${world.provider.issuer}/oauth/token`)
    expect(world.called.filter((url) => url.startsWith(world.mtls.origin))).toEqual([])
  })

  test('uses an endpoint itself that has no alias, beside others that have one', async () => {
    world.provider.rewrite('discovery', (json) => {
      const { userinfo_endpoint: _, ...aliases } = Object(json['mtls_endpoint_aliases'])
      return { ...json, mtls_endpoint_aliases: { ...aliases, revocation_endpoint: null } }
    })
    const { browser, client } = await signIn(ownDocuments())
    world.called.length = 0
    await client.getUserInfo(browser.request('/')).catch(() => {})
    await client.revokeRefreshToken(browser.request('/'), new Headers()).catch(() => {})
    const called = new Set(world.called.filter((url) => /userinfo|revoke/.test(url)))
    const { issuer } = world.provider
    expect([...called]).toEqual([`${issuer}/userinfo`, `${issuer}/oauth/revoke`])
  })

  test('uses endpoints that are aliases only', async () => {
    Object.assign(world.provider.settings, { cibaAutoApprove: true, cibaInterval: 0.01 })
    const called = [
      'pushed_authorization_request_endpoint',
      'revocation_endpoint',
      'backchannel_authentication_endpoint',
      'token_endpoint',
      'userinfo_endpoint',
    ]
    world.provider.rewrite('discovery', (json) =>
      Object.fromEntries(Object.entries(json).filter(([name]) => !called.includes(name))),
    )
    const { browser, client } = await signIn({ ...ownDocuments(), pushedAuthorizationRequests: true })
    await client.getUserInfo(browser.request('/'))
    await client.revokeRefreshToken(browser.request('/'), new Headers())
    const user = { sub: world.provider.users()[0]?.sub ?? '' }
    await client.getTokenByBackchannelAuth({ loginHint: user, bindingMessage: 'one' })
    expect(world.provider.requests('par')).toHaveLength(1)
    expect(world.provider.requests('revocation')).toHaveLength(1)
  })

  test.each<[string, unknown, string]>([
    [
      'an alias that is no https URL',
      { token_endpoint: 'ftp://127.0.0.1/token' },
      'mtls_endpoint_aliases.token_endpoint is not https.',
    ],
    ['aliases that are no object', ['x'], 'mtls_endpoint_aliases is not a JSON object.'],
  ])('refuses %s', async (_, aliases, detail) => {
    world.provider.rewrite('discovery', (json) => ({ ...json, mtls_endpoint_aliases: aliases }))
    const { browser } = world.another({ ...world.bank, ...ownDocuments() })
    await world.login(browser)
    expect(world.events).toContainEqual(
      expect.objectContaining({
        code: 'LOGIN_FAILED',
        remedy: 'ENDPOINT_MISSING',
        detail: expect.stringContaining(detail),
      }),
    )
  })
})

/** A `fetch` of its own: clients with the same one share the documents of the provider. */
function ownDocuments(): IdpClientOptions {
  return { [customFetch]: (...given) => world.present(...given) }
}

describe('what is wrong about a certificate is the reason in the log:', () => {
  const invalidClient = { remedy: 'CLIENT_CERTIFICATE_REFUSED', providerError: 'invalid_client' }

  test.each<[string, () => Promise<ClientCertificate | undefined>]>([
    ['there is none', async () => undefined],
    ['of another subject', () => world.issue({ subject: 'CN=another' })],
    ['of no authority', () => world.issue({ selfSigned: true })],
    ['expired', () => world.issue({ days: -1 })],
  ])('%s', async (_, issue) => {
    world.presented.current = await issue()
    const { browser } = world.another(world.bank)
    const done = await world.login(browser)
    expect(done.status).toBe(502)
    expect(browser.names('__session')).toEqual([])
    expect(world.events).toContainEqual(expect.objectContaining({ code: 'LOGIN_FAILED', ...invalidClient }))
  })

  test.each<[string, () => void]>([
    [
      'a token that is not bound',
      () => {
        world.provider.settings.certificateBinding = 'none'
      },
    ],
    [
      'a token that is bound by DPoP',
      () => void world.provider.rewrite('token', (json) => ({ ...json, token_type: 'DPoP' })),
    ],
  ])('%s is refused, at a login and at a refresh', async (_, breakIt) => {
    const signed = await signIn()
    const before = await tokenOf(signed)
    breakIt()
    const { browser, client } = signed
    await expect(client.getAccessToken({ refresh: true }, browser.request('/'))).rejects.toMatchObject({
      code: 'FAILED_TO_REFRESH_TOKEN',
      cause: { code: 'RESPONSE_INVALID', remedy: 'TOKEN_NOT_BOUND' },
    })
    expect(await tokenOf(signed)).toBe(before)
    const other = world.another(world.bank)
    expect((await world.login(other.browser)).status).toBe(502)
    expect(await other.client.getSession(other.browser.request('/'))).toBeNull()
    expect(world.events).toContainEqual(
      expect.objectContaining({
        code: 'LOGIN_FAILED',
        remedy: 'TOKEN_NOT_BOUND',
        detail: expect.stringContaining('although certificateBoundAccessTokens is on.'),
      }),
    )
  })

  test('an opaque token says nothing, so that it is used', async () => {
    world.provider.addApi({ audience: 'https://opaque.example.test/', scopes: [], tokenFormat: 'opaque' })
    world.provider.settings.certificateBinding = 'none'
    const authorizationParameters = { audience: 'https://opaque.example.test/' }
    expect(await tokenOf(await signIn({ authorizationParameters }))).not.toContain('.')
  })
})

describe('the API of a bound token', () => {
  test('gets the certificate by a fetcher, and not for a token that is not bound', async () => {
    const signed = await signIn()
    expect(await (await callApi(signed)).json()).toMatchObject({ method: 'GET' })
    expect(world.called).toContain(world.mtls.api)
    const { browser, client } = signed
    const token = await tokenOf(signed)
    const own = async (accessToken: string): Promise<string[]> => {
      world.called.length = 0
      const options = { getAccessToken: () => accessToken }
      const { fetchWithAuth } = await client.createFetcher(options, browser.request('/'))
      await fetchWithAuth(world.mtls.api).catch(() => undefined)
      return world.called
    }
    expect(await own(token)).toEqual([world.mtls.api])
    expect(await own('opaque')).toEqual([])
    expect(await own(await world.provider.signAccessToken({ aud: AUDIENCE }))).toEqual([])
  })

  test('gets a bound token in place of one from before the option was set, also if it demands the certificate', async () => {
    world.provider.settings.certificateBinding = 'none'
    const before = await Promise.all([1, 2].map(() => signIn({ certificateBoundAccessTokens: false })))
    world.provider.settings.certificateBinding = 'right'
    // Without the certificate the handshake fails.
    vi.stubGlobal('fetch', async () => Promise.reject(new TypeError('fetch failed')))
    onTestFinished(() => void vi.unstubAllGlobals())
    const { client } = world.another({ ...world.bank, enableAccessTokenEndpoint: false })
    client.proxy({ prefix: '/api/earlier', target: world.mtls.api })
    const [byFetcher, byProxy] = before.map(({ browser }) => browser) as [Browser, Browser]
    expect((await callApi({ browser: byFetcher, client })).status).toBe(200)
    expect((await client.middleware(fromPage(byProxy, '/api/earlier'))).status).toBe(200)
    expect(world.refreshes()).toHaveLength(2)
  })

  test('gets a Request as it is', async () => {
    const request = new Request(world.mtls.api, { method: 'PUT', body: 'the body' })
    const { browser, client } = await signIn()
    const { fetchWithAuth } = await client.createFetcher({}, browser.request('/'))
    expect(await (await fetchWithAuth(request)).json()).toMatchObject({ method: 'PUT', body: 'the body' })
  })

  test('gets a form as it is, also after a rotation, with its type or that of the caller', async () => {
    const types: (string | null)[] = []
    const present: typeof fetch = (url, init) => {
      if (url === world.mtls.api) types.push(new Headers(init?.headers).get('content-type'))
      return world.present(url, init)
    }
    const signed = await signIn({ [customFetch]: present })
    world.presented.current = await world.issue()
    const form = new FormData()
    form.append('title', 'a report')
    form.append('file', new Blob(['the content']), 'a.txt')
    for (const headers of [{}, { 'content-type': 'multipart/own' }]) {
      const { body } = await (await callApi(signed, { method: 'POST', body: form, headers })).json()
      expect(body).toMatch(/name="title"\r\n\r\na report\r\n.*name="file"; filename="a.txt".*the content/s)
    }
    expect(world.refreshes()).toHaveLength(1)
    const multipart = expect.stringMatching(/^multipart\/form-data; ?boundary=/)
    expect(types).toEqual([multipart, multipart, 'multipart/own'])
  })

  test('gets the certificate by a proxy', async () => {
    const { browser, client } = await signIn({ enableAccessTokenEndpoint: false })
    client.proxy({ prefix: '/api/accounts', target: world.mtls.api })
    const response = await client.middleware(fromPage(browser, '/api/accounts'))
    expect(response.status).toBe(200)
  })

  test('is asked again with a refreshed token once, after a rotation', async () => {
    const signed = await signIn({ enableAccessTokenEndpoint: false })
    const next = await world.issue()
    world.presented.current = next
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => callApi(signed, { method: 'POST', body: 'the body' })),
    )
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(await responses[0]?.json()).toMatchObject({ body: 'the body' })
    expect(world.refreshes()).toHaveLength(1)
    const third = await world.issue()
    world.presented.current = third
    signed.client.proxy({ prefix: '/api/rotated', target: world.mtls.api })
    const login = await signIn({ enableAccessTokenEndpoint: false })
    world.presented.current = next
    login.client.proxy({ prefix: '/api/rotated', target: world.mtls.api })
    const response = await login.client.middleware(fromPage(login.browser, '/api/rotated'))
    expect(response.status).toBe(200)
    expect(world.refreshes()).toHaveLength(2)
  })

  test('responds to the caller if its token is bound to an unknown certificate', async () => {
    world.provider.settings.certificateBinding = 'other'
    const signed = await signIn()
    for (let call = 0; call < 3; call++) expect((await callApi(signed)).status).toBe(401)
    expect(world.refreshes()).toHaveLength(1)
  })

  test('responds to the caller if the body cannot be sent again, without a refresh', async () => {
    const signed = await signIn()
    world.presented.current = await world.issue()
    const body = new Blob(['once']).stream()
    const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' }
    expect((await callApi(signed, init)).status).toBe(401)
    expect(world.refreshes()).toHaveLength(0)
  })

  test.each([
    ['a fetcher', true],
    ['a proxy', false],
  ])(
    'gets no certificate by %s for a token that is not bound and cannot be replaced',
    async (_, byFetcher) => {
      const api = await startApi(() => ({ status: 401 }))
      try {
        world.provider.settings.certificateBinding = 'none'
        const { browser } = await signIn({ certificateBoundAccessTokens: false })
        const { client } = world.another({ ...world.bank, enableAccessTokenEndpoint: false })
        client.proxy({ prefix: '/api/accounts', target: api.origin })
        const { fetchWithAuth } = await client.createFetcher({}, browser.request('/'))
        const response = byFetcher
          ? await fetchWithAuth(api.origin)
          : await client.middleware(fromPage(browser, '/api/accounts'))
        expect(response.status).toBe(401)
        expect(world.refreshes()).toHaveLength(1)
        expect(api.requests).toHaveLength(1)
        expect(world.called.filter((url) => url.startsWith(api.origin))).toEqual([])
      } finally {
        await api.stop()
      }
    },
  )

  test('gets a new token at the UserInfo endpoint once, after a rotation', async () => {
    const { browser, client } = await signIn()
    world.presented.current = await world.issue()
    const { sub } = (await client.getSession(browser.request('/')))?.user ?? {}
    expect(await client.getUserInfo(browser.request('/'))).toMatchObject({ sub })
    expect(world.refreshes()).toHaveLength(1)
    world.presented.current = await world.issue()
    await expect(client.getUserInfo(browser.request('/'))).rejects.toMatchObject({ providerStatus: 401 })
    expect(world.refreshes()).toHaveLength(1)
  })

  test('responds with the refusal of the UserInfo endpoint if there is no new token', async () => {
    const { browser, client } = await signIn()
    world.presented.current = await world.issue()
    world.provider.faults.set('token', { kind: 'respond', status: 503 })
    await expect(client.getUserInfo(browser.request('/'))).rejects.toMatchObject({
      name: 'OAuthError',
      providerStatus: 401,
    })
    expect(world.events).toContainEqual(
      expect.objectContaining({ code: 'PROVIDER_FAILURE', endpoint: 'token', status: 503 }),
    )
  })
})

test('[customFetch] of the guide takes a new certificate from its files', async () => {
  const page = readFileSync(new URL('../../../../docs/guides/certificates.md', import.meta.url), 'utf8')
  const code = /```js\n\/\/ file: lib\/certificate-fetch\.js\n(.*?)```/s.exec(page)?.[1] ?? ''
  const cache = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url))
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'certificate-'))
  const files = { cert: join(folder, 'client.pem'), key: join(folder, 'client.key') }
  const replace = ({ cert, key }: ClientCertificate): void => {
    for (const [file, text] of [
      [files.cert, cert],
      [files.key, key],
    ] as const) {
      writeFileSync(`${file}.new`, text)
      renameSync(`${file}.new`, file)
    }
  }
  try {
    writeFileSync(join(folder, 'certificate-fetch.mjs'), code)
    replace(certificate)
    const { certificateFetch } = await import(pathToFileURL(join(folder, 'certificate-fetch.mjs')).href)
    const present: typeof fetch = certificateFetch({ ...files, ca: world.provider.caPath, interval: 20 })
    const signed = await signIn({ [customFetch]: present })
    const headers = { authorization: `Bearer ${await tokenOf(signed)}` }
    const status = async (): Promise<number> => (await present(world.mtls.api, { headers })).status
    expect(await status()).toBe(200)
    replace(await world.issue())
    await vi.waitUntil(async () => (await status()) === 401, { timeout: PATIENT, interval: 20 })
    expect((await callApi(signed)).status).toBe(200)
    expect(world.refreshes()).toHaveLength(1)
  } finally {
    for (const file of Object.values(files)) unwatchFile(file)
    rmSync(folder, { recursive: true })
  }
})
