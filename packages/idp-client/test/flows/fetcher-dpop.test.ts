import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { generateDpopKeyPair } from '../../src/crypto/keys.ts'
import type { Fetcher, FetcherOptions, IdpClientOptions } from '../../src/index.ts'
import type { ApiServer, NoncePolicy } from '../support/api-server.ts'
import { AUDIENCE, protectedApi, startApi } from '../support/api-server.ts'
import type { Browser, World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'

const TTL = 600

let world: World
const servers: ApiServer[] = []
beforeEach(async () => {
  const options: IdpClientOptions = {
    authorizationParameters: { audience: AUDIENCE },
    useDPoP: true,
    dpopKeyPair: await generateDpopKeyPair(),
    dpopOptions: { retry: { delay: 5 } },
  }
  world = await startWorld(options, { accessTokenTtl: TTL, requireDpop: true })
})
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop()
  await world.provider.stop()
})

async function apiWith(nonces: NoncePolicy): Promise<ApiServer> {
  const server = await startApi(protectedApi(world.provider, { nonces }))
  servers.push(server)
  return server
}

async function fetcherOf(browser: Browser, api: ApiServer, options: FetcherOptions = {}): Promise<Fetcher> {
  return world.client.createFetcher(browser.request('/'), { baseUrl: api.origin, ...options })
}

/** A fetcher of a user who has just logged in. */
async function signedIn(api: ApiServer, options: FetcherOptions = {}): Promise<Fetcher> {
  await world.login(world.browser)
  return fetcherOf(world.browser, api, options)
}

async function read(response: Response): Promise<Record<string, unknown>> {
  return (await response.json()) as Record<string, unknown>
}

function nonceOf(proof: unknown): unknown {
  const payload = Buffer.from(String(proof).split('.')[1] ?? '', 'base64url').toString()
  return (JSON.parse(payload) as Record<string, unknown>)['nonce']
}

function streamOf(text: string): RequestInit {
  const body = new Blob([text]).stream()
  return { method: 'POST', body, duplex: 'half' } as RequestInit
}

describe('proofs', () => {
  test('a fetch that never ends one branch of a body does not delay the retry', async () => {
    const api = await apiWith('any')
    // Like hosts that return one response to several callers: cancelling one branch of a tee settles only with the other.
    const kept: Response[] = []
    const sharing: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      kept.push(response)
      return response.clone()
    }
    const { fetchWithAuth } = await signedIn(api, { fetch: sharing })
    expect((await fetchWithAuth('/')).status).toBe(200)
    expect(kept).toHaveLength(2)
  })

  test('[S221,S235] each call has its own proof of the request that is sent', async () => {
    const api = await apiWith('off')
    const { fetchWithAuth } = await signedIn(api)
    expect(await read(await fetchWithAuth('/orders?open=1#top'))).toMatchObject({ sub: 'dev|alice' })
    expect((await fetchWithAuth('/orders', { method: 'post', body: 'x' })).status).toBe(200)
    expect((await fetchWithAuth(new Request(`${api.origin}/a%20b/`, { method: 'DELETE' }))).status).toBe(200)
    expect(new Set(api.requests.map(({ headers }) => headers['dpop'])).size).toBe(3)
  })

  test('[S222] a refreshed token is bound to the same key', async () => {
    const api = await apiWith('off')
    const { fetchWithAuth } = await signedIn(api)
    await fetchWithAuth('/')
    expect((await fetchWithAuth('/', { refresh: true })).status).toBe(200)
    const tokens = api.requests.map(({ headers }) => headers.authorization)
    expect(new Set(tokens).size).toBe(2)
  })

  test('[S199] useDPoP: false with a bound token is a typed error, never a bearer token', async () => {
    const api = await apiWith('off')
    const { fetchWithAuth } = await signedIn(api, { useDPoP: false })
    await expect(fetchWithAuth('/')).rejects.toMatchObject({ code: 'FETCHER_TOKEN_BOUND' })
    expect(api.requests).toEqual([])
  })

  test.each([
    [undefined, 'DPoP abc', true],
    [true, 'DPoP abc', true],
    [false, 'Bearer abc', false],
  ])('[S199] a token given as a string follows useDPoP: %s', async (useDPoP, authorization, proven) => {
    const api = await startApi(() => ({}))
    servers.push(api)
    const { fetchWithAuth } = await signedIn(api, { useDPoP, getAccessToken: () => 'abc' })
    await fetchWithAuth('/')
    expect(api.requests[0]?.headers.authorization).toBe(authorization)
    expect(api.requests[0]?.headers['dpop'] !== undefined).toBe(proven)
  })

  test('[S199] a token with a token_type is sent with that scheme', async () => {
    const api = await startApi(() => ({}))
    servers.push(api)
    const getAccessToken = () => ({ token: 'abc', token_type: 'Bearer' })
    const { fetchWithAuth } = await signedIn(api, { useDPoP: true, getAccessToken })
    await fetchWithAuth('/')
    expect(api.requests[0]?.headers.authorization).toBe('Bearer abc')
    expect(api.requests[0]?.headers['dpop']).toBeUndefined()
  })

  test('keys of two pairs are a typed error at the first use, and nothing is sent', async () => {
    const api = await apiWith('off')
    const [one, other] = await Promise.all([generateDpopKeyPair(), generateDpopKeyPair()])
    const mixed = { publicKey: one.publicKey, privateKey: other.privateKey }
    await world.login(world.browser)
    const { client } = world.another({ dpopKeyPair: mixed })
    const { fetchWithAuth } = await client.createFetcher(world.browser.request('/'), { baseUrl: api.origin })
    await expect(fetchWithAuth('/')).rejects.toMatchObject({ code: 'INVALID_CONFIGURATION' })
    expect(api.requests).toEqual([])
  })
})

