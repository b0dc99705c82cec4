interface Stored {
  readonly name: string
  readonly value: string
  readonly domain: string
  readonly hostOnly: boolean
  readonly path: string
  readonly secure: boolean
}

const MAX_BYTES = 4096
const MAX_ATTRIBUTE_BYTES = 1024

function attributesOf(parts: readonly string[]): Map<string, string> {
  const attributes = new Map<string, string>()
  for (const part of parts) {
    const [name = '', ...value] = part.split('=')
    const text = value.join('=').trim()
    if (text.length <= MAX_ATTRIBUTE_BYTES) attributes.set(name.trim().toLowerCase(), text)
  }
  return attributes
}

function domainMatches(host: string, domain: string): boolean {
  return host === domain || (host.endsWith(`.${domain}`) && !/^[\d.]+$/.test(host))
}

function pathMatches(path: string, cookiePath: string): boolean {
  if (path === cookiePath) return true
  return path.startsWith(cookiePath) && (cookiePath.endsWith('/') || path[cookiePath.length] === '/')
}

/** The reason why a browser takes no such cookie from there; undefined when it does. */
function refusal(cookie: Stored, attributes: ReadonlyMap<string, string>, url: URL): string | undefined {
  const { domain, hostOnly, name, path, secure, value } = cookie
  if (name.length + value.length > MAX_BYTES) return 'too large'
  if (!hostOnly && !domainMatches(url.hostname, domain)) return 'of another domain'
  if (secure && url.protocol !== 'https:') return 'Secure over http'
  if (attributes.get('samesite')?.toLowerCase() === 'none' && !secure) return 'SameSite=None, not Secure'
  if (/^__(?:secure|host)-/i.test(name) && !secure) return 'a prefix that demands Secure'
  const whole = hostOnly && path === '/' && attributes.has('path')
  return /^__host-/i.test(name) && !whole ? 'a prefix that demands the whole host' : undefined
}

/** Keeps, sends, refuses and deletes cookies as browsers do (RFC 6265bis sections 5.6 to 5.8), without their lifetimes. */
export class BrowserJar {
  #cookies: readonly Stored[] = []
  /** What was not taken, and why. */
  readonly refused: string[] = []

  /** Takes a `Set-Cookie` line of a response from that URL. */
  take(line: string, url: URL): void {
    const [pair = '', ...parts] = line.split(';')
    const attributes = attributesOf(parts)
    const given = attributes.get('domain')?.replace(/^\./, '').toLowerCase() ?? ''
    const path = attributes.get('path') ?? ''
    const cookie = {
      name: pair.slice(0, pair.indexOf('=')).trim(),
      value: pair.slice(pair.indexOf('=') + 1).trim(),
      domain: given || url.hostname,
      hostOnly: given === '',
      path: path.startsWith('/') ? path : url.pathname.slice(0, url.pathname.lastIndexOf('/')) || '/',
      secure: attributes.has('secure'),
    }
    const reason = refusal(cookie, attributes, url) ?? this.#hidden(cookie, url)
    if (reason) this.refused.push(`${cookie.name}: ${reason}`)
    else this.#store(cookie, Number(attributes.get('max-age') ?? 1) <= 0)
  }

  /** The cookies that a request to that URL carries, the longest path first, then the oldest. */
  sent(url: URL): readonly Stored[] {
    const host = url.hostname
    const fitting = this.#cookies.filter(
      ({ domain, hostOnly, path, secure }) =>
        (hostOnly ? host === domain : domainMatches(host, domain)) &&
        pathMatches(url.pathname, path) &&
        (!secure || url.protocol === 'https:'),
    )
    return [...fitting].sort((a, b) => b.path.length - a.path.length)
  }

  header(url: URL): string {
    return this.sent(url)
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
  }

  /** Names of all that it keeps, wherever they belong. */
  names(): string[] {
    return this.#cookies.map(({ name }) => name)
  }

  #hidden({ domain, name, path, secure }: Stored, url: URL): string | undefined {
    if (secure || url.protocol === 'https:') return undefined
    const hides = this.#cookies.some(
      (other) =>
        other.secure &&
        other.name === name &&
        (domainMatches(other.domain, domain) || domainMatches(domain, other.domain)) &&
        pathMatches(path, other.path),
    )
    return hides ? 'it would hide a Secure one' : undefined
  }

  #store(cookie: Stored, isDeletion: boolean): void {
    const same = (other: Stored): boolean =>
      (['name', 'domain', 'hostOnly', 'path'] as const).every((key) => other[key] === cookie[key])
    if (isDeletion) this.#cookies = this.#cookies.filter((other) => !same(other))
    else if (this.#cookies.some(same)) {
      this.#cookies = this.#cookies.map((other) => (same(other) ? cookie : other))
    } else this.#cookies = [...this.#cookies, cookie]
  }
}
