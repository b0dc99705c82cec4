import type { IncomingMessage, ServerResponse } from 'node:http'
import { inject as lightMyRequest } from 'light-my-request'
import { noteCertificate } from '../extensions/client-certificates.ts'
import type { Failure } from '../wire/failure.ts'
import type { BufferedResponse, Call } from '../wire/message.ts'
import type { ProviderState } from './state.ts'

const failures = new WeakMap<IncomingMessage, Failure>()

/** Records why a request is refused, which its response tells only in part. */
export function noteFailure(request: IncomingMessage, failure: Failure): void {
  failures.set(request, failure)
}

/**
 * Returns what a handler responds to a call. It gets a request without a connection: on a real one, a fault or an abort
 * of the caller would reach into the provider.
 */
export async function inject(
  { mountPath }: ProviderState,
  call: Call,
  handler: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<BufferedResponse> {
  const { 'content-length': _length, 'transfer-encoding': _encoding, ...headers } = call.headers
  const { raw, statusCode, rawPayload } = await lightMyRequest(
    (request, response) => {
      Object.assign(request, {
        method: call.method,
        // Byte for byte as received. Below the mount path `url` is relative to it, a convention of connect.
        url: call.url.slice(mountPath.length) || '/',
        originalUrl: call.url,
      })
      Object.assign(request.socket, { encrypted: call.encrypted })
      if (call.certificate) noteCertificate(request, call.certificate)
      handler(request, response).catch((error: Error) => response.destroy(error))
    },
    { url: '/', headers, ...(call.body.length > 0 ? { payload: call.body } : {}) },
  )
  const failure = failures.get(raw.req)
  return {
    status: statusCode,
    headers: { ...raw.res.getHeaders() },
    body: rawPayload,
    ...(failure ? { failure } : {}),
  }
}

/** Returns oidc-provider's response to a call instead of sending it. */
export function engineResponse(state: ProviderState, call: Call): Promise<BufferedResponse> {
  return inject(state, call, state.engine.callback())
}
