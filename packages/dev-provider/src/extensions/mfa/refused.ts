import type { BufferedResponse } from '../../wire/message.ts'
import { jsonResponse } from '../../wire/message.ts'

/** A request to the MFA API that is refused. */
export class Refused extends Error {
  readonly #status: number
  readonly #error: string
  readonly #headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    error: string,
    description: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(description)
    this.#status = status
    this.#error = error
    this.#headers = headers
  }

  toResponse(): BufferedResponse {
    const response = jsonResponse(this.#status, { error: this.#error, error_description: this.message })
    const challenge = this.#status === 401 ? { 'www-authenticate': `Bearer error="${this.#error}"` } : {}
    return { ...response, headers: { ...response.headers, ...challenge, ...this.#headers } }
  }
}
