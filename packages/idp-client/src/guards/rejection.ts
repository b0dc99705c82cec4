import type { Code } from '../errors/code.ts'
import { codes } from '../errors/codes.ts'
import { json } from '../http/responses.ts'
import { defined } from '../lib/objects.ts'
import { unitedScope } from '../session/model/scope.ts'
import type { LoginParameters } from './check-session.ts'
import type { Requirements, Unmet } from './requirements.ts'

/** The code of each kind of requirement that is not met. */
export const UNMET_CODES: Readonly<Record<Unmet, Code>> = {
  authentication: 'INSUFFICIENT_USER_AUTHENTICATION',
  organization: 'WRONG_ORGANIZATION',
  scope: 'INSUFFICIENT_SCOPE',
}

/** Details of a rejection beside its code. */
interface RejectionDetails {
  /** Default: that of the code. */
  readonly status?: number
  readonly challenge?: string | undefined
  /** The login that can help. */
  readonly login?: LoginParameters | undefined
}

/** Returns the response of a guard that rejects a request: JSON without data of the user. */
export function rejection(
  code: Code,
  { challenge, login, status = codes[code].status }: RejectionDetails = {},
): Response {
  const headers = challenge === undefined ? {} : { 'WWW-Authenticate': challenge }
  return json(status, { error: code.toLowerCase(), code, description: codes[code].message, login }, headers)
}

/** The scheme of a credential, as in a challenge. */
export type Scheme = 'Bearer' | 'DPoP'

/**
 * Returns a challenge (RFC 6750 section 3, RFC 9449 section 7.1, RFC 9470 section 3). Its values need no escaping: options of
 * guards, scopes of tokens and messages have no quotes or backslashes.
 *
 * @param code absent if the request has no credential.
 */
export function toChallenge(
  scheme: Scheme,
  code: Code | undefined,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const error = code && { error: code.toLowerCase(), error_description: codes[code].message }
  const pairs = Object.entries(defined({ ...error, ...parameters })).map(
    ([name, value]) => `${name}="${value}"`,
  )
  return `${scheme} ${pairs.join(', ')}`
}

/**
 * Returns the parameters of the challenge for a requirement; `undefined` for organizations, for which no standard defines any.
 *
 * @param present the scope of the client's token, which it needs beside the required one.
 */
export function unmetParameters(
  unmet: Unmet,
  { acr, maxAge, scope = [] }: Requirements,
  present = '',
): Readonly<Record<string, string | undefined>> | undefined {
  if (unmet === 'organization') return undefined
  if (unmet === 'scope') return { scope: unitedScope(...scope, present) }
  return { acr_values: acr?.join(' '), max_age: maxAge?.toString() }
}
