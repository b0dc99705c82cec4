import type { IdpError } from './base.ts'
import { isIdpError } from './base.ts'
import { codes } from './codes.ts'

/** The error and those of ours that caused it, the outermost first. */
export function listCauses(error: IdpError): readonly IdpError[] {
  const all: IdpError[] = []
  let current: unknown = error
  while (isIdpError(current) && all.length < 6) {
    all.push(current)
    current = current.cause
  }
  return all
}

/** Returns the sentence of the error's code, those of its causes, and the facts, also in production; without fixes. */
export function describe(error: IdpError): string {
  return listCauses(error).reduceRight((inner, { code, detail, message, name }) => {
    // `detail` of the account API's error is text of the provider.
    const facts = name === 'AccountApiError' ? undefined : detail
    return [codes[code]?.message ?? message, inner, facts].filter(Boolean).join(' ')
  }, '')
}
