export type SameSite = 'strict' | 'lax' | 'none'

/** Everything of a cookie that its deletion must repeat. HttpOnly is not here: it is always set. */
export interface CookieScope {
  readonly path: string
  readonly domain?: string
  readonly secure: boolean
  readonly sameSite: SameSite
}

export interface CookieSpec {
  readonly name: string
  readonly scope: CookieScope
}

/** Attributes as host writers take them; `maxAge` in seconds, absent = until the browser closes, 0 = delete. */
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

/** The cookies of a request: values by name, several if a name occurs several times, in the order of the header. */
export type ReceivedCookies = ReadonlyMap<string, string | readonly string[]>

/** Host writers that percent-encode (Next turns a colon into `%3A`) are undone here; what is malformed stays as it is. */
function decoded(value: string): string {
  if (!value.includes('%')) return value
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

/**
 * The cookies of one request with the writes staged on top. Reads see staged writes; the last write per name wins;
 * nothing reaches the browser until the host's binding flushes.
 */
export class CookieJar {
  readonly #received: ReceivedCookies
  readonly #staged = new Map<string, StagedCookie>()
  readonly #pending = new Set<string>()
  readonly #afterFlush: (() => void)[] = []

  constructor(received: ReceivedCookies) {
    this.#received = received
  }

  /** The first value of the name. */
  get(name: string): string | undefined {
    const [first] = this.#values(name)
    return first === undefined ? undefined : decoded(first)
  }

  /** Every value of the name. A browser sends several when cookies of other domains or paths have the same name. */
  all(name: string): readonly string[] {
    return this.#values(name).map(decoded)
  }

  /** As they would be sent after the staged writes. */
  #values(name: string): readonly string[] {
    const staged = this.#staged.get(name)
    if (staged) return staged.attributes.maxAge === 0 ? [] : [staged.value]
    const received = this.#received.get(name)
    if (received === undefined) return []
    return typeof received === 'string' ? [received] : received
  }

  /** Names that a read would find, received ones first. */
  names(): string[] {
    const all = new Set([...this.#received.keys(), ...this.#staged.keys()])
    return [...all].filter((name) => this.#values(name).length > 0)
  }

  set(spec: CookieSpec, value: string, maxAge?: number): void {
    const attributes = { ...spec.scope, httpOnly: true, ...(maxAge === undefined ? {} : { maxAge }) } as const
    this.#staged.set(spec.name, { name: spec.name, value, attributes })
    this.#pending.add(spec.name)
  }

  /** Deletes with the very attributes of the write, since browsers match name, path, domain and (newer ones) Secure. */
  clear(spec: CookieSpec): void {
    this.set(spec, '', 0)
  }

  /** Writes that no sink has taken yet. */
  pending(): readonly StagedCookie[] {
    return [...this.#pending].flatMap((name) => this.#staged.get(name) ?? [])
  }

  /** Hands every pending write to the host. A host that refuses throws at the first one, so nothing is half-written. */
  flush(sink: CookieSink): void {
    for (const { name, value, attributes } of this.pending()) {
      sink.set(name, value, attributes)
      this.#pending.delete(name)
    }
    for (const done of this.#afterFlush.splice(0)) done()
  }

  /** Runs `done` once what is staged now has been handed to the host; never, if that does not happen. */
  whenFlushed(done: () => void): void {
    this.#afterFlush.push(done)
  }

  /**
   * Every cookie as a request would carry it after the staged writes, received ones letter for letter; for hosts that
   * forward the request.
   */
  entries(): readonly (readonly [string, string])[] {
    return this.names().flatMap((name) => this.#values(name).map((value) => [name, value] as const))
  }
}
