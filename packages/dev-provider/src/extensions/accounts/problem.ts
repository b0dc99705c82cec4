import type { BufferedResponse } from '../../wire/message.ts'
import { jsonResponse } from '../../wire/message.ts'

/** One thing that is wrong with a request. */
export interface ValidationError {
  readonly detail: string
  readonly field: string
}

const TITLES = {
  400: 'Invalid Request',
  401: 'Unauthorized',
  403: 'Insufficient Scope',
  404: 'Not Found',
  405: 'Method Not Allowed',
  415: 'Unsupported Media Type',
} as const

interface Details {
  readonly validationErrors?: readonly ValidationError[]
  readonly headers?: Readonly<Record<string, string>>
}

/** An error response of the account API (RFC 9457), thrown to the code that sends it. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly status: keyof typeof TITLES
  readonly #details: Details

  constructor(status: keyof typeof TITLES, detail: string, details: Details = {}) {
    super(detail)
    this.status = status
    this.#details = details
  }

  toResponse(): BufferedResponse {
    const { validationErrors, headers } = this.#details
    const response = jsonResponse(this.status, {
      type: `https://auth0.com/api-errors/A0E-${this.status}-0001`,
      title: TITLES[this.status],
      detail: this.message,
      status: this.status,
      ...(validationErrors ? { validation_errors: validationErrors } : {}),
    })
    return {
      ...response,
      headers: { ...response.headers, 'content-type': 'application/problem+json', ...headers },
    }
  }
}
