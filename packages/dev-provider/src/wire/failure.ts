import type { BufferedResponse } from './message.ts'
import { isRecord, parseJson } from './message.ts'

/** An error that the provider responded with. */
export interface Failure {
  /** OAuth error code, or the title of a problem document (RFC 9457). */
  readonly error: string
  /** The problem with the request, often in more detail than in the response. */
  readonly reason: string
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Returns the failure that is attached to a response, or reads it from the JSON body. */
export function readFailure(response: BufferedResponse): Failure | undefined {
  if (response.failure || response.status < 400) return response.failure
  const body = parseJson(response) ?? {}
  const { error, error_description: description, title, detail, validation_errors: problems } = body
  const code = text(error) || text(title)
  if (code === '') return undefined
  const fields = Array.isArray(problems) ? problems.filter(isRecord) : []
  const details = fields.map((problem) => text(problem['detail']))
  return { error: code, reason: [text(description) || text(detail), ...details].join('; ') }
}
