import { CookieJar as ToughCookieJar } from 'tough-cookie'

/** Cookies as a browser keeps them: by host name without the port, by domain and path, with expiry. */
export interface CookieJar {
  /** Takes over the `Set-Cookie` lines of a response. */
  store(url: string, setCookie: readonly string[]): void
  /** Value for a `Cookie` header, empty when there is nothing to send. */
  header(url: string): string
  /** Names of the cookies that would be sent there. */
  names(url: string): readonly string[]
  clear(): void
}

export function createCookieJar(): CookieJar {
  // Secure cookies need https, on loopback too: what is tested there has to work elsewhere.
  const jar = new ToughCookieJar(undefined, { allowSecureOnLocal: false })
  return {
    store: (url, lines) => {
      // Like a browser: a cookie that the response may not set is ignored.
      for (const line of lines) jar.setCookieSync(line, url, { ignoreError: true })
    },
    header: (url) => jar.getCookieStringSync(url),
    names: (url) => jar.getCookiesSync(url).map(({ key }) => key),
    clear: () => jar.removeAllCookiesSync(),
  }
}
