import { text, utf8 } from '../lib/utf8.ts'

/** Maximum length of a header that is remembered, in characters. */
const LENGTH_LIMIT = 2048

/** The headers of verified tokens, by their encoding: the tokens of one key share it. */
export class VerifiedHeaders<Header> {
  readonly #limit: number
  /** Not an `Lru`, whose `get` would replace the key by a part of the caller's token. */
  readonly #headers = new Map<string, Header>()

  /** @param limit number of headers to remember; the oldest is forgotten first. */
  constructor(limit: number) {
    this.#limit = limit
  }

  get(encoded: string): Header | undefined {
    return encoded.length > LENGTH_LIMIT ? undefined : this.#headers.get(encoded)
  }

  /** Remembers a header. Only after its token was verified, so that strangers cannot displace others. */
  add(encoded: string, header: Header): void {
    if (encoded.length > LENGTH_LIMIT || this.#headers.has(encoded)) return
    // A copy: a part of a string keeps the whole string in memory, which is the token.
    this.#headers.set(text(utf8(encoded)), header)
    const [oldest] = this.#headers.keys()
    if (this.#headers.size > this.#limit && oldest !== undefined) this.#headers.delete(oldest)
  }
}
