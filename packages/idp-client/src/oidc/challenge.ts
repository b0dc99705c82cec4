/** A token of RFC 9110 section 5.6.2, at the current position. */
const TOKEN = /[!#$%&'*+.^_`|~\w-]+/y
const SPACE = /[ \t]*/y

/** Scans a header value from left to right and visits every character once. */
class Scanner {
  #at = 0
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  get done(): boolean {
    return this.#at >= this.#text.length
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const [found = ''] = pattern.exec(this.#text) ?? []
    this.#at += found.length
    return found
  }

  token(): string {
    return this.#match(TOKEN)
  }

  /** Skips white space, then the character if it is next. */
  takes(character: string): boolean {
    this.#match(SPACE)
    if (this.#text[this.#at] !== character) return false
    this.#at += 1
    return true
  }

  skip(): void {
    this.#at += 1
  }

  /** Returns the rest of a quoted string, unescaped. */
  quoted(): string {
    let value = ''
    while (!this.done) {
      const character = this.#text[this.#at++]
      if (character === '"') break
      value += character === '\\' ? (this.#text[this.#at++] ?? '') : character
    }
    return value
  }
}

/**
 * Returns a parameter of a challenge in `WWW-Authenticate` (RFC 9110 section 11.6.1), or `null`. Names of schemes and
 * parameters are case-insensitive. Runs in linear time, because the header is untrusted.
 *
 * @param scheme in lower case.
 * @param name in lower case.
 */
export function challengeParameter(header: string, scheme: string, name: string): string | null {
  const scanner = new Scanner(header)
  let current = ''
  while (!scanner.done) {
    const word = scanner.token()
    if (word === '') scanner.skip()
    else if (!scanner.takes('=')) current = word.toLowerCase()
    else {
      const value = scanner.takes('"') ? scanner.quoted() : scanner.token()
      if (current === scheme && word.toLowerCase() === name) return value
    }
  }
  return null
}
