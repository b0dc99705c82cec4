import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { IdpClientOptions } from '../../src/index.ts'
import { customFetch, generateDpopKeyPair } from '../../src/index.ts'
import type { ApiHandler, ApiServer } from '../support/api-server.ts'
import { protectedApi, startApi } from '../support/api-server.ts'
import type { Browser } from '../support/app.ts'
import { APP } from '../support/app.ts'
import type { Refusal } from '../support/conformance-modules.ts'
import { fapi2 } from '../support/conformance-modules.ts'
import type { CertificateWorld } from '../support/mutual-tls.ts'
import { AUDIENCE, startCertificateWorld } from '../support/mutual-tls.ts'

let world: CertificateWorld
let api: ApiServer
beforeAll(async () => {
  world = await startCertificateWorld()
  world.provider.settings.autoLogin = 'alice'
  const handlers: Record<string, ApiHandler> = {
    '/nonce': protectedApi(world.provider, { nonces: 'any' }),
    '/no-nonce': protectedApi(world.provider),
    '/dPoP': withScheme('dPoP', protectedApi(world.provider, { nonces: 'any' })),
  }
  api = await startApi((request) => handlers[request.path]?.(request) ?? { status: 404 })
})
afterAll(async () => {
  await api.stop()
  await world.provider.stop()
})
beforeEach(() => {
  world.provider.settings.dpopNonces = true
  world.provider.clearRequests()
  world.events.length = 0
})

const withScheme =
  (scheme: string, handler: ApiHandler): ApiHandler =>
  async (request) => {
    const { headers = {}, ...response } = await handler(request)
    const challenge = headers['www-authenticate']
    if (challenge === undefined) return { ...response, headers }
    return { ...response, headers: { ...headers, 'www-authenticate': challenge.replace(/^DPoP/, scheme) } }
  }

interface Variant {
  readonly title: string
  readonly authentication: 'private_key_jwt' | 'tls_client_auth'
  readonly binding: 'certificate' | 'DPoP'
  readonly isSigned?: boolean
}

const variants: readonly Variant[] = [
  { title: 'FAPI 2.0, private_key_jwt and DPoP', authentication: 'private_key_jwt', binding: 'DPoP' },
  {
    title: 'FAPI 2.0, private_key_jwt and bound to a certificate',
    authentication: 'private_key_jwt',
    binding: 'certificate',
  },
  { title: 'FAPI 2.0, client certificate and DPoP', authentication: 'tls_client_auth', binding: 'DPoP' },
  {
    title: 'FAPI 2.0, client certificate and bound to it',
    authentication: 'tls_client_auth',
    binding: 'certificate',
  },
  {
    title: 'FAPI 2.0 Message Signing, private_key_jwt and DPoP',
    ...{ authentication: 'private_key_jwt', binding: 'DPoP', isSigned: true },
  },
  {
    title: 'FAPI 2.0 Message Signing, client certificate and bound to it',
    ...{ authentication: 'tls_client_auth', binding: 'certificate', isSigned: true },
  },
]

