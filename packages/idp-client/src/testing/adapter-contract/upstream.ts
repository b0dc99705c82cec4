/** A request that the API behind the proxy has received. The properties change until request and response have ended. */
export interface ProxiedRequest {
  readonly method: string
  /** Path and query as they arrived. */
  readonly target: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Returns the value of a header, or `undefined`. */
  header(name: string): string | undefined
  /** The access token. */
  readonly token: string | undefined
  /** Bytes of the body that were read. */
  readonly bodyBytes: number
  /** SHA-256 of the whole body in hexadecimal; `undefined` until it has ended. */
  readonly sha256: string | undefined
  /** Whether the sender closed the connection before its body ended. */
  readonly aborted: boolean
  /** Bytes of the response that were sent. */
  readonly sent: number
  /** Whether the sender closed the connection before the response was complete. */
  readonly closedEarly: boolean
}

/** A response of that API, as `startUpstream` of `idp-dev-provider` names it. */
export type ProxiedResponse =
  | PlainResponse
  | {
      readonly kind: 'respond'
      readonly status?: number
      readonly headers?: readonly (readonly [name: string, value: string])[]
      readonly body?: string
    }
  | { readonly kind: 'redirect'; readonly to: ProxiedPlace; readonly header?: 'content-location' }
  | { readonly kind: 'informational'; readonly status: 100 | 102 | 103 }
  | { readonly kind: 'bodyless'; readonly status: 204 | 205 | 304 }
  | { readonly kind: 'oddHeader'; readonly of: ProxiedOddity }
  | { readonly kind: 'big'; readonly bytes: number }
  | { readonly kind: 'stall'; readonly after: number }
  | { readonly kind: 'cut'; readonly after: number; readonly chunked?: boolean }

/** A response without further properties. */
export type PlainResponse = { [Kind in PlainKind]: { readonly kind: Kind } }[PlainKind]

export type PlainKind =
  | 'html'
  | 'svg'
  | 'setCookie'
  | 'serverDirectives'
  | 'clearSiteData'
  | 'serviceWorker'
  | 'cors'
  | 'policies'
  | 'lookalike'
  | 'unauthorized'
  | 'basicChallenge'
  | 'invalidToken'
  | 'gzip'
  | 'falseGzip'
  | 'connectionNamed'
  | 'lengthAndChunked'
  | 'gzipChunked'
  | 'twoLengths'
  | 'badChunk'
  | 'obsFold'
  | 'trailers'
  | 'switchingProtocols'
  | 'surplus'
  | 'badStatusLine'
  | 'hugeHead'
  | 'events'
  | 'silent'

/** Where a redirect leads, relative to the URL of the API. */
export type ProxiedPlace = InwardPlace | OutwardPlace

export type InwardPlace = 'relative' | 'query' | 'path' | 'url' | 'hostRelative' | 'root'

export type OutwardPlace =
  | 'otherHost'
  | 'otherHostRelative'
  | 'otherPort'
  | 'otherScheme'
  | 'userinfo'
  | 'above'
  | 'beside'
  | 'dots'
  | 'encodedDots'
  | 'twiceEncodedDots'
  | 'encodedSlash'
  | 'backslashes'
  | 'slashBackslash'
  | 'tab'
  | 'javascript'
  | 'invalid'

/** The malformed part of a header. */
export type ProxiedOddity =
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

/** The API behind the proxy: what `startUpstream` of `idp-dev-provider` returns. One for each run of the contract. */
export interface ContractUpstream {
  /** URL of the API without slash at its end: the target of the proxy. */
  readonly url: string
  readonly requests: readonly ProxiedRequest[]
  /** Sets the response to some requests. Returns its removal. Without one it is the JSON of the request. */
  respond(
    response: ProxiedResponse,
    options: { readonly when: (request: ProxiedRequest) => boolean },
  ): () => void
  /** Resolves when the predicate is true, which is called after each change of a request. */
  until(predicate: () => boolean): Promise<void>
  /** Sends an event to the open event streams. */
  push(text: string): Promise<void>
  /** Ends the open event streams. */
  endEvents(): Promise<void>
}

/** Features that a server in front of the library lacks for a proxy. */
export interface ProxyLimits {
  /** It passes requests on as a whole and sends whole responses, as AWS Lambda: there are no streams, and no client that leaves. */
  readonly buffers?: boolean
  /** It parses the query and writes it anew, as Next.js for dynamic routes: `a` becomes `a=`. */
  readonly respellsQuery?: boolean
  /** It notices that a client has left only when it sends the next part of the response. */
  readonly noticesLate?: boolean
  /** It sends the head of a response with the first bytes of its body, and not before. */
  readonly delaysHead?: boolean
  /** A body parser reads JSON before the library gets the request. */
  readonly parsesBodies?: boolean
}
