import { encode } from 'jose/base64url'
import type { Config } from '../config/config.ts'
import type { Bytes } from '../lib/base64url.ts'
import { version } from '../lib/version.ts'
import { TransportError, toTransportError } from './transport-error.ts'

/** Bytes of one answer of the provider, after decompression. */
const SIZE_LIMIT = 1_048_576

export interface ProviderRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: BodyInit
  /** Ends the request early; `httpTimeout` holds in any case. */
  readonly signal?: AbortSignal
  /** Called when `httpTimeout` has passed: for how many milliseconds more the response is waited for. */
  readonly onOverdue?: () => number
}

/** Sends one request to the provider. The answer is complete: its body is read, bounded and free to be read again. */
export type ProviderFetch = (url: string, request?: ProviderRequest) => Promise<Response>

type TransportConfig = Pick<Config, 'allowInsecureRequests' | 'fetch' | 'httpTimeout' | 'telemetry'>

export function mayRequest(url: URL, allowInsecureRequests: boolean): boolean {
  return url.protocol === 'https:' || (allowInsecureRequests && url.protocol === 'http:')
}

function assertAddress(url: string, config: TransportConfig): void {
  if (!URL.canParse(url) || !mayRequest(new URL(url), config.allowInsecureRequests))
    throw new TransportError('forbidden')
}

/** Who we are: name and version with telemetry, the bare name (as a `User-Agent`, which runtimes fill otherwise) without. */
function identify(given: Readonly<Record<string, string>> | undefined, telemetry: boolean): Headers {
  const headers = new Headers(given)
  headers.set('user-agent', telemetry ? `idp-client/${version}` : 'idp-client')
  if (telemetry) headers.set('idp-client', encode(JSON.stringify({ name: 'idp-client', version })))
  else headers.delete('idp-client')
  return headers
}

/**
 * Runs `exchange` under a timer of our own. The race matters: an aborted `fetch` may stay unsettled for long while it
 * inflates a body (Node 20), and a custom fetch may ignore its signal.
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

/** The whole body; what is announced or turns out to be larger than the limit is not read to its end. */
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
 * How this client talks to the authorization server: https only (unless `allowInsecureRequests`), within `httpTimeout`
 * for connection, headers and body together, with the `Idp-Client` header, at most 1 MiB, no redirect followed, no retry.
 * Every failure is a `WireFault`.
 */
export function providerFetch(config: TransportConfig): ProviderFetch {
  // Called unbound: some runtimes refuse a fetch whose `this` is another object.
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
      // Frameworks that put a data cache under fetch must not keep keys, metadata or tokens.
      init.cache = 'no-store'
      if (body !== undefined) init.body = body
      return complete(await fetch(url, init))
    })
  }
}
