import type { Answer } from '../../wire/message.ts'
import { jsonAnswer } from '../../wire/message.ts'

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

  answer(): Answer {
    const answer = jsonAnswer(this.#status, { error: this.#error, error_description: this.message })
    const challenge = this.#status === 401 ? { 'www-authenticate': `Bearer error="${this.#error}"` } : {}
    return { ...answer, headers: { ...answer.headers, ...challenge, ...this.#headers } }
  }
}
