/** Applies the cookies of responses as a browser does, without paths and domains: there is one page. */
export class Cookies {
  #values = new Map()

  take(response) {
    for (const line of response.headers.getSetCookie()) {
      const [pair, ...attributes] = line.split(';')
      const at = pair.indexOf('=')
      const name = pair.slice(0, at).trim()
      const ended = attributes.some((text) => {
        const [key, value = ''] = text.trim().toLowerCase().split('=')
        return (
          (key === 'max-age' && Number(value) <= 0) ||
          (key === 'expires' && Date.parse(text.split('=')[1]) < Date.now())
        )
      })
      if (ended) this.#values.delete(name)
      else this.#values.set(name, pair.slice(at + 1))
    }
    return response
  }

  get count() {
    return this.#values.size
  }

  /** Value of the header `Cookie`. */
  toString() {
    return [...this.#values].map(([name, value]) => `${name}=${value}`).join('; ')
  }
}
