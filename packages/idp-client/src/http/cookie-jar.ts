import { defined } from '../lib/objects.ts'
import { parseCookies } from './cookie-text.ts'

export type SameSite = 'strict' | 'lax' | 'none'

/** Attributes that the deletion of a cookie must repeat. HttpOnly is always set. */
export interface CookieScope {
  readonly path: string
  readonly domain?: string
  readonly secure: boolean
  readonly sameSite: SameSite
}

/** Attributes as they are configured. */
export interface CookieSettings extends Omit<CookieScope, 'secure'> {
  /** `'from-base-url'`: Secure when the base URL of the request is https. */
  readonly secure: boolean | 'from-base-url'
}

/** Returns the attributes of a cookie for one request: `secure` may depend on the base URL. */
export function cookieScope(
  { path, domain, secure, sameSite }: CookieSettings,
  baseUrl: () => string,
): CookieScope {
  const isSecure = secure === 'from-base-url' ? baseUrl().startsWith('https:') : secure
  return defined({ path, domain, secure: isSecure, sameSite })
}

export interface CookieSpec {
  readonly name: string
  readonly scope: CookieScope
}

/** Attributes for host writers; `maxAge` in seconds, absent = until the browser closes, 0 = delete. */
export interface CookieAttributes extends CookieScope {
  readonly httpOnly: true
  readonly maxAge?: number
}

/** Structurally satisfied by `cookies()` of next/headers, by `NextResponse.cookies` and by our own header sink. */
export interface CookieSink {
  set(name: string, value: string, attributes: CookieAttributes): unknown
}

export interface StagedCookie {
  readonly name: string
  readonly value: string
  readonly attributes: CookieAttributes
}

/** Received values by name; several if a name occurred several times, in the order of the header. */
export type ReceivedCookies = ReadonlyMap<string, string | readonly string[]>

/** Decodes percent-encoding of host writers (Next.js turns a colon into `%3A`); malformed values are unchanged. */
export function decodeCookieValue(value: string): string {
  if (!value.includes('%')) return value
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

/**
 * The cookies of one request and the staged writes. Reads see staged writes; the last write per name wins; nothing
 * reaches the browser until the host's binding calls `flush`.
 */
export class CookieJar {
  #source: string | null | ReceivedCookies
  // Created by the first write: few requests have one.
  #staged: Map<string, StagedCookie> | undefined
  #pending: Set<string> | undefined
  #outdated: ((cookie: StagedCookie) => boolean)[] | undefined
  #afterFlush: (() => void)[] | undefined

  /** @param received the `Cookie` header, which is parsed when it is needed, or the cookies of a host that parses it. */
  constructor(received: string | null | ReceivedCookies) {
    this.#source = received
  }

  get #received(): ReceivedCookies {
    if (typeof this.#source === 'string' || this.#source === null) this.#source = parseCookies(this.#source)
    return this.#source
  }

  /** Whether there is a write that no sink has accepted yet. */
  get isPending(): boolean {
    return this.#pending !== undefined && this.pending().length > 0
  }

  /** Returns the first value of the name. */
  get(name: string): string | undefined {
    const [first] = this.#values(name)
    return first === undefined ? undefined : decodeCookieValue(first)
  }

  /**
   * Returns every value of the name. A browser sends several if cookies of other domains or paths have the same name.
   */
  all(name: string): readonly string[] {
    return this.#values(name).map(decodeCookieValue)
  }

  /** Returns the values after the staged writes. */
  #values(name: string): readonly string[] {
    const staged = this.#staged?.get(name)
    if (staged) return staged.attributes.maxAge === 0 ? [] : [staged.value]
    const received = this.#received.get(name) ?? []
    return typeof received === 'string' ? [received] : received
  }

  /** Returns the names with this start that have a value, received ones first. */
  names(start = ''): string[] {
    const names = [...this.#received.keys(), ...(this.#staged?.keys() ?? [])]
    const found = names.filter((name) => name.startsWith(start))
    return [...new Set(found)].filter((name) => this.#values(name).length > 0)
  }

  set(spec: CookieSpec, value: string, maxAge?: number): void {
    const attributes = defined({ ...spec.scope, httpOnly: true, maxAge })
    this.#staged ??= new Map()
    this.#staged.set(spec.name, { name: spec.name, value, attributes })
    this.#pending ??= new Set()
    this.#pending.add(spec.name)
  }

  /**
   * Stages a deletion with the attributes of the write, because browsers match name, path, domain and (newer ones)
   * Secure.
   */
  clear(spec: CookieSpec): void {
    this.set(spec, '', 0)
  }

  /** Returns the writes that no sink has accepted yet, without those that are out of date. */
  pending(): readonly StagedCookie[] {
    const names = [...(this.#pending ?? [])].filter((name) => !this.isOutdated(name))
    return names.flatMap((name) => this.#staged?.get(name) ?? [])
  }

  /** Returns whether the write of a name must not reach the browser any more. */
  isOutdated(name: string): boolean {
    const cookie = this.#staged?.get(name)
    return cookie !== undefined && this.#outdated?.some((isOutdated) => isOutdated(cookie)) === true
  }

  /**
   * Withdraws those of the writes that are staged now for which `isOutdated` returns true by the time that the response leaves. A later
   * write of the same name is another one.
   */
  withdrawIf(isOutdated: (cookie: StagedCookie) => boolean): void {
    const staged = new Set(this.#staged?.values())
    this.#outdated ??= []
    this.#outdated.push((cookie) => staged.has(cookie) && isOutdated(cookie))
  }

  /**
   * Passes every pending write to the host. A host that cannot write throws at the first one, so that nothing is
   * written partially.
   */
  flush(sink: CookieSink): void {
    for (const { name, value, attributes } of this.pending()) {
      sink.set(name, value, attributes)
      this.#pending?.delete(name)
    }
    for (const done of this.#afterFlush?.splice(0) ?? []) done()
  }

  /** Passes every pending write to a sink whose cookies may not reach the browser; they stay pending. */
  copyTo(sink: CookieSink): void {
    for (const { name, value, attributes } of this.pending()) sink.set(name, value, attributes)
  }

  /** Runs `done` after the next successful flush. */
  whenFlushed(done: () => void): void {
    this.#afterFlush ??= []
    this.#afterFlush.push(done)
  }

  /**
   * Returns every cookie as a request would carry it after the staged writes, received ones unmodified; for hosts that
   * forward the request.
   */
  entries(): readonly (readonly [string, string])[] {
    return this.names().flatMap((name) => this.#values(name).map((value) => [name, value] as const))
  }
}
