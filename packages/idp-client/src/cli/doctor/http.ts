import type { IncomingMessage, RequestOptions } from 'node:http'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { ApiConfig } from '../../config/config.ts'
import { text } from '../../lib/utf8.ts'
import { TransportError, toTransportError } from '../../oidc/transport-error.ts'

/** A response, as far as the doctor reads it. */
export interface PlainResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export interface PlainRequest {
  readonly method?: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Maximum size of a body that is read, in bytes: pages of the library are smaller. */
const BODY_LIMIT = 65_536

/** Reads `rawHeaders`, because earlier versions of Bun have no `headersDistinct`. */
function toHeaders({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '')
  return headers
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    size += chunk.byteLength
    if (size > BODY_LIMIT) break
  }
  return text(Buffer.concat(chunks))
}

/**
 * Requests the application, as a browser or a server of the provider does: `fetch` would replace some of the headers. Follows no
 * redirect. Throws `TransportError`.
 */
export async function requestApplication(
  url: URL,
  { body, headers = {}, method = 'GET' }: PlainRequest,
  milliseconds: number,
): Promise<PlainResponse> {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  const signal = AbortSignal.timeout(milliseconds)
  const options: RequestOptions = { agent: false, headers, maxHeaderSize: BODY_LIMIT, method, signal }
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      send(url, options, resolve).once('error', reject).end(body)
    })
    return {
      status: response.statusCode ?? 0,
      headers: toHeaders(response),
      text: await readText(response),
    }
  } catch (error) {
    throw signal.aborted ? new TransportError('timeout') : toTransportError(error)
  }
}

/** Requests a page of the provider by the `fetch` of the application. Follows no redirect. Throws `TransportError`. */
export async function requestProvider(
  url: URL,
  { fetch, httpTimeout }: Pick<ApiConfig, 'fetch' | 'httpTimeout'>,
): Promise<PlainResponse> {
  const signal = AbortSignal.timeout(httpTimeout)
  try {
    const headers = { accept: 'text/html' }
    const response = await fetch(url, { headers, redirect: 'manual', cache: 'no-store', signal })
    const text = response.body ? await readText(response.body) : ''
    return { status: response.status, headers: response.headers, text }
  } catch (error) {
    throw signal.aborted ? new TransportError('timeout') : toTransportError(error)
  }
}
