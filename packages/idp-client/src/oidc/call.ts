import type { AuthorizationServer, Client, ClientAuth, DPoPHandle } from 'oauth4webapi'
import { allowInsecureRequests, customFetch } from 'oauth4webapi'
import type { Config } from '../config/config.ts'
import { toBase64url } from '../crypto/base64url.ts'
import { isIdpError } from '../errors/base.ts'
import { OAuthError } from '../errors/provider.ts'
import { defined } from '../lib/objects.ts'
import { pause } from '../lib/pause.ts'
import { parseUrl } from '../lib/url.ts'
import { concatenate, text, utf8 } from '../lib/utf8.ts'
import { version } from '../lib/version.ts'
import { describeAuthentication } from './client-auth.ts'
import { isNonceChallenge, nonceRetryDelay, tokenErrors } from './dpop.ts'
import { parseObject } from './json.ts'
import type { ServerMetadata } from './metadata.ts'
import { mayRequest, requireAlias, requireEndpoint, wireNames } from './metadata.ts'
import type { Provider } from './provider.ts'
import type { ProviderResponse } from './translate.ts'
import { oauthErrorAt, refusalIn, tokenRefusal, unexpectedStatus } from './translate.ts'
import { TransportError, toTransportError } from './transport-error.ts'

/** Maximum size of a response of the provider after decompression, in bytes. */
const SIZE_LIMIT = 1_048_576

export interface ProviderRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: BodyInit | undefined
  /** Aborts the request; `httpTimeout` applies in any case. */
  readonly signal?: AbortSignal | undefined
  /** Called when `httpTimeout` has passed. Returns for how many more milliseconds to wait for the response. */
  readonly onOverdue?: () => number
}

/** A response of the provider that has arrived completely. */
export interface ReceivedResponse {
  /** For status and headers; its body has been read. */
  readonly response: Response
  /** The body, decoded as UTF-8. */
  readonly text: string
}

/** Sends one request to the provider. The body of the response is fully read and limited in size. */
export type ProviderFetch = (url: string, request?: ProviderRequest) => Promise<ReceivedResponse>

/** Value of the header `Idp-Client`. */
const IDENTIFICATION = toBase64url(utf8(JSON.stringify({ name: 'idp-client', version })))

/**
 * Adds the identification of this client: name and version with telemetry; without it only the name as `User-Agent`,
 * because runtimes would send their own.
 */
function identify(base: Readonly<Record<string, string>> | undefined, telemetry: boolean): Headers {
  const headers = new Headers(base)
  headers.set('user-agent', telemetry ? `idp-client/${version}` : 'idp-client')
  if (telemetry) headers.set('idp-client', IDENTIFICATION)
  else headers.delete('idp-client')
  return headers
}

/**
 * Runs `exchange` with a time limit. The race is needed: an aborted `fetch` may stay pending while it inflates a body
 * (Node 20), and a custom fetch may ignore its signal.
 */
function bounded<T>(
  milliseconds: number,
  { onOverdue, signal: outer }: Pick<ProviderRequest, 'onOverdue' | 'signal'>,
  exchange: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const controller = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const release = (): void => {
      clearTimeout(timer)
      outer?.removeEventListener('abort', onAbort)
    }
    const fail = (error: unknown): void => {
      release()
      controller.abort()
      reject(toTransportError(error))
    }
    const onTimeout = (): void => fail(new TransportError('timeout'))
    const onAbort = (): void => fail(new TransportError('aborted'))
    if (outer?.aborted) {
      onAbort()
      return
    }
    outer?.addEventListener('abort', onAbort, { once: true })
    timer = setTimeout(() => {
      const more = onOverdue?.() ?? 0
      if (more > 0) timer = setTimeout(onTimeout, more)
      else onTimeout()
    }, milliseconds)
    exchange(controller.signal).then((value) => {
      release()
      resolve(value)
    }, fail)
  })
}

interface Chunk {
  readonly done?: boolean
  readonly value?: Uint8Array | undefined
}

