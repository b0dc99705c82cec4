import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { authenticateByBackchannel } from '../../src/oidc/ciba.ts'
import type { GrantWithIdToken } from '../../src/oidc/token-endpoint.ts'
import { PATIENT, SHORT } from '../support/timeouts.ts'
import { providerOf, recordingLog, rejection } from './client.ts'
import type { SigningKey } from './local-provider.ts'
import { json, LocalProvider, signingKey } from './local-provider.ts'

/** The response to each poll; after the last one the tokens follow. */
type Script = readonly (readonly [status: number, body: unknown, headers?: Record<string, string>])[]

let key: SigningKey
let op: LocalProvider
let now: number
let waits: number[]
beforeAll(async () => {
  key = await signingKey('k1', 'ES256')
})
beforeEach(async () => {
  op = await new LocalProvider(key).start()
  now = 1_900_000_000
  waits = []
  op.clock = () => now
  op.metadata = { backchannel_authentication_endpoint: `${op.issuer}/token?start` }
})
afterEach(() => op.stop())

const pending = [400, { error: 'authorization_pending' }] as const
const slowDown = [400, { error: 'slow_down' }] as const

/** Time passes only by waiting, unless `frozen`: then no clock runs at all. */
function run(
  script: Script,
  start: Record<string, unknown> = {},
  {
    frozen = false,
    httpTimeout = PATIENT,
    maxAge = '',
    claims: changes = {},
    signal,
    whilePaused,
  }: {
    frozen?: boolean
    whilePaused?: () => Promise<void>
    httpTimeout?: number
    maxAge?: string
    claims?: Record<string, unknown>
    signal?: AbortSignal
  } = {},
): Promise<GrantWithIdToken> {
  let polls = 0
  op.responders.set('token', async (response, { url }) => {
    if (url.endsWith('?start')) return json(response, { auth_req_id: 'a-1', expires_in: 120, ...start })
    const [status, body, headers] = script[polls++] ?? []
    if (status !== undefined) return json(response, body, status, headers)
    const { nonce: _none, ...claims } = op.claims()
    json(response, {
      ...(await op.tokenResponse()),
      id_token: await op.sign({ ...claims, ...changes, nonce: undefined }),
    })
  })
  const provider = providerOf(op.issuer, { clock: () => now, httpTimeout, log: recordingLog() })
  const request = {
    parameters: new Map(Object.entries({ scope: 'openid', ...(maxAge && { max_age: maxAge }) })),
    hint: { name: 'login_hint', subject: 'alice' },
    bindingMessage: 'm',
  } as const
  const options = { ...request, requestedExpiry: 120, ...(signal && { signal }) }
  return authenticateByBackchannel(provider, options, async (milliseconds) => {
    waits.push(milliseconds / 1000)
    await whilePaused?.()
    if (!frozen) now += milliseconds / 1000
  })
}

test('the caller aborts while a document of the provider cannot be loaded', async () => {
  for (const endpoint of ['discovery', 'jwks'] as const) {
    const controller = new AbortController()
    op.responders.set(endpoint, (response) => {
      controller.abort()
      json(response, {}, 500)
    })
    expect(await rejection(run([], {}, { signal: controller.signal }))).toMatchObject({
      code: 'BACKCHANNEL_AUTHENTICATION_ABORTED',
    })
    op.responders.clear()
  }
})

test('nothing is requested for a caller who has aborted before', async () => {
  expect(await rejection(run([], {}, { signal: AbortSignal.abort() }))).toMatchObject({
    code: 'BACKCHANNEL_AUTHENTICATION_ABORTED',
  })
  expect(op.requests).toEqual([])
})

test('the tokens are valid from the poll that returned them', async () => {
  const { expiresAt } = await run([pending], { interval: 40 })
  expect(expiresAt).toBe(now + 600)
})

test('the caller aborts while the provider does not respond to the request', async () => {
  const controller = new AbortController()
  const outcome = rejection(run([], {}, { signal: controller.signal, httpTimeout: 1_000_000 }))
  op.responders.set('token', () => controller.abort())
  expect(await outcome).toMatchObject({ code: 'BACKCHANNEL_AUTHENTICATION_ABORTED' })
})

test.each([{ expires_in: 0 }, { expires_in: 'soon' }, { auth_req_id: '' }, null])(
  'a response with %j is not valid',
  async (changes) => {
    const failed = rejection(run([], changes ?? {}))
    if (!changes) op.responders.set('token', (response) => json(response, []))
    expect(await failed).toMatchObject({
      code: 'RESPONSE_INVALID',
      message: expect.stringContaining('auth_req_id or expires_in is missing.'),
    })
  },
)

test('an endpoint that must not be used is a failure of discovery', async () => {
  op.metadata = { backchannel_authentication_endpoint: 'ftp://op.example/bc' }
  expect(await rejection(run([]))).toMatchObject({
    code: 'DISCOVERY_ERROR',
    message: expect.stringContaining('backchannel_authentication_endpoint is not https.'),
  })
})