describe('nonces', () => {
  test('[S223,S237] cause one retry; the nonces of responses are used from then on', async () => {
    const api = await apiWith('any')
    const { fetchWithAuth } = await signedIn(api)
    for (const path of ['/1', '/2', '/3']) expect((await fetchWithAuth(path)).status).toBe(200)
    expect(api.requests.map(({ path }) => path)).toEqual(['/1', '/1', '/2', '/3'])
    const nonces = api.requests.map(({ headers }) => nonceOf(headers['dpop']))
    expect(nonces[0]).toBeUndefined()
    expect(new Set(nonces).size).toBe(4)
  })

  test('are separate per origin, and from those of the provider', async () => {
    world.provider.settings.dpopNonces = true
    const [one, other] = [await apiWith('any'), await apiWith('any')]
    await world.login(world.browser)
    const { fetchWithAuth } = await world.client.createFetcher(world.browser.request('/'))
    await fetchWithAuth(`${one.origin}/`)
    await fetchWithAuth(`${other.origin}/`)
    expect(nonceOf(one.requests[0]?.headers['dpop'])).toBeUndefined()
    expect(nonceOf(other.requests[0]?.headers['dpop'])).toBeUndefined()
    expect((await fetchWithAuth(`${one.origin}/`)).status).toBe(200)
    expect([one.requests.length, other.requests.length]).toEqual([3, 2])
  })

  test.each<NoncePolicy>(['any', 'once'])('20 calls at once, nonces are good for: %s', async (nonces) => {
    const api = await apiWith(nonces)
    const { fetchWithAuth } = await signedIn(api)
    const responses = await Promise.all(Array.from({ length: 20 }, (_, at) => fetchWithAuth(`/${at}`)))
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200))
    const bodies = await Promise.all(responses.map(read))
    expect(bodies.map(({ path }) => path)).toEqual(Array.from({ length: 20 }, (_, at) => `/${at}`))
    expect(api.requests.length).toBeLessThanOrEqual(40)
  })

  test('[G6] an API that rejects the first new nonce too gets a second retry', async () => {
    const api = await apiWith('third')
    const { fetchWithAuth } = await signedIn(api)
    expect((await fetchWithAuth('/', { method: 'POST', body: 'x' })).status).toBe(200)
    expect(api.requests.map(({ body }) => body)).toEqual(['x', 'x', 'x'])
    expect(new Set(api.requests.map(({ headers }) => nonceOf(headers['dpop']))).size).toBe(3)
  })

  // Chance decides which calls meet: less than six are rare, and three times in a row a defect.
  test('[M5] six of eight parallel calls succeed if an API has one nonce at a time, for one request', {
    retry: 2,
  }, async () => {
    const api = await apiWith('current')
    await world.login(world.browser)
    const { client } = world.another({ dpopOptions: { retry: { delay: 100 } } })
    const { fetchWithAuth } = await client.createFetcher(world.browser.request('/'), { baseUrl: api.origin })
    const calls = Array.from({ length: 8 }, (_, at) => fetchWithAuth(`/${at}`))
    const results = await Promise.allSettled(calls)
    const refused = results.filter(({ status }) => status === 'rejected')
    expect(refused.length).toBeLessThanOrEqual(2)
    for (const result of refused) expect(result).toMatchObject({ reason: { code: 'FETCHER_NONCE_REFUSED' } })
    for (let at = 0; at < 8; at++)
      expect(api.requests.filter(({ path }) => path === `/${at}`).length).toBeLessThanOrEqual(5)
  })

  test('[M5] each retry has the nonce of its own challenge, and no call waits for another', async () => {
    const challenges = new Map<string, string[]>()
    const api = await startApi(({ path }) => {
      const named = challenges.get(path) ?? []
      challenges.set(path, named)
      if (named.length === 4) return {}
      named.push(`${path} ${named.length}`)
      return {
        status: 401,
        headers: { 'www-authenticate': 'DPoP error="use_dpop_nonce"', 'dpop-nonce': named.at(-1) ?? '' },
      }
    })
    servers.push(api)
    const { fetchWithAuth } = await signedIn(api)
    const paths = ['/a', '/b', '/c']
    const responses = await Promise.all(paths.map((path) => fetchWithAuth(path)))
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200])
    for (const path of paths) {
      const [, ...retries] = api.requests.filter((request) => request.path === path)
      expect(retries.map(({ headers }) => nonceOf(headers['dpop']))).toEqual(challenges.get(path))
    }
  })

  test('two users of one audience with overlapping retries each send their own token', async () => {
    const api = await apiWith('once')
    const bob = world.newBrowser()
    await world.login(bob, '', { user: 'bob' })
    const [ofAlice, ofBob] = [await signedIn(api), await fetcherOf(bob, api)]
    const calls = Array.from({ length: 40 }, (_, at) =>
      (at % 2 ? ofBob : ofAlice).fetchWithAuth(`/${at}`, { method: 'POST', body: `${at}` }),
    )
    const bodies = await Promise.all(calls.map(async (call) => read(await call)))
    expect(bodies).toEqual(
      Array.from({ length: 40 }, (_, at) => ({
        sub: at % 2 ? 'dev|bob' : 'dev|alice',
        method: 'POST',
        path: `/${at}`,
        body: `${at}`,
      })),
    )
  })

  test.each<[NoncePolicy, number]>([
    ['never', 5],
    ['unsaid', 1],
  ])('a nonce that is %s good enough: typed error after %s requests', async (nonces, requests) => {
    const api = await apiWith(nonces)
    const { fetchWithAuth } = await signedIn(api)
    await expect(fetchWithAuth('/')).rejects.toMatchObject({ code: 'FETCHER_NONCE_REFUSED' })
    expect(api.requests).toHaveLength(requests)
  })

  test('any other 401 is returned, also with a nonce', async () => {
    const headers = { 'www-authenticate': 'DPoP error="invalid_token"', 'dpop-nonce': 'next' }
    const api = await startApi(() => ({ status: 401, headers }))
    servers.push(api)
    const { fetchWithAuth } = await signedIn(api)
    expect((await fetchWithAuth('/')).status).toBe(401)
    await fetchWithAuth('/')
    expect(api.requests).toHaveLength(2)
    expect(nonceOf(api.requests[1]?.headers['dpop'])).toBe('next')
  })

  test('the signal of the caller ends the delay before the retry', async () => {
    const api = await apiWith('any')
    await world.login(world.browser)
    const { client } = world.another({ dpopOptions: { retry: { delay: 60_000, jitter: false } } })
    const controller = new AbortController()
    const reason = new Error('enough')
    const { fetchWithAuth } = await client.createFetcher(world.browser.request('/'), {
      baseUrl: api.origin,
      fetch: async (...call) => {
        const response = await fetch(...call)
        setTimeout(() => controller.abort(reason))
        return response
      },
    })
    await expect(fetchWithAuth('/', { signal: controller.signal })).rejects.toBe(reason)
    expect(api.requests).toHaveLength(1)
  })
})

