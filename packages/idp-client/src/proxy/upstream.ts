import type { Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import { getDpopProver } from '../flows/fetcher.ts'
import type { AccessToken } from '../flows/get-access-token.ts'
import type { ApiCall } from '../http/api-call.ts'
import { challengeParameter } from '../oidc/dpop.ts'
import { toTransportError } from '../oidc/transport-error.ts'
import { toAuthorizationScheme } from '../tokens/authorization-scheme.ts'
import { sendBound } from '../tokens/bound-call.ts'
import type { Limits } from './limits.ts'
import type { Upload } from './upload.ts'

/** A request to the API, without credentials. */
export interface UpstreamRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Headers
  readonly upload: Upload | null
  readonly limits: Limits
  readonly fetch: typeof globalThis.fetch | undefined
}

/** The member of `RequestInit` for streams, which TypeScript does not know. */
interface StreamInit extends RequestInit {
  readonly duplex?: 'half'
}

type Body = Pick<StreamInit, 'body' | 'duplex'>

const toFirstBody = ({ upload }: UpstreamRequest): Body =>
  upload ? { body: upload.stream(), duplex: 'half' } : {}

/** Returns why a request to the API got no usable response. */
export function toUpstreamError({ reason }: Limits, thrown: unknown): IdpError {
  if (reason === 'idle')
    return new IdpError('PROXY_UPSTREAM_TIMEOUT', { detail: 'Nothing moved for idleTimeout.' })
  if (reason === 'over')
    return new IdpError('PROXY_UPSTREAM_TIMEOUT', { detail: 'maxDuration, or the session, is over.' })
  return new IdpError('PROXY_UPSTREAM_FAILED', { detail: toTransportError(thrown).message })
}

function toCall(request: UpstreamRequest, body: Body): ApiCall {
  const { headers, limits, method, upload, url } = request
  return {
    method,
    url,
    signal: limits.signal,
    async send(authorization, init: StreamInit = body) {
      const all = new Headers(headers)
      for (const [name, value] of Object.entries(authorization)) all.set(name, value)
      // Called unbound: some runtimes reject a fetch whose `this` is another object.
      const fetch = request.fetch ?? globalThis.fetch
      try {
        return await fetch(url.href, {
          ...init,
          method,
          headers: all,
          redirect: 'manual',
          signal: limits.signal,
        })
      } catch (thrown) {
        throw toUpstreamError(limits, thrown)
      } finally {
        limits.moved()
      }
    },
    prepareRepetition: () => async () => {
      if (!upload) return {}
      const kept = await upload.repeat()
      return kept && { body: kept }
    },
  }
}

/** Sends a request with an access token; a bound one with proofs, and again if the API demands a nonce in them. */
export async function sendWithToken(
  engine: Engine,
  request: UpstreamRequest,
  token: AccessToken,
  body: Body = toFirstBody(request),
): Promise<Response> {
  const call = toCall(request, body)
  const { accessToken, scheme } = toAuthorizationScheme(token, engine.config.dpop.enabled)
  if (scheme === 'DPoP') return sendBound(call, accessToken, await getDpopProver(engine))
  return call.send({ authorization: `Bearer ${accessToken}` })
}

/** Returns the body of a request, to send it with another token; `null` if it cannot be sent again. */
export async function repeatedBody({ upload }: UpstreamRequest): Promise<Body | null> {
  if (!upload) return {}
  const body = await upload.repeat()
  return body && { body }
}

/** Returns whether the API says that it takes another token only (RFC 6750 section 3.1). */
export function refusesToken({ headers, status }: Response): boolean {
  if (status !== 401) return false
  const challenge = headers.get('www-authenticate') ?? ''
  return ['bearer', 'dpop'].some(
    (scheme) => challengeParameter(challenge, scheme, 'error') === 'invalid_token',
  )
}
