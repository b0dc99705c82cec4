import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { IdpClientOptions } from '../../src/index.ts'
import { customFetch, generateDpopKeyPair } from '../../src/index.ts'
import type { ApiHandler, ApiServer } from '../support/api-server.ts'
import { AUDIENCE, protectedApi, startApi } from '../support/api-server.ts'
import type { Browser, World } from '../support/app.ts'
import { APP, startWorld } from '../support/app.ts'
import type { Refusal } from '../support/conformance-modules.ts'
import { fapi2 } from '../support/conformance-modules.ts'

let world: World
let api: ApiServer
beforeAll(async () => {
  world = await startWorld({}, { autoLogin: 'alice' })
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

/** How a client authenticates, what its tokens are bound to, and whether it signs its requests. */
interface Variant {
  readonly title: string
  readonly isSigned: boolean
}

const variants: readonly Variant[] = [
  { title: 'FAPI 2.0 Security Profile, private_key_jwt and DPoP', isSigned: false },
  { title: 'FAPI 2.0 Message Signing, private_key_jwt and DPoP', isSigned: true },
]

/** The options of a client that the provider allows nothing but the variant. */
async function register({ isSigned }: Variant): Promise<IdpClientOptions> {
  const { clientId, privateKey = '' } = await world.provider.addClient({
    tokenEndpointAuthMethod: 'private_key_jwt',
    idTokenSigningAlg: 'PS256',
    requirePar: true,
    requireDpop: true,
    requireSignedRequests: isSigned,
    apps: [APP],
  })
  return {
    clientId,
    clientSecret: undefined,
    clientAssertionSigningKey: privateKey,
    idTokenSignedResponseAlg: 'PS256',
    pushedAuthorizationRequests: true,
    useDPoP: true,
    dpopKeyPair: await generateDpopKeyPair(),
    dpopOptions: { retry: { delay: 1 } },
    authorizationParameters: { audience: AUDIENCE },
    ...(isSigned ? { requestObject: { key: privateKey } } : {}),
  }
}

/** Options of a client that has not loaded the metadata: they are cached for each `fetch`. */
const withoutMetadata = (): IdpClientOptions => ({ [customFetch]: (...given) => fetch(...given) })

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

  test.each(fapi2.modules)('$name: $demand', async ({ api: path = 'nonce', behave, refused }) => {
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
    const { fetchWithAuth } = await client.createFetcher(browser.request('/'), { baseUrl: api.origin })
    expect(await (await fetchWithAuth(`/${path}`)).json()).toMatchObject({ sub: 'dev|alice' })
  })

  test('requests are those that the profile demands', async () => {
    const { provider } = world
    const { browser } = world.another(options)
    await logIn(browser)
    const [authorization] = provider.requests('authorize')
    expect(Object.keys(authorization?.query ?? {}).sort()).toEqual(['client_id', 'request_uri'])
    const sent = [...provider.requests('par'), ...provider.requests('token')]
    expect(sent.map(({ status }) => status)).toEqual([400, 201, 200])
    for (const { body, headers } of sent) {
      expect(decodeJwt(body['client_assertion'] ?? '').aud).toBe(provider.issuer)
      expect(decodeProtectedHeader(headers['dpop'] ?? '').typ).toBe('dpop+jwt')
    }
    const { request, ...plain } = provider.requests('par')[1]?.body ?? {}
    const parameters = variant.isSigned ? decodeJwt(request ?? '') : plain
    expect(parameters).toMatchObject({ response_type: 'code', code_challenge_method: 'S256' })
    expect('response_type' in plain).toBe(!variant.isSigned)
    expect(String(parameters['nonce']).length).toBeLessThanOrEqual(64)
  })
})
