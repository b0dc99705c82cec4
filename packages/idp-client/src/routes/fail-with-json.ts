import type { IdpError } from '../errors/base.ts'
import { errorJson } from '../http/responses.ts'
import { statusOf } from './status.ts'

/** The answer of routes that code meets. */
export function failWithJson(error: IdpError): Response {
  return errorJson(statusOf(error), error.code)
}