describe('bodies of a retry', () => {
  const form = new FormData()
  form.set('field', 'a value')
  const bytes = new TextEncoder().encode('{"a":1}')
  test.each<[string, BodyInit]>([
    ['a string', '{"a":1}'],
    ['bytes', bytes],
    ['a buffer', bytes.buffer],
    ['a blob', new Blob(['{"a":1}'])],
    ['parameters', new URLSearchParams({ a: '1' })],
    ['a form', form],
  ])('%s is sent again as it was', async (_what, body) => {
    const api = await apiWith('any')
    const { fetchWithAuth } = await signedIn(api)
    expect((await fetchWithAuth('/', { method: 'POST', body })).status).toBe(200)
    const [first, second] = api.requests.map((request) => request.body.replaceAll(/-{4,}\S+/g, 'boundary'))
    expect(second).toBe(first)
    expect(second).not.toBe('')
  })

  test('a Request is sent again with its body and everything else', async () => {
    const api = await apiWith('any')
    const { fetchWithAuth } = await signedIn(api)
    const request = new Request(`${api.origin}/things`, {
      method: 'PUT',
      headers: { 'x-a': '1' },
      body: form,
    })
    const sent = await read(await fetchWithAuth(request))
    expect(sent).toMatchObject({ method: 'PUT', body: expect.stringContaining('a value') })
    const [first, second] = api.requests
    expect(second?.body).toBe(first?.body)
    expect(second?.headers).toMatchObject({ 'x-a': '1', 'content-type': first?.headers['content-type'] })
  })

  test('a stream, or a Request with more than 1 MiB, is a typed error instead of an empty body', async () => {
    const api = await apiWith('any')
    const { fetchWithAuth } = await signedIn(api)
    await expect(fetchWithAuth('/', streamOf('content'))).rejects.toMatchObject({
      code: 'FETCHER_BODY_NOT_REPLAYABLE',
    })
    const other = await apiWith('any')
    const large = new Request(`${other.origin}/`, { method: 'POST', body: 'x'.repeat(1_048_577) })
    const toOther = await fetcherOf(world.browser, other)
    await expect(toOther.fetchWithAuth(large)).rejects.toMatchObject({ code: 'FETCHER_BODY_NOT_REPLAYABLE' })
    expect([api.requests.length, other.requests.length]).toEqual([1, 1])
  })

  test('with a known nonce streams are sent at the first attempt', async () => {
    const api = await apiWith('any')
    const { fetchWithAuth } = await signedIn(api)
    await fetchWithAuth('/')
    expect(await read(await fetchWithAuth('/', streamOf('content')))).toMatchObject({ body: 'content' })
    const large = new Request(`${api.origin}/`, { method: 'POST', body: 'x'.repeat(3_000_000) })
    expect(String((await read(await fetchWithAuth(large)))['body'])).toHaveLength(3_000_000)
  })
})
