import type { Code } from '../errors/code.ts'
import { codes } from '../errors/codes.ts'
import { json } from '../http/responses.ts'
import { defined } from '../lib/own-properties.ts'
import type { LoginParameters } from './check-session.ts'
import type { Requirements, Unmet } from './requirements.ts'

/** The code of each kind of requirement that is not met. */
export const UNMET_CODES: Readonly<Record<Unmet, Code>> = {
  authentication: 'INSUFFICIENT_USER_AUTHENTICATION',
  organization: 'WRONG_ORGANIZATION',
  scope: 'INSUFFICIENT_SCOPE',
}

/** Returns the response of a guard that rejects a request: JSON without data of the user. */
export function rejection(status: number, code: Code, login?: LoginParameters, challenge?: string): Response {
  const headers = challenge === undefined ? {} : { 'WWW-Authenticate': challenge }
  return json(status, { error: code.toLowerCase(), code, description: codes[code].message, login }, headers)
}

/**
 * Returns the Bearer challenge of RFC 9470 section 3 or RFC 6750 section 3.1; no standard defines one for organizations. Values
 * need no escaping: guard options cannot contain quotes or backslashes.
 */
export function toChallenge(unmet: Unmet, { acr, maxAge, scope }: Requirements): string | undefined {
  if (unmet === 'organization') return undefined
  const code = UNMET_CODES[unmet]
  const required =
    unmet === 'scope'
      ? { scope: scope?.join(' ') }
      : { acr_values: acr?.join(' '), max_age: maxAge?.toString() }
  const all = defined({ error: code.toLowerCase(), error_description: codes[code].message, ...required })
  const pairs = Object.entries(all).map(([name, value]) => `${name}="${value}"`)
  return `Bearer ${pairs.join(', ')}`
}
