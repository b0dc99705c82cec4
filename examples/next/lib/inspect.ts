import type { SessionData, User } from 'idp-client'
import { connectionLabel } from './connections'

export interface ClaimRow {
  readonly name: string
  readonly value: string
}

export interface TokenRow {
  readonly name: string
  readonly format: 'JWT' | 'Opaque'
  readonly length: number
  /** Seconds since the epoch. */
  readonly expiresAt?: number
  readonly note?: string
}

export interface CookieRow {
  readonly name: string
  readonly bytes: number
}

export function claimRows(user: User): ClaimRow[] {
  return Object.entries(user)
    .map(([name, value]) => ({ name, value: typeof value === 'string' ? value : JSON.stringify(value) }))
    .sort((left, right) => left.name.localeCompare(right.name))
}

/** Describes the tokens of a session without showing them: anyone who has a token can use it. */
export function tokenRows(session: SessionData): TokenRow[] {
  const { tokenSet, accessTokens = [], connectionTokenSets = [] } = session
  const { accessToken, expiresAt, scope, token_type, idToken, refreshToken } = tokenSet
  const note = [token_type, scope && `scope ${scope}`].filter(Boolean).join(', ')
  const rows: TokenRow[] = [{ ...row('Access token', accessToken), expiresAt, ...(note ? { note } : {}) }]
  if (idToken) rows.push(row('ID token', idToken))
  if (refreshToken) rows.push(row('Refresh token', refreshToken))
  for (const { accessToken, audience, expiresAt, scope } of accessTokens) {
    const note = `for ${audience}${scope ? `, scope ${scope}` : ''}`
    rows.push({ ...row('Access token', accessToken), expiresAt, note })
  }
  for (const { accessToken, connection, expiresAt } of connectionTokenSets) {
    rows.push({
      ...row('Connection token', accessToken),
      expiresAt,
      note: `for ${connectionLabel(connection)}`,
    })
  }
  return rows
}

/** Returns the session cookies with their size as browsers count it: name, equals sign and value. */
export function sessionCookies(cookies: readonly { name: string; value: string }[]): CookieRow[] {
  return cookies
    .filter(({ name }) => /^__session(?:__|$)/.test(name))
    .map(({ name, value }) => ({ name, bytes: new TextEncoder().encode(`${name}=${value}`).length }))
}

export function tokenFormat(token: string): TokenRow['format'] {
  return /^eyJ[\w-]*(?:\.[\w-]+){2}$/.test(token) ? 'JWT' : 'Opaque'
}

function row(name: string, token: string): TokenRow {
  return { name, format: tokenFormat(token), length: token.length }
}