const polls = () => op.requests.filter(({ endpoint, url }) => endpoint === 'token' && !url.includes('start'))

test.each([
  [0, true],
  [-50, true],
  [-70, false],
])(
  'an approval takes its time: authenticated %i s after the request, max_age 0 allows %s',
  async (seconds, allowed) => {
    const claims = { auth_time: now + seconds }
    const grant = run([pending, pending], { interval: 40 }, { maxAge: '0', claims })
    if (allowed) expect((await grant).claims.sub).toBe('alice')
    else await expect(grant).rejects.toMatchObject({ code: 'ID_TOKEN_INVALID' })
  },
)

describe('the polling interval', () => {
  test('is 5 seconds if the response has none', async () => {
    expect((await run([pending, pending])).claims.sub).toBe('alice')
    expect(waits).toEqual([5, 5, 5])
  })

  test('is that of the response', async () => {
    await run([pending], { interval: 2 })
    await run([pending], { interval: 0.5 })
    expect(waits).toEqual([2, 2, 0.5, 0.5])
  })

  test('has passed before a poll is sent', async () => {
    const seen: number[] = []
    await run(
      [pending],
      {},
      {
        async whilePaused() {
          // A pending poll would arrive before the second request.
          for (let count = 0; count < 2; count++) await fetch(`${op.issuer}/authorize`)
          seen.push(polls().length)
        },
      },
    )
    expect(seen).toEqual([0, 1])
  })

  test.each([0, -1, null, 'soon', '', [], {}])(
    'is 5 seconds if the response has the invalid value %j',
    async (interval) => {
      expect((await run([pending], { interval })).claims.sub).toBe('alice')
      expect(waits).toEqual([5, 5])
    },
  )

  test('slow_down adds 5 seconds permanently', async () => {
    await run([slowDown, pending, slowDown, pending], { interval: 2 })
    expect(waits).toEqual([2, 7, 7, 12, 12])
  })

  test('Retry-After applies once if it is longer', async () => {
    await run(
      [
        [400, { error: 'authorization_pending' }, { 'retry-after': '9' }],
        [503, 'down', { 'retry-after': '20' }],
        [400, { error: 'slow_down' }, { 'retry-after': '1' }],
        [429, { error: 'temporarily_unavailable' }, { 'retry-after': '30' }],
      ],
      { interval: 2 },
    )
    expect(waits).toEqual([2, 9, 20, 7, 30])
  })

  test('5xx, HTML and broken connections do not change it', async () => {
    await run(
      [
        [500, { error: 'server_error' }],
        [502, '<h1>no</h1>', { 'content-type': 'text/html' }],
        [503, ''],
      ],
      { interval: 3 },
    )
    expect(waits).toEqual([3, 3, 3, 3])
  })

  test('is longer after responses that do not arrive in time', async () => {
    let hung = 0
    const grant = run([], { interval: 20 }, { httpTimeout: SHORT })
    const responder = op.responders.get('token')
    op.responders.set('token', (response, request) => {
      if (request.url.endsWith('?start') || hung++ >= 2) return responder?.(response, request)
    })
    await grant
    expect(waits).toEqual([20, 40, 60])
  })

  test.each([true, false])(
    'polling ends at the expiry, without a last delay (frozen clock: %s)',
    async (frozen) => {
      const script = Array.from({ length: 100 }, () => pending)
      const error = await rejection(run(script, { interval: 7, expires_in: 30 }, { frozen }))
      expect(error).toMatchObject({ name: 'OAuthError', error: 'expired_token' })
      expect(waits).toEqual([7, 7, 7, 7])
      expect(polls()).toHaveLength(4)
    },
  )

  test('a provider that fails is requested until the expiry, never faster', async () => {
    const script = Array.from({ length: 100 }, () => [500, ''] as const)
    const error = await rejection(run(script, { interval: 10, expires_in: 60 }))
    expect(error).toMatchObject({ error: 'expired_token' })
    expect(waits).toEqual([10, 10, 10, 10, 10, 10])
  })

  test('a Retry-After beyond the expiry ends it immediately', async () => {
    const script = [[503, '', { 'retry-after': '3600' }]] as const
    expect(await rejection(run(script))).toMatchObject({ error: 'expired_token' })
    expect(waits).toEqual([5])
  })

  test('the expiry is at most a day', async () => {
    const script = Array.from({ length: 30 }, () => pending)
    expect(await rejection(run(script, { interval: 40_000, expires_in: 1e15 }))).toMatchObject({
      error: 'expired_token',
    })
    expect(waits).toEqual([40_000, 40_000])
  })
})

test('an ID token from before the request is rejected', async () => {
  op.claims = () => ({ iss: op.issuer, sub: 'alice', aud: 'client-1', exp: now + 60, iat: now - 3600 })
  expect(await rejection(run([]))).toMatchObject({ code: 'ID_TOKEN_INVALID' })
})
