import type { Endpoint } from './endpoints.ts'
import type { LoggedRequest } from './request-log.ts'

/** A failure on the wire. Unless it says otherwise, the provider has not seen the request. */
export type Fault =
  /**
   * Responds correctly, but only after that many milliseconds; with `commit` the provider carries the request out first.
   */
  | { readonly kind: 'delay'; readonly ms: number; readonly commit?: boolean }
  /** Another response: a 5xx, a 429 with `Retry-After`, a proxy's HTML. Status 200 and no body by default. */
  | {
      readonly kind: 'respond'
      readonly status?: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string
    }
  /**
   * Resets the connection before any header (default), in the middle of the body, or instead of the response
   * to a request that the provider has carried out (`commit`).
   */
  | { readonly kind: 'reset'; readonly at?: 'headers' | 'body' | 'commit' }
  /** Never responds; with `commit` after the provider has processed the request. */
  | { readonly kind: 'hang'; readonly commit?: boolean }
  /** A complete response that holds the first half of the real body. */
  | { readonly kind: 'truncate' }
  /** Status 200 and no body at all. */
  | { readonly kind: 'empty' }
  /** Status 200 and the JSON text `null`. */
  | { readonly kind: 'null' }
  /** Status 200 and the JSON text `[]`. */
  | { readonly kind: 'array' }
  /** The real response, labelled as `text/html` or as the given type. */
  | { readonly kind: 'label'; readonly contentType?: string }
  /** Status 200 and a valid JSON object of so many bytes, streamed; default 64 MiB. */
  | { readonly kind: 'huge'; readonly bytes?: number }
  /** Status 200 and spaces that were compressed from so many bytes; default 200 MiB. */
  | { readonly kind: 'gzipBomb'; readonly bytes?: number }
  /** The real body, labelled gzip, with a damaged stream. */
  | { readonly kind: 'brokenGzip' }
  /** Redirects to the given place, or to itself. Status 302 by default. */
  | { readonly kind: 'redirect'; readonly location?: string; readonly status?: number }
  /** The real response, byte by byte from the status line on; default every 50 ms. */
  | { readonly kind: 'slowHeaders'; readonly ms?: number }
  /** The real headers at once, the body byte by byte; default every 50 ms. */
  | { readonly kind: 'slowBody'; readonly ms?: number }
  /** The real response with a header of so many bytes; default 200 000. */
  | { readonly kind: 'hugeHeader'; readonly bytes?: number }
  /** The real response as keep-alive, after which the connection is closed. */
  | { readonly kind: 'closeAfterAnswer' }

export interface FaultOptions {
  /** How many requests are hit; default all until it is cleared. */
  readonly times?: number
  /** Hits only these requests, for example those of one grant type. */
  readonly when?: (request: LoggedRequest) => boolean
}

/** Something that applies to some requests of an endpoint. */
interface Rule<T> {
  readonly endpoint: Endpoint
  readonly value: T
  readonly when: (request: LoggedRequest) => boolean
  left: number
}

/** An ordered list of rules; the ones that were set later are asked first. */
export interface Rules<T> {
  set(endpoint: Endpoint, value: T, options?: FaultOptions): () => void
  /** The first rule that applies, counted as used. */
  take(request: LoggedRequest): T | undefined
  /** All rules that apply, the oldest first; `use` counts one. */
  matching(request: LoggedRequest): readonly { readonly value: T; readonly use: () => void }[]
  clear(endpoint?: Endpoint): void
}

export function createRules<T>(): Rules<T> {
  let rules: Rule<T>[] = []

  const applies = (rule: Rule<T>, request: LoggedRequest): boolean =>
    rule.endpoint === request.endpoint && rule.left > 0 && rule.when(request)
  const use = (rule: Rule<T>): T => {
    rule.left -= 1
    if (rule.left <= 0) rules = rules.filter((other) => other !== rule)
    return rule.value
  }
  return {
    set: (endpoint, value, { times = Number.POSITIVE_INFINITY, when = () => true } = {}) => {
      const rule: Rule<T> = { endpoint, value, when, left: times }
      rules = [...rules, rule]
      return () => {
        rules = rules.filter((other) => other !== rule)
      }
    },
    take: (request) => {
      const rule = rules.findLast((candidate) => applies(candidate, request))
      return rule && use(rule)
    },
    matching: (request) =>
      rules
        .filter((rule) => applies(rule, request))
        .map((rule) => ({ value: rule.value, use: () => void use(rule) })),
    clear: (endpoint) => {
      rules = endpoint === undefined ? [] : rules.filter((rule) => rule.endpoint !== endpoint)
    },
  }
}

/** The faults of one provider, in front of everything else. */
export interface Faults {
  /** Sets a fault at an endpoint; the latest one that applies is used. Returns its removal. */
  set(endpoint: Endpoint, fault: Fault, options?: FaultOptions): () => void
  /**
   * Destroys every connection at once, open ones included, until `clear` or `up`. Resolves when the clients in
   * this process have had a chance to notice.
   */
  down(): Promise<void>
  up(): void
  /** Takes all faults and rewrites away, or those of one endpoint. */
  clear(endpoint?: Endpoint): void
}
