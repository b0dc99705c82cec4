import { IdpError } from '../errors/base.ts'

/** The JSON object of a request. Read its properties by name only: the client decides which ones it has. */
export type JsonBody = { readonly [property: string]: unknown }

function refused(detail: string): IdpError<'INVALID_REQUEST'> {
  return new IdpError('INVALID_REQUEST', { detail })
}

/** Validates a parsed body; throws `INVALID_REQUEST` for a content type other than JSON, or if it is not an object. */
export function jsonBody(contentType: string | null, value: unknown): JsonBody {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/json') throw refused('The body must be application/json.')
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonBody
  throw refused('The body must be a JSON object.')
}

function tryParse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    // The parser's own error quotes the input.
    return undefined
  }
}

export function parseJson(contentType: string | null, body: string): JsonBody {
  return jsonBody(contentType, tryParse(body))
}
