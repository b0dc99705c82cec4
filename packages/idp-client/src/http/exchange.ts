import type { MaybePromise } from '../lib/chain.ts'
import { conclude } from '../lib/chain.ts'
import type { JsonBody } from './body.ts'
import type { CookieJar } from './cookie-jar.ts'

/** The headers of a request; hosts without Web headers need not create any. */
export type RequestHeaders = Pick<Headers, 'get' | 'has'>

/** The view of a request that operations read; every host builds one. */
export interface RequestView {
  readonly headers: RequestHeaders
  /** The method that arrived. */
  readonly method: string
  /** The method by which the host chooses a handler; absent if it cannot differ. */
  readonly routedMethod?: string | undefined
  /**
   * The absolute URL as this process received it; null if the host does not provide one (a Server Component).
   */
  readonly url: URL | null
  /**
   * Path of the request without the prefixes that the host itself manages (base path, locale). Default: the path of
   * `url`.
   */
  readonly path?: string
  /** The prefix that the host has removed from `path` (`/prefix`), without the locale. Absent: none, or unknown. */
  readonly prefix?: string
  /** Returns the URL-encoded body; rebuilds it if another parser has already consumed it. */
  form(): Promise<URLSearchParams>
  /** Returns the JSON object in the body, in the same way. Throws `INVALID_REQUEST` for anything else. */
  json(): Promise<JsonBody>
  /** Path and query exactly as they arrived; absent where the host does not tell. */
  readonly target?: string
  /** Returns the body as it arrives, to send it on; absent where the host has none. Throws `PROXY_BODY_CONSUMED` if it was read. */
  transfer?(): Transfer
}

/** The body of a request that is sent on as it arrives. */
export interface Transfer {
  /** Null without a body. */
  readonly body: ReadableStream<Uint8Array> | null
  /** Calls `listener` if the client leaves, until the returned function is called. */
  onLeave(listener: () => void): () => void
}

/** The cookies of one request, and what the library keeps for as long as the request lasts. */
export interface RequestCookies {
  readonly cookies: CookieJar
  readonly slots: RequestSlots
}

/** The state that all operations of one request share. */
export interface RequestSlots {
  /** The session of each client in this request, by the client's configuration; only `session/session-slot.ts` reads it. */
  byConfig?: Map<object, object>
  /** The DPoP proofs that guards of this request have used; only `guards/used-proofs.ts` reads it. */
  proofs?: readonly UsedProof[]
}

export interface UsedProof {
  readonly name: string
  /** The store that remembers it; undefined if this process does. */
  readonly store: object | undefined
  /** False if an earlier request had used it. */
  readonly isNew: Promise<boolean>
}

/** One request and its cookies: the interface between operations and hosts. Writes are staged in `cookies`. */
export interface Exchange extends RequestCookies {
  readonly request: RequestView
  /** Whether staged cookies can reach the browser; checked before a refresh token or a code is redeemed. */
  canWrite(): boolean
}

/** A request of a host, and the function that writes its cookies. */
export interface Binding {
  readonly exchange: Exchange
  /** Flushes the staged cookies. Returns false if any are left, because the host accepts no cookies here. */
  commit(): MaybePromise<boolean>
  /** Forbids caches to store the response (`noStoreByDefault`); absent where the host offers none. */
  forbidStoring?(): void
}

/**
 * Runs an operation on a request and flushes the cookies that it staged, also if it throws: a rejected refresh token, for
 * example, must not be tried again.
 */
export function within<T>(
  binding: Binding,
  operation: (exchange: Exchange) => MaybePromise<T>,
): MaybePromise<T> {
  return conclude(
    () => operation(binding.exchange),
    () => binding.commit(),
  )
}
