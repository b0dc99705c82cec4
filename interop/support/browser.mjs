import { CookieJar } from 'tough-cookie'

/** Redirects and forms in a row; more is a loop. */
const STEPS = 25

/** Decodes the text of an HTML attribute. */
const decode = (text) =>
  text
    .replace(/&quot;/g, '"')
    .replace(/&#39;|&#x27;/g, "'")
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&amp;/g, '&')

function attributes(tag) {
  const pairs = [...tag.matchAll(/([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)]
  return Object.fromEntries(pairs.map(([, name, double, single]) => [name, decode(double ?? single)]))
}

/** Returns the first form of a page that is submitted by POST, with the values of its fields; null without one. */
export function firstForm(html, url) {
  for (const [, opening, content] of html.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/gi)) {
    const { action = '', method = 'get' } = attributes(opening)
    if (method.toLowerCase() !== 'post') continue
    const inputs = [...content.matchAll(/<input\b([^>]*)>/gi)].map(([, tag]) => attributes(tag))
    const fields = inputs.filter(({ name, type }) => name && type !== 'submit' && type !== 'checkbox')
    return {
      action: new URL(action, url).href,
      fields: new Map(fields.map(({ name, value = '' }) => [name, value])),
    }
  }
  return null
}

/** A browser without scripts: keeps cookies, follows redirects, and fills in the forms of a provider as one user. */
export class Browser {
  #jar

  constructor(jar = new CookieJar()) {
    this.#jar = jar
  }

  /** Sends one request with the cookies of its URL, and keeps those of the response. */
  async request(address, init = {}) {
    const url = new URL(address)
    const headers = new Headers(init.headers)
    headers.set('accept', headers.get('accept') ?? 'text/html,application/xhtml+xml')
    const cookies = this.#jar.getCookieStringSync(url.href)
    if (cookies !== '') headers.set('cookie', cookies)
    const response = await fetch(url, {
      ...init,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(60_000),
    })
    // Like a browser: a cookie that the response must not set is ignored.
    for (const line of response.headers.getSetCookie())
      this.#jar.setCookieSync(line, url.href, { ignoreError: true })
    return response
  }

  /** Returns the `Cookie` header of a request to that URL. */
  cookieHeader(address) {
    return this.#jar.getCookieStringSync(address)
  }

  /** Removes the cookies of one host. */
  forget(hostname) {
    this.#jar.store.removeCookies(hostname, null, () => {})
  }

  /** Returns a browser with the same cookies, which does not share later ones. */
  copy() {
    return new Browser(this.#jar.cloneSync())
  }

  /**
   * Opens a page, follows redirects and submits forms that have fields named in `values` (strings, or functions that
   * return one). Without `values` no form is submitted.
   *
   * @returns {Promise<{ status: number, url: URL, text: string, filled: string[] }>} the last page, and the names of
   *   the fields that were filled in on the way
   */
  async open(address, values) {
    const filled = []
    let next = { url: new URL(address), init: {} }
    for (let step = 0; step < STEPS; step++) {
      const response = await this.request(next.url, next.init)
      const text = await response.text()
      const location = response.headers.get('location')
      if (location && response.status >= 300 && response.status < 400) {
        next = { url: new URL(location, next.url), init: {} }
        continue
      }
      const submission = values && fill(firstForm(text, next.url), values, filled)
      if (!submission) return { status: response.status, url: next.url, text, filled }
      next = submission
    }
    throw new Error(
      `more than ${STEPS} redirects and forms, the last one at ${next.url.host}${next.url.pathname}`,
    )
  }

  /** Opens a JSON resource without following redirects. */
  async json(address, init) {
    const response = await this.request(address, { ...init, headers: { accept: 'application/json' } })
    const text = await response.text()
    return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text }
  }
}

/** Returns the request that submits a form; undefined when there is no form, or no field of it has a value. */
function fill(form, values, filled) {
  if (!form) return undefined
  const body = new URLSearchParams([...form.fields])
  const given = [...form.fields.keys()].filter((name) => values[name] !== undefined)
  if (given.length === 0) return undefined
  for (const name of given) {
    const value = values[name]
    body.set(name, typeof value === 'function' ? value() : value)
    filled.push(name)
  }
  return { url: new URL(form.action), init: { method: 'POST', body } }
}
