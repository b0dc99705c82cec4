import { encode } from 'jose/base64url'
import type { Config } from '../config/config.ts'
import type { Bytes } from '../lib/utf8.ts'
import { version } from '../lib/version.ts'
import { TransportError, toTransportError } from './transport-error.ts'

/** Maximum size of a response of the provider after decompression, in bytes. */
const SIZE_LIMIT = 1_048_576

export interface ProviderRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: BodyInit
  /** Aborts the request; `httpTimeout` applies in any case. */
  readonly signal?: AbortSignal
  /** Called when `httpTimeout` has passed. Returns for how many more milliseconds to wait for the response. */
  readonly onOverdue?: () => number
}

/**
 * Sends one request to the provider. The body of the response is fully read, limited in size, and can be read again.
 */
export type ProviderFetch = (url: string, request?: ProviderRequest) => Promise<Response>

type TransportConfig = Pick<Config, 'allowInsecureRequests' | 'fetch' | 'httpTimeout' | 'telemetry'>

export function mayRequest(url: URL, allowInsecureRequests: boolean): boolean {
  return url.protocol === 'https:' || (allowInsecureRequests && url.protocol === 'http:')
}

function assertAddress(url: string, config: TransportConfig): void {
  if (!URL.canParse(url) || !mayRequest(new URL(url), config.allowInsecureRequests))
    throw new TransportError('forbidden')
}

/**
 * Adds the identification of this client: name and version with telemetry; without it only the name as `User-Agent`,
 * because runtimes would send their own.
 */
function identify(base: Readonly<Record<string, string>> | undefined, telemetry: boolean): Headers {
  const headers = new Headers(base)
  headers.set('user-agent', telemetry ? `idp-client/${version}` : 'idp-client')
  if (telemetry) headers.set('idp-client', encode(JSON.stringify({ name: 'idp-client', version })))
  else headers.delete('idp-client')
  return headers
}

/**
 * Runs `exchange` with a time limit. The race is needed: an aborted `fetch` may stay pending while it inflates a body
 * (Node 20), and a custom fetch may ignore its signal.
 */
async function bounded<T>(
  milliseconds: number,
  { onOverdue, signal: outer }: Pick<ProviderRequest, 'onOverdue' | 'signal'>,
  exchange: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let onAbort: (() => void) | undefined
  const ended = new Promise<never>((_, reject) => {
    const give = (): void => reject(new TransportError('timeout'))
    timer = setTimeout(() => {
      const more = onOverdue?.() ?? 0
      if (more > 0) timer = setTimeout(give, more)
      else give()
    }, milliseconds)
    onAbort = () => reject(new TransportError('aborted'))
    if (outer?.aborted) onAbort()
    outer?.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([exchange(controller.signal), ended])
  } catch (error) {
    controller.abort()
    throw toTransportError(error)
  } finally {
    clearTimeout(timer)
    if (onAbort) outer?.removeEventListener('abort', onAbort)
  }
}

/** Reads the whole body; stops when it is announced as, or turns out to be, larger than the limit. */
async function readBody(response: Response): Promise<Bytes> {
  const announced = Number(response.headers.get('content-length') ?? 0)
  if (announced > SIZE_LIMIT) throw new TransportError('too-large')
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = response.body?.getReader()
  while (reader) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.byteLength
    if (size > SIZE_LIMIT) throw new TransportError('too-large')
    chunks.push(value)
  }
  const body: Bytes = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    body.set(chunk, offset)
    offset += chunk.byteLength
  }
  return body
}

const BODILESS: ReadonlySet<number> = new Set([204, 205, 304])

async function complete(response: Response): Promise<Response> {
  const { status } = response
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400 && status !== 304)) {
    throw new TransportError('redirect')
  }
  const body = await readBody(response)
  const headers = new Headers(response.headers)
  headers.delete('content-encoding')
  headers.delete('content-length')
  return new Response(BODILESS.has(status) ? null : body, { status, headers })
}

/**
 * Creates the `fetch` for requests to the authorization server: https only (unless `allowInsecureRequests`),
 * `httpTimeout` for connection, headers and body together, an `Idp-Client` header with telemetry, at most 1 MiB, no
 * redirects, no retries. Every failure is a `TransportError`.
 */
export function providerFetch(config: TransportConfig): ProviderFetch {
  // Called unbound: some runtimes reject a fetch whose `this` is another object.
  const { fetch } = config
  return async (url, request = {}) => {
    assertAddress(url, config)
    const { method = 'GET', body, headers } = request
    return bounded(config.httpTimeout, request, async (signal) => {
      const init: RequestInit = {
        method,
        headers: identify(headers, config.telemetry),
        redirect: 'manual',
        signal,
      }
      // Framework data caches around `fetch` must not store keys, metadata or tokens.
      init.cache = 'no-store'
      if (body !== undefined) init.body = body
      return complete(await fetch(url, init))
    })
  }
}