/** Returns how to read the next chunk of a body. That of node-fetch, which applications may use, is a stream of Node.js. */
function toReader(body: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>): () => Promise<Chunk> {
  if ('getReader' in body) {
    const reader = body.getReader()
    return () => reader.read()
  }
  const iterator = body[Symbol.asyncIterator]()
  return () => iterator.next()
}

/** Reads the whole body; stops when it is announced as, or turns out to be, larger than the limit. */
async function readBody({ body, headers }: Response): Promise<Uint8Array> {
  if (Number(headers.get('content-length')) > SIZE_LIMIT) throw new TransportError('too-large')
  const chunks: Uint8Array[] = []
  let size = 0
  const read = body && toReader(body)
  while (read) {
    const { done, value } = await read()
    if (done || !value) break
    size += value.byteLength
    if (size > SIZE_LIMIT) throw new TransportError('too-large')
    chunks.push(value)
  }
  const [only] = chunks
  return only !== undefined && chunks.length === 1 ? only : concatenate(chunks).bytes
}

function isRedirect({ status, type }: Response): boolean {
  return type === 'opaqueredirect' || (status >= 300 && status < 400 && status !== 304)
}

/**
 * Returns the option that keeps keys, metadata and tokens out of the data caches that frameworks put around `fetch`. Workers with a
 * compatibility date before 2024-11-11 have no such option and throw; nor have they such caches.
 */
function toCacheOption(): Pick<RequestInit, 'cache'> {
  const option = { cache: 'no-store' } as const
  try {
    return new Request('http://localhost', option) && option
  } catch {
    return {}
  }
}

/**
 * Creates the `fetch` for requests to the authorization server: https only (unless `allowInsecureRequests`),
 * `httpTimeout` for connection, headers and body together, an `Idp-Client` header with telemetry, at most 1 MiB, no
 * redirects, no retries. Every failure is a `TransportError`.
 */
export function providerFetch(
  config: Pick<Config, 'allowInsecureRequests' | 'fetch' | 'httpTimeout' | 'mutualTls' | 'telemetry'>,
): ProviderFetch {
  // Called unbound: some runtimes reject a fetch whose `this` is another object.
  const { allowInsecureRequests, fetch } = config
  return async (url, request = {}) => {
    const address = parseUrl(url)
    if (!address || !mayRequest(address, allowInsecureRequests)) throw new TransportError('forbidden')
    const { method = 'GET', body, headers } = request
    return bounded(config.httpTimeout, request, async (signal) => {
      const behaviour = { redirect: 'manual', ...toCacheOption(), signal } as const
      const sent = defined({ method, headers: identify(headers, config.telemetry), body })
      let response: Response
      try {
        response = await fetch(url, { ...sent, ...behaviour })
      } catch (error) {
        throw toTransportError(error, config.mutualTls !== undefined)
      }
      if (isRedirect(response)) throw new TransportError('redirect')
      return { response, text: text(await readBody(response)) }
    })
  }
}

/** Endpoints that are called through `oauth4webapi`. */
const endpointNames = {
  tokenEndpoint: 'token',
  parEndpoint: 'par',
  revocationEndpoint: 'revocation',
  introspectionEndpoint: 'introspection',
  backchannelAuthenticationEndpoint: 'backchannel_authentication',
  userinfoEndpoint: 'userinfo',
} as const

export interface ProviderCall {
  readonly provider: Provider
  readonly metadata: ServerMetadata
  readonly endpoint: keyof typeof endpointNames
  readonly signal?: AbortSignal
  /** Whether to send a DPoP proof; default: with `useDPoP`, except at revocation. */
  readonly bound?: boolean
}

/** Common arguments of the request functions of `oauth4webapi`. */
interface RequestContext {
  readonly server: AuthorizationServer
  readonly client: Client
  readonly authentication: ClientAuth
  readonly options: {
    readonly [customFetch]: (url: string, options: ProviderRequest) => Promise<Response>
    readonly [allowInsecureRequests]: boolean
    readonly DPoP?: DPoPHandle
  }
}

/** Sends the request through a request function of `oauth4webapi`. */
type SendRequest = (context: RequestContext) => Promise<Response>

