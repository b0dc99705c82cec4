import type { Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import { getDpopProver } from '../flows/fetcher.ts'
import type { ApiCall } from '../http/api-call.ts'
import { discard } from '../http/api-call.ts'
import type { FetchFunction } from '../lib/fetch-function.ts'
import { toTransportError } from '../oidc/transport-error.ts'
import { toAuthorizationScheme } from '../tokens/authorization-scheme.ts'
import { sendBound } from '../tokens/bound-call.ts'
import type { SessionToken } from '../tokens/replacement.ts'
import type { Limits } from './limits.ts'
import type { SentBody, Upload } from './upload.ts'

/** A request to the API, without credentials. */
export interface UpstreamRequest {
  readonly method: string
  readonly url: URL
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly upload: Upload | null
  readonly limits: Limits
  /** Default: `[customFetch]` for tokens that are bound to the certificate, and else the global one. */
  readonly fetch: FetchFunction | undefined
}

/** Returns why a request to the API got no usable response. */
export function toUpstreamError({ reason }: Limits, thrown: unknown): IdpError {
  if (reason === 'idle')
    return new IdpError('PROXY_UPSTREAM_TIMEOUT', { detail: 'Nothing moved for idleTimeout.' })
  if (reason === 'over') return new IdpError('PROXY_UPSTREAM_TIMEOUT', { detail: 'maxDuration is over.' })
  if (reason === 'session') return new IdpError('NOT_AUTHENTICATED')
  return new IdpError('PROXY_UPSTREAM_FAILED', { detail: toTransportError(thrown).message })
}

/**
 * Options for a long body: otherwise Node.js keeps all of it, to follow a redirect, which it does not (undici clones the request). So
 * the response to a long body cannot be a redirect.
 */
const UNCLONED = { redirect: 'error', window: null } as const

/** Returns whether the runtime has that option: workerd throws, and keeps no body. */
function canUnclone(): boolean {
  try {
    return new Request('http://localhost', UNCLONED).redirect === 'error'
  } catch {
    return false
  }
}

/** `fetch` itself states the length of a body that is whole. Twice is an error where an application has loaded undici 7. */
function withoutLength(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { 'content-length': _stated, ...others } = headers
  return others
}

/** Returns the response, or throws at the end of the request: a `fetch` of the application may ignore its signal. */
function orEnded(response: Promise<Response>, { signal }: Limits): Promise<Response> {
  return new Promise((resolve, reject) => {
    const onEnd = (): void => {
      reject(new TypeError('The request has ended.'))
      response.then(discard, () => undefined)
    }
    if (signal.aborted) onEnd()
    else signal.addEventListener('abort', onEnd, { once: true })
    response.then(resolve, reject).finally(() => signal.removeEventListener('abort', onEnd))
  })
}

async function sendOnce(
  { limits, method, url, ...request }: UpstreamRequest,
  headers: Readonly<Record<string, string>>,
  { isLong, ...body }: SentBody,
): Promise<Response> {
  // Called unbound: some runtimes reject a fetch whose `this` is another object.
  const fetch = request.fetch ?? globalThis.fetch
  const redirect = isLong && canUnclone() ? UNCLONED : ({ redirect: 'manual' } as const)
  const sent = body.body instanceof Uint8Array ? withoutLength(headers) : headers
  try {
    const { signal } = limits
    const response = fetch(url.href, { ...body, ...redirect, method, headers: sent, signal })
    // A test double may return no promise.
    return await orEnded(Promise.resolve(response), limits)
  } catch (thrown) {
    throw toUpstreamError(limits, thrown)
  } finally {
    limits.moved()
  }
}

/** Returns whether a token visibly is not bound to a certificate: with `certificateBoundAccessTokens`, one from before it was set. */
export async function lacksBinding(accessToken: string): Promise<boolean> {
  const { isCertificateBound } = await import('../oidc/certificate-binding.ts')
  return isCertificateBound(accessToken) === false
}

/** Sends a request with an access token; a bound one with proofs, and again if the API demands a nonce in them. */
export async function sendWithToken(
  engine: Engine,
  request: UpstreamRequest,
  token: SessionToken,
  body: SentBody,
): Promise<Response> {
  const { headers, limits, method, upload, url } = request
  const { accessToken, scheme } = toAuthorizationScheme(token, engine.config.dpop.enabled)
  if (scheme === 'Bearer') {
    const { fetch: certificateFetch, mutualTls } = engine.config
    const isBound = mutualTls?.boundTokens && !(await lacksBinding(accessToken))
    const fetch = request.fetch ?? (isBound ? certificateFetch : undefined)
    return sendOnce({ ...request, fetch }, { ...headers, authorization: `Bearer ${accessToken}` }, body)
  }
  const call: ApiCall = {
    method,
    url,
    signal: limits.signal,
    send: (authorization, init = body) =>
      sendOnce(request, { ...headers, ...authorization }, init as SentBody),
    prepareRepetition: () => () => repeatedBody(upload),
  }
  return sendBound(call, accessToken, await getDpopProver(engine))
}

/** Returns the body of a request, to send it again; `null` if it cannot be. */
export async function repeatedBody(upload: Upload | null): Promise<SentBody | null> {
  return upload ? upload.repeat() : {}
}
