import type { Cookie } from 'tough-cookie'
import { CookieJar, domainMatch, parse, pathMatch } from 'tough-cookie'

const MAX_BYTES = 4096
const MAX_ATTRIBUTE_BYTES = 1024

/** The line without the attributes that browsers ignore because of their length. */
function withoutLongAttributes(line: string): string {
  const [pair = '', ...attributes] = line.split(';')
  const short = attributes.filter((text) => text.slice(text.indexOf('=') + 1).length <= MAX_ATTRIBUTE_BYTES)
  return [pair, ...short].join(';')
}

/**
 * Keeps, sends, refuses and deletes cookies as browsers do (RFC 6265bis, sections 5.6 to 5.8): a jar of tough-cookie with
 * the rules that it does not have, which are sizes, `SameSite=None`, and that no cookie hides a Secure one.
 */
export class BrowserJar {
  readonly #jar = new CookieJar(undefined, { prefixSecurity: 'strict', allowSecureOnLocal: false })
  /** The rejected cookies, each with the reason. */
  readonly refused: string[] = []

  /** Takes a `Set-Cookie` line of a response from that URL. */
  take(line: string, url: URL): void {
    try {
      const cookie = parse(withoutLongAttributes(line))
      if (!cookie) throw new Error('malformed')
      this.#assertBrowserRules(cookie, url)
      this.#jar.setCookieSync(cookie, url.href)
    } catch (error) {
      this.refused.push(`${line.split('=', 1)[0]}: ${String(error)}`)
    }
  }

  /** The cookies that a request to that URL carries, the longest path first, then the oldest. */
  sent(url: URL): readonly { readonly name: string; readonly value: string }[] {
    return this.#jar.getCookiesSync(url.href).map(({ key, value }) => ({ name: key, value }))
  }

  header(url: URL): string {
    return this.#jar.getCookieStringSync(url.href)
  }

  /** Names of all that it keeps, wherever they belong. */
  names(): string[] {
    return this.#all().map(({ key }) => key)
  }

  clear(): void {
    this.#jar.removeAllCookiesSync()
  }

  #all(): Cookie[] {
    const cookies: Cookie[] = []
    this.#jar.store.getAllCookies((_error, all) => void cookies.push(...(all ?? [])))
    return cookies.filter((cookie) => cookie.TTL() > 0)
  }

  #assertBrowserRules({ domain, key, path, sameSite, secure, value }: Cookie, url: URL): void {
    if (key.length + value.length > MAX_BYTES) throw new Error('too large')
    if (sameSite === 'none' && !secure) throw new Error('SameSite=None, not Secure')
    if (secure || url.protocol === 'https:') return
    const host = domain ?? url.hostname
    const hides = this.#all().some(
      (other) =>
        other.secure &&
        other.key === key &&
        (domainMatch(other.domain ?? '', host) || domainMatch(host, other.domain ?? '')) &&
        pathMatch(path ?? url.pathname, other.path ?? '/'),
    )
    if (hides) throw new Error('it would hide a Secure one')
  }
}