/** Parses `Retry-After` to seconds (RFC 9110 section 10.2.3): a number, or a date relative to `now`. */
export function retryAfterSeconds(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text)
  // HTTP dates start with the name of a day; `Date.parse` would accept many other strings.
  const date = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isFinite(date) ? Math.max(0, Math.ceil(date / 1000) - now) : undefined
}

/** Returns what is read of a response; the time is that of `Retry-After`. */
export function readResponse({ response, text }: ReceivedResponse, now: number): ProviderResponse {
  const { headers, ok, status } = response
  const mediaType = headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  const body = parseObject(text)
  if (ok) return { status, mediaType, body }
  const retryAfter = retryAfterSeconds(headers.get('retry-after'), now)
  return { status, mediaType, body, retryAfter, challenge: tokenErrors(headers)[0] }
}

/** Sends the request, and once more if the provider demands a nonce in the DPoP proof (RFC 9449 section 8). */
async function sendWithNonce(request: ProviderCall, send: SendRequest): Promise<ProviderResponse> {
  const { endpoint, metadata, provider, signal } = request
  const { config } = provider
  const { bound = config.dpop.enabled && endpoint !== 'revocationEndpoint' } = request
  const handle = bound ? await provider.dpop.handle() : undefined
  let received: ReceivedResponse | undefined
  const context: RequestContext = {
    server: {
      issuer: metadata.issuer,
      [wireNames[endpoint]]: config.mutualTls
        ? requireAlias(metadata, endpoint, config.allowInsecureRequests)
        : requireEndpoint(metadata, endpoint),
    },
    client: { client_id: config.clientId },
    authentication: provider.authentication(metadata, endpoint),
    options: {
      async [customFetch](url, { body, headers, method }) {
        received = await provider.send(url, defined({ method, headers, body, signal }))
        return received.response
      },
      [allowInsecureRequests]: config.allowInsecureRequests,
      ...(handle ? { DPoP: endpoint === 'userinfoEndpoint' ? handle.resource : handle.server } : {}),
    },
  }
  // Only this function reads bodies: `oauth4webapi` returns the response, of which it uses the header of the nonce.
  const sendOnce = async (): Promise<ReceivedResponse> => {
    await send(context)
    if (!received) throw new TypeError('nothing was sent')
    return received
  }
  const first = await sendOnce()
  const response = readResponse(first, config.clock())
  if (!handle || !isNonceChallenge(first.response, response.body)) return response
  await pause(nonceRetryDelay(config), signal)
  return readResponse(await sendOnce(), config.clock())
}

/**
 * Reads a response with status 200, or 201 (RFC 9126 section 2.2). If it is unreadable but contains an `error`, throws
 * that.
 */
function readSuccess<T>(
  request: ProviderCall,
  response: ProviderResponse,
  read: (response: ProviderResponse) => T,
): T {
  try {
    if (response.status === 200 || response.status === 201) return read(response)
    throw unexpectedStatus(response)
  } catch (error) {
    const { endpoint, metadata, provider } = request
    const { config } = provider
    if (endpoint === 'userinfoEndpoint') throw tokenRefusal(response) ?? error
    const authentication = describeAuthentication(config, metadata, endpoint)
    throw refusalIn(response, { client: { ...config, authentication } }) ?? error
  }
}

/**
 * Sends one request to the provider through a request function of `oauth4webapi` and returns what `read` takes from the
 * response. The only retry is one after a DPoP nonce challenge. Throws `OAuthError`, `DiscoveryError` if the provider
 * does not advertise the endpoint, and `InvalidConfigurationError` if keys are unusable.
 */
export async function call<T>(
  request: ProviderCall,
  send: SendRequest,
  read: (response: ProviderResponse) => T,
): Promise<T> {
  try {
    return readSuccess(request, await sendWithNonce(request, send), read)
  } catch (thrown) {
    if (isIdpError(thrown) && !(thrown instanceof OAuthError)) throw thrown
    throw oauthErrorAt(endpointNames[request.endpoint], thrown)
  }
}
