import { IdpError } from '../errors/base.ts'

/** Authorization scheme of an access token (RFC 6750 section 2.1, RFC 9449 section 7.1). */
export interface AuthorizationScheme {
  readonly scheme: 'Bearer' | 'DPoP'
  readonly accessToken: string
}

const schemes: ReadonlyMap<string, AuthorizationScheme['scheme']> = new Map([
  ['bearer', 'Bearer'],
  ['dpop', 'DPoP'],
])

function unusable(detail: string): IdpError<'FETCHER_TOKEN_UNUSABLE'> {
  return new IdpError('FETCHER_TOKEN_UNUSABLE', { detail })
}

/** Returns the access token. Validates it, because an error of `Headers` would quote it. */
function validateToken(text: unknown): string {
  if (typeof text !== 'string' || text === '') throw unusable('It is not a non-empty string.')
  if (!/^[\x21-\x7e]+$/.test(text)) throw unusable('It has characters that no access token may have.')
  return text
}

function toScheme(type: unknown): AuthorizationScheme['scheme'] | undefined {
  if (type === undefined) return undefined
  const scheme = typeof type === 'string' ? schemes.get(type.toLowerCase()) : undefined
  if (!scheme) throw unusable('Its type is neither Bearer nor DPoP.')
  return scheme
}

/**
 * Returns the scheme of a token that a factory returned: by its own type, otherwise by `bound`, the setting of the fetcher. A
 * bound token is never sent as a bearer token (RFC 9449 section 7.2).
 */
export function toAuthorizationScheme(given: unknown, bound: boolean): AuthorizationScheme {
  const fields = (typeof given === 'object' && given !== null ? given : { token: given }) as {
    readonly [field: string]: unknown
  }
  const accessToken = validateToken(fields['token'] ?? fields['accessToken'])
  const scheme = toScheme(fields['token_type'] ?? fields['tokenType']) ?? (bound ? 'DPoP' : 'Bearer')
  if (scheme === 'DPoP' && !bound) throw new IdpError('FETCHER_TOKEN_BOUND')
  return { scheme, accessToken }
}