/** The options of a client that the provider allows nothing but the variant; it presents its certificate from now on. */
async function register({ authentication, binding, isSigned = false }: Variant): Promise<IdpClientOptions> {
  const { privateKey: key, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const isBound = binding === 'certificate'
  const { clientId } = await world.provider.addClient({
    tokenEndpointAuthMethod: authentication,
    jwks: { keys: [{ ...(await exportJWK(publicKey)), kid: 'key-1', use: 'sig', alg: 'ES256' }] },
    idTokenSigningAlg: 'PS256',
    requirePar: true,
    requireDpop: !isBound,
    requireCertificateBinding: isBound,
    requireSignedRequests: isSigned,
    apps: [APP],
  })
  world.presented.current = await world.issue({ subject: `CN=${clientId}` })
  return {
    clientId,
    clientSecret: undefined,
    idTokenSignedResponseAlg: 'PS256',
    pushedAuthorizationRequests: true,
    authorizationParameters: { audience: AUDIENCE },
    ...(authentication === 'tls_client_auth'
      ? { clientCertificate: true }
      : { clientAssertionSigningKey: key }),
    ...(isBound
      ? { certificateBoundAccessTokens: true }
      : { useDPoP: true, dpopKeyPair: await generateDpopKeyPair(), dpopOptions: { retry: { delay: 1 } } }),
    ...(isSigned ? { requestObject: { key, keyId: 'key-1' } } : {}),
  }
}

/** The modules of a variant: some are about DPoP. */
const modulesOf = ({ binding }: Variant) =>
  fapi2.modules.filter((module) => binding === 'DPoP' || module.api === undefined)

/** Options of a client that has not loaded the metadata: they are cached for each `fetch`. */
const withoutMetadata = (): IdpClientOptions => ({ [customFetch]: (...given) => world.present(...given) })

/** Logs in as far as the client allows it, and returns its last response. */
async function logIn(browser: Browser): Promise<Response> {
  const begun = await browser.send('/auth/login?returnTo=/accounts')
  const url = begun.headers.get('location')
  return url === null ? begun : browser.send(await world.authorize(url))
}

/** The reason is in the log, and nothing of the response is used: no further request, no session. */
async function expectRefused(browser: Browser, { code, detail = '', last }: Refusal): Promise<void> {
  const { provider, events } = world
  expect(events).toContainEqual(
    expect.objectContaining({ error: code, detail: expect.stringContaining(detail) }),
  )
  expect(browser.names('__session')).toEqual([])
  expect((await browser.send('/auth/profile')).status).toBe(401)
  expect(provider.count('par') > 0).toBe(last !== 'discovery')
  expect(provider.count('token') > 0).toBe(last === undefined)
}

describe.each(variants)('$title', (variant) => {
  let options: IdpClientOptions
  beforeAll(async () => {
    options = await register(variant)
  })

  test.each(modulesOf(variant))('$name: $demand', async ({ api: path = 'nonce', behave, refused }) => {
    const { browser, client } = world.another(
      refused?.last === 'discovery' ? { ...options, ...withoutMetadata() } : options,
    )
    const stop = behave?.(world.provider)
    const response = await logIn(browser)
    stop?.()
    if (refused) {
      expect(response.status).toBeGreaterThanOrEqual(400)
      return expectRefused(browser, refused)
    }
    expect(response.headers.get('location')).toBe(`${APP}/accounts`)
    const { fetchWithAuth } = await client.createFetcher(browser.request('/'), {})
    const url = variant.binding === 'DPoP' ? `${api.origin}/${path}` : world.mtls.api
    expect((await fetchWithAuth(url)).status).toBe(200)
  })

  test('requests are those that the profile demands', async () => {
    const { provider } = world
    const { browser } = world.another(options)
    await logIn(browser)
    const [authorization] = provider.requests('authorize')
    expect(Object.keys(authorization?.query ?? {}).sort()).toEqual(['client_id', 'request_uri'])
    const sent = [...provider.requests('par'), ...provider.requests('token')]
    const isKey = variant.authentication === 'private_key_jwt'
    const isDpop = variant.binding === 'DPoP'
    expect(sent.map(({ status }) => status)).toEqual([...(isDpop ? [400] : []), 201, 200])
    for (const { body, headers } of sent) {
      const { client_assertion: assertion } = body
      expect(assertion && decodeJwt(assertion).aud).toBe(isKey ? provider.issuer : undefined)
      const { dpop } = headers
      expect(dpop && decodeProtectedHeader(dpop).typ).toBe(isDpop ? 'dpop+jwt' : undefined)
    }
    const { request, ...plain } = provider.requests('par').at(-1)?.body ?? {}
    const { isSigned = false } = variant
    const parameters = isSigned ? decodeJwt(request ?? '') : plain
    expect(parameters).toMatchObject({ response_type: 'code', code_challenge_method: 'S256' })
    expect('response_type' in plain).toBe(!isSigned)
    expect(String(parameters['nonce']).length).toBeLessThanOrEqual(64)
  })
})
