import type { Config } from '../config/config.ts'
import { toBase64url } from '../crypto/base64url.ts'
import { concatenate, text, utf8 } from '../lib/utf8.ts'
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

/** A response of the provider that has arrived completely. */
export interface ReceivedResponse {
  /** For status and headers; its body has been read. */
  readonly response: Response
  /** The body, decoded as UTF-8. */
  readonly text: string
}

/** Sends one request to the provider. The body of the response is fully read and limited in size. */
export type ProviderFetch = (url: string, request?: ProviderRequest) => Promise<ReceivedResponse>

type TransportConfig = Pick<Config, 'allowInsecureRequests' | 'fetch' | 'httpTimeout' | 'telemetry'>

export function mayRequest(url: URL, allowInsecureRequests: boolean): boolean {
  return url.protocol === 'https:' || (allowInsecureRequests && url.protocol === 'http:')
}

function assertAddress(url: string, config: TransportConfig): void {
  if (!URL.canParse(url) || !mayRequest(new URL(url), config.allowInsecureRequests))
    throw new TransportError('forbidden')
}

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

/** Reads the whole body; stops when it is announced as, or turns out to be, larger than the limit. */
async function readBody({ body, headers }: Response): Promise<Uint8Array> {
  if (Number(headers.get('content-length') ?? 0) > SIZE_LIMIT) throw new TransportError('too-large')
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = body?.getReader()
  while (reader) {
    const { done, value } = await reader.read()
    if (done) break
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
      const response = await fetch(url, init)
      if (isRedirect(response)) throw new TransportError('redirect')
      return { response, text: text(await readBody(response)) }
    })
  }
}
