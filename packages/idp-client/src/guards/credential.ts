import type { RequestView } from '../http/exchange.ts'
import type { Scheme } from './rejection.ts'

/** An access token, as a client sends it. */
export interface SentCredential {
  readonly scheme: Scheme
  readonly token: string
}

/** One credential of RFC 6750 section 2.1; a list of several has a comma, which a token cannot have. */
const CREDENTIAL = /^(bearer|dpop) +([\w.~+/-]+=*)$/i

/** A header that is or contains a token that cannot be read, unlike the Basic authentication of a staging server. */
const MALFORMED = /(?:^|[\s,])[^\w\s,]*(?:bearer|dpop)(?!\w)/i

/**
 * Reads the header `Authorization`; tokens in a query or a form are never read. Returns `null` without a token, also for a scheme
 * of other code.
 */
export function readCredential({ headers }: RequestView): SentCredential | 'malformed' | null {
  const header = headers.get('authorization') ?? ''
  const [, scheme, token] = CREDENTIAL.exec(header) ?? []
  if (scheme === undefined || token === undefined) return MALFORMED.test(header) ? 'malformed' : null
  return { scheme: scheme.toLowerCase() === 'dpop' ? 'DPoP' : 'Bearer', token }
}
