import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import * as express from '../../src/adapters/express/index.ts'
import * as next from '../../src/adapters/next/index.ts'
import type { IdpClientOptions } from '../../src/index.ts'
import * as web from '../../src/index.ts'
import { generateCookieHeader } from '../../src/testing/index.ts'
import { clientOptions, SECRET } from './client-options.ts'
import { nextRequest } from './next-support.ts'

const issuer = 'https://idp.example'

/** The metadata of a provider that every other request reaches in vain. */
async function metadataOnly(url: string): Promise<Response> {
  if (!url.endsWith('/.well-known/openid-configuration')) return Response.json({}, { status: 500 })
  return Response.json({
    issuer: `${issuer}/`,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  })
}

const options: IdpClientOptions = {
  ...clientOptions,
  [web.customFetch]: async (input) => metadataOnly(String(input)),
}

/** Request and response as one host has them. */
type Pair = (cookie: string) => readonly [request: object, response: object]

const nodePair: Pair = (cookie) => {
  const message = new IncomingMessage(new Socket())
  const request = Object.assign(message, {
    method: 'GET',
    url: '/page',
    headers: { host: 'app.example', cookie },
  })
  return [request, new ServerResponse(request)]
}

/**
 * The operations by name. JavaScript calls them in any order; what TypeScript says of that is in the consumer `node`.
 */
type Client = Readonly<Record<string, (...given: readonly unknown[]) => Promise<unknown>>> & {
  readonly mfa: Readonly<Record<string, (...given: readonly unknown[]) => Promise<unknown>>>
}

const hosts: Record<string, readonly [create: () => unknown, pair: Pair]> = {
  Web: [
    () => new web.IdpClient(options),
    (cookie) => [new Request('https://app.example/page', { headers: { cookie } }), new Headers()],
  ],
  Express: [() => new express.IdpClient(options), nodePair],
  'the proxy of Next': [
    () => new next.IdpClient(options),
    (cookie) => [nextRequest('/page', { headers: { cookie } }), new Response()],
  ],
  'the Pages Router of Next': [() => new next.IdpClient(options), nodePair],
}

interface Call {
  readonly title: string
  readonly operation: string
  /** The arguments of the operation besides request and response. */
  readonly given: unknown
  /** A property of the result, or the code of the error, that shows that request and options were both read. */
  readonly shows: (result: unknown) => unknown
  readonly expected: unknown
}

const code = (result: unknown): unknown => Reflect.get(Object(result), 'code')
const session = { user: { sub: 'carol' }, tokenSet: { accessToken: 'at-carol', expiresAt: 4_000_000_000 } }

const calls: readonly Call[] = [
  {
    title: 'getAccessToken',
    operation: 'getAccessToken',
    given: {},
    shows: (result) => Reflect.get(Object(result), 'token'),
    expected: 'at-carol',
  },
  {
    title: 'getAccessToken with an option',
    operation: 'getAccessToken',
    given: { audience: 'https://api.example/' },
    shows: code,
    expected: 'MISSING_REFRESH_TOKEN',
  },
  {
    title: 'getAccessTokenForConnection',
    operation: 'getAccessTokenForConnection',
    given: { connection: 'github' },
    shows: code,
    expected: 'MISSING_REFRESH_TOKEN',
  },
  {
    title: 'connectAccount',
    operation: 'connectAccount',
    given: { connection: 'github' },
    shows: code,
    expected: 'FAILED_TO_INITIATE',
  },
  {
    title: 'deleteConnectedAccount',
    operation: 'deleteConnectedAccount',
    given: { id: 'account' },
    shows: code,
    expected: 'FAILED_TO_DELETE',
  },
  {
    title: 'startInteractiveLogin',
    operation: 'startInteractiveLogin',
    given: { authorizationParameters: { login_hint: 'carol' } },
    shows: (result) =>
      result instanceof Response &&
      new URL(result.headers.get('location') ?? '').searchParams.get('login_hint'),
    expected: 'carol',
  },
  {
    title: 'createFetcher',
    operation: 'createFetcher',
    given: { baseUrl: 'no URL' },
    shows: code,
    expected: 'INVALID_CONFIGURATION',
  },
  {
    title: 'updateSession',
    operation: 'updateSession',
    given: session,
    shows: (result) => result,
    expected: undefined,
  },
  {
    title: 'mfa.getAuthenticators',
    operation: 'getAuthenticators',
    given: { mfaToken: 'none of ours' },
    shows: code,
    expected: 'MFA_TOKEN_INVALID',
  },
  {
    title: 'mfa.verify',
    operation: 'verify',
    given: { mfaToken: 'none of ours', otp: '123456' },
    shows: code,
    expected: 'MFA_TOKEN_INVALID',
  },
  {
    title: 'revokeRefreshToken',
    operation: 'revokeRefreshToken',
    given: {},
    shows: code,
    expected: 'MISSING_REFRESH_TOKEN',
  },
  { title: 'getUserInfo', operation: 'getUserInfo', given: {}, shows: code, expected: 'RESPONSE_INVALID' },
  {
    title: 'listConnectedAccounts',
    operation: 'listConnectedAccounts',
    given: undefined,
    shows: code,
    expected: 'FAILED_TO_LIST',
  },
]

describe.each(Object.entries(hosts))('%s', (_host, [create, pair]) => {
  const client = create() as Client

  /** The outcome of a call; a rejection, never an exception. */
  async function outcome({ operation, title }: Call, given: readonly unknown[]): Promise<unknown> {
    const owner = title.startsWith('mfa.') ? client.mfa : client
    const promise = owner[operation]?.call(owner, ...given)
    expect(promise).toBeInstanceOf(Promise)
    return promise?.catch((error: unknown) => error)
  }

  test.each(calls)('[G1] $title accepts request and response before and after its options', async (call) => {
    const cookie = await generateCookieHeader(session, { secret: SECRET })
    for (const place of ['behind', 'before'] as const) {
      const both = pair(cookie)
      const given = place === 'before' ? [call.given, ...both] : [...both, call.given]
      const result = await outcome(call, given)
      expect([place, call.shows(result)]).toEqual([place, call.expected])
    }
  })

  test.each(calls)('[G1] $title names its parameters if it is called with others', async (call) => {
    const [request, response] = pair('')
    for (const given of [
      [response, request],
      [{ req: request }, request, response, 7],
      [request, request],
    ]) {
      const error = await outcome(call, given)
      expect(error).toMatchObject({
        code: 'INVALID_ARGUMENTS',
        message: expect.stringMatching(new RegExp(`${call.title.split(' ')[0]} takes \\(.*\\), not \\(`)),
      })
    }
  })
})
