import { CookieJar } from 'tough-cookie'

/** A browser without pages: keeps cookies and follows no redirect. Requests may be concurrent. */
export class CookieBrowser {
  readonly #jar: CookieJar

  constructor(jar = new CookieJar()) {
    this.#jar = jar
  }

  /** Value of the `Cookie` header for a URL. */
  header(url: string): string {
    return this.#jar.getCookieStringSync(url)
  }

  async send(url: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    headers.set('cookie', this.header(url))
    const response = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) this.#jar.setCookieSync(line, url)
    return response
  }

  /** Returns a browser with the same cookies, which does not share later ones. */
  copy(): CookieBrowser {
    return new CookieBrowser(this.#jar.cloneSync())
  }

  clear(): void {
    this.#jar.removeAllCookiesSync()
  }
}
