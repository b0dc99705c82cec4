import type { RawHeader } from './bytes.ts'
import type { RedirectPlace } from './redirects.ts'
import type { UpstreamRequest } from './requests.ts'

/** Well-formed responses with a content or a header that a proxy must not pass on unchanged. */
export type MessageResponse =
  /** Any status, headers and body; `content-length` is added. By default 200 without headers and body. */
  | {
      readonly kind: 'respond'
      readonly status?: number
      readonly headers?: readonly RawHeader[]
      readonly body?: string | Uint8Array
    }
  /** 200 and the JSON `{ method, target, bytes, sha256 }` of the request; the default response. */
  | { readonly kind: 'echo' }
  /** A document whose script sets `data-script="ran"` on the root element. */
  | { readonly kind: 'html' }
  /** The same as a picture. */
  | { readonly kind: 'svg' }
  /** Three cookies, one of them without attributes. */
  | { readonly kind: 'setCookie' }
  /** Headers that servers and frameworks in front execute: `X-Accel-*`, `X-Sendfile`, `X-Middleware-*`. */
  | { readonly kind: 'serverDirectives' }
  | { readonly kind: 'clearSiteData' }
  /** A script that `Service-Worker-Allowed` permits for the whole origin. */
  | { readonly kind: 'serviceWorker' }
  /** `Access-Control-Allow-Origin: *` with credentials, methods and headers. */
  | { readonly kind: 'cors' }
  /** Contrary values of the headers that a proxy sets itself, public caching, and `Refresh`. */
  | { readonly kind: 'policies' }
  /** A 401 that looks like one of the library: `idp-client-error: 1` and a JSON code. */
  | { readonly kind: 'lookalike' }
  /** 401 without a challenge. */
  | { readonly kind: 'unauthorized' }
  /** 401 `Basic`, for which a browser opens its password dialog. */
  | { readonly kind: 'basicChallenge' }
  /** 401 `Bearer error="invalid_token"` (RFC 6750). */
  | { readonly kind: 'invalidToken' }
  /** 401 `DPoP error="use_dpop_nonce"` with `DPoP-Nonce` (RFC 9449), by default `upstream-nonce`. */
  | { readonly kind: 'useDpopNonce'; readonly nonce?: string }
  /** 200 with `DPoP-Nonce`, by default `upstream-nonce`. */
  | { readonly kind: 'dpopNonce'; readonly nonce?: string }
  /** Compressed JSON. */
  | { readonly kind: 'gzip' }
  /** `Content-Encoding: gzip`, but the JSON is not compressed. */
  | { readonly kind: 'falseGzip' }
  /** `Connection: x-named` and `X-Named: secret`. */
  | { readonly kind: 'connectionNamed' }
  /**
   * `Location`, `Content-Location` or both, with a place relative to `upstream.url`, or literally as `location`. By default
   * status 302, or 200 for `content-location`.
   */
  | {
      readonly kind: 'redirect'
      readonly to?: RedirectPlace
      readonly location?: string
      readonly header?: 'location' | 'content-location' | 'both'
      readonly status?: number
    }

/** The malformed part of a header: see `oddHeader`. */
export type OddHeader =
  | 'latin1'
  | 'utf8'
  | 'control'
  | 'nul'
  | 'bareCr'
  | 'bareLf'
  | 'spaceBeforeColon'
  | 'noColon'
  | 'emptyName'
  | 'nonToken'

/** Responses with invalid or unusual bytes. They are the same for HEAD, and leave the connection open. */
export type FramedResponse =
  /** These bytes, status line included; a string has one byte per character. */
  | { readonly kind: 'raw'; readonly bytes: string | Uint8Array }
  /** `Content-Length: 3` before a longer chunked body. */
  | { readonly kind: 'lengthAndChunked' }
  /** `Transfer-Encoding: gzip, chunked`. */
  | { readonly kind: 'gzipChunked' }
  /** Two `Content-Length` headers with different values. */
  | { readonly kind: 'twoLengths' }
  /** A chunk whose size is not a number. */
  | { readonly kind: 'badChunk' }
  /** A header value that continues in the next line (RFC 9112, section 5.2). */
  | { readonly kind: 'obsFold' }
  /** A chunked body with the trailers `Set-Cookie` and `X-Trailer`. */
  | { readonly kind: 'trailers' }
  /** An interim response with `Link` and `Set-Cookie` before the JSON response. */
  | { readonly kind: 'informational'; readonly status: 100 | 102 | 103 }
  /** 101 although the request has no `Upgrade`, and bytes that are not HTTP. */
  | { readonly kind: 'switchingProtocols' }
  /** A response that has no body by its status, followed by bytes that look like another response. */
  | { readonly kind: 'bodyless'; readonly status: 204 | 205 | 304 }
  /** A complete response, followed by bytes that look like the response to the next request. */
  | { readonly kind: 'surplus' }
  /** An invalid first line, by default `HTTP/1.1 abc OK`. */
  | { readonly kind: 'badStatusLine'; readonly line?: string }
  /** A header with a value of so many bytes, by default 1 MiB. */
  | { readonly kind: 'hugeHead'; readonly bytes?: number }
  /** A header, by default `Content-Disposition`, with bytes that RFC 9110 does not allow or discourages. */
  | { readonly kind: 'oddHeader'; readonly of: OddHeader; readonly name?: string }

/** Responses that take time or never end. */
export type StreamedResponse =
  /** `text/event-stream`, to which `upstream.push` adds events until `upstream.endEvents`. */
  | { readonly kind: 'events' }
  /** A body of so many bytes, written as fast as the client reads; `sent` of the request counts. */
  | { readonly kind: 'big'; readonly bytes: number }
  /** A body without length that ends with the connection. */
  | { readonly kind: 'closeDelimited' }
  /** Nothing at all. */
  | { readonly kind: 'silent' }
  /** The head and the first `after` bytes of a body of 1 MiB, then nothing. */
  | { readonly kind: 'stall'; readonly after: number }
  /** The head and the first `after` bytes of a body of 1 MiB, or of one in chunks; then the connection is destroyed. */
  | { readonly kind: 'cut'; readonly after: number; readonly chunked?: boolean }

/** A response of the upstream API. */
export type UpstreamResponse = MessageResponse | FramedResponse | StreamedResponse

/** A response, or a function that chooses one for each request, for example when a promise of the test resolves. */
export type UpstreamResponder =
  | UpstreamResponse
  | ((request: UpstreamRequest) => UpstreamResponse | Promise<UpstreamResponse>)
