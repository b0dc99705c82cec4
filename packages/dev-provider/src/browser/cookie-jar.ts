interface Cookie {
  readonly name: string
  readonly value: string
  readonly path: string
  readonly secure: boolean
  /** Milliseconds since the epoch; absent for a session cookie. */
  readonly expires?: number
}

/**
 * Cookies as a browser keeps them: by host name without the port, by path, with expiry. Domain cookies are
 * kept for the host that set them, which is all that loopback needs.
 */
export interface CookieJar {
  /** Takes over the `Set-Cookie` lines of a response. */
  store(url: string, setCookie: readonly string[]): void
  /** Value for a `Cookie` header, empty when there is nothing to send. */
  header(url: string): string
  /** Names of the cookies that would be sent there. */
  names(url: string): readonly string[]
  clear(): void
}

function attributesOf(parts: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    parts.map((part) => {
      const [name = '', ...value] = part.split('=')
      return [name.trim().toLowerCase(), value.join('=').trim()]
    }),
  )
}

function expiryOf(attributes: ReadonlyMap<string, string>): number | undefined {
  const maxAge = attributes.get('max-age')
  if (maxAge !== undefined) return Date.now() + Number(maxAge) * 1000
  const expires = attributes.get('expires')
  return expires === undefined ? undefined : Date.parse(expires)
}

function parse(line: string, url: URL): Cookie {
  const [pair = '', ...rest] = line.split(';')
  const attributes = attributesOf(rest)
  const at = pair.indexOf('=')
  const path = attributes.get('path')
  const expires = expiryOf(attributes)
  return {
    name: pair.slice(0, at).trim(),
    value: pair.slice(at + 1).trim(),
    path: path?.startsWith('/') ? path : url.pathname.slice(0, url.pathname.lastIndexOf('/')) || '/',
    secure: attributes.has('secure'),
    ...(expires === undefined ? {} : { expires }),
  }
}

function covers(path: string, requested: string): boolean {
  return requested === path || requested.startsWith(path.endsWith('/') ? path : `${path}/`)
}

export function createCookieJar(): CookieJar {
  const hosts = new Map<string, Map<string, Cookie>>()

  const matching = (address: string): Cookie[] => {
    const url = new URL(address)
    return [...(hosts.get(url.hostname)?.values() ?? [])]
      .filter((cookie) => cookie.expires === undefined || cookie.expires > Date.now())
      .filter((cookie) => covers(cookie.path, url.pathname))
      .filter((cookie) => !cookie.secure || url.protocol === 'https:')
      .sort((one, other) => other.path.length - one.path.length)
  }
  return {
    store: (address, lines) => {
      const url = new URL(address)
      const cookies = hosts.get(url.hostname) ?? new Map<string, Cookie>()
      hosts.set(url.hostname, cookies)
      for (const cookie of lines.map((line) => parse(line, url))) {
        cookies.set(`${cookie.name}\n${cookie.path}`, cookie)
      }
    },
    header: (url) =>
      matching(url)
        .map(({ name, value }) => `${name}=${value}`)
        .join('; '),
    names: (url) => matching(url).map(({ name }) => name),
    clear: () => hosts.clear(),
  }
}
