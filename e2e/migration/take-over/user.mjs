import { request as httpRequest } from 'node:http'
import { CookieJar } from 'tough-cookie'

const fetched = { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }
const navigated = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

/**
 * A browser that visits applications on several ports, which share its cookies. It sends the headers that `fetch` of Node.js does not
 * leave to its caller: those by which a visit of a page differs from a request of a script.
 */
export class User {
  #jar = new CookieJar()
  #base

  /** @param {string} base of relative URLs */
  constructor(base) {
    this.#base = base
  }

  /** A request of a script. */
  request(path, options = {}) {
    return this.#send(path, { ...options, headers: { ...fetched, ...options.headers } })
  }

  /** A visit of a page. */
  visit(path, options = {}) {
    return this.#send(path, { ...options, headers: { ...navigated, ...options.headers } })
  }

  cookieHeader() {
    return this.#jar.getCookieString(this.#base)
  }

  cookieNames() {
    return this.#jar.getCookiesSync(this.#base).map(({ key }) => key)
  }

  async #send(path, { method = 'GET', headers, body }) {
    const url = new URL(path, this.#base).href
    const cookie = await this.#jar.getCookieString(url)
    const form = body && { 'content-type': 'application/x-www-form-urlencoded' }
    const sent = httpRequest(url, {
      method,
      headers: { ...(cookie === '' ? {} : { cookie }), 'sec-fetch-site': 'same-origin', ...form, ...headers },
    })
    const response = await new Promise((resolve, reject) => {
      sent.on('response', resolve).on('error', reject).end(body?.toString())
    })
    const chunks = []
    for await (const chunk of response) chunks.push(chunk)
    for (const line of response.headers['set-cookie'] ?? []) await this.#jar.setCookie(line, url)
    const { location } = response.headers
    return { status: response.statusCode, location, text: Buffer.concat(chunks).toString() }
  }
}
