import type { RequestView } from '../http/exchange.ts'
import type { Scheme } from './rejection.ts'

/** An access token, as a client sends it. */
export interface SentCredential {
  readonly kind: 'token'
  readonly scheme: Scheme
  readonly token: string
}

type Credential =
  | SentCredential
  | { readonly kind: 'none' }
  /** A scheme of other code, such as the Basic authentication of a staging server. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'malformed' }

/** One credential of RFC 6750 section 2.1; a list of several has a comma, which a token cannot have. */
const CREDENTIAL = /^(bearer|dpop) +([\w.~+/-]+=*)$/i

/** Reads the header `Authorization`; tokens in a query or a form are never read. */
export function readCredential({ headers }: RequestView): Credential {
  const header = headers.get('authorization')?.trim()
  if (header === undefined) return { kind: 'none' }
  const [, scheme, token] = CREDENTIAL.exec(header) ?? []
  if (scheme === undefined || token === undefined)
    return { kind: /(?:^|[\s,])[^\w\s,]*(?:bearer|dpop)(?!\w)/i.test(header) ? 'malformed' : 'foreign' }
  return { kind: 'token', scheme: scheme.toLowerCase() === 'dpop' ? 'DPoP' : 'Bearer', token }
}
