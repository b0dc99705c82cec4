import { createHash } from 'node:crypto'
import { decodeJwt } from 'jose'
import type { KoaContextWithOIDC } from 'oidc-provider'
import { isRecord } from '../wire/message.ts'
import type { ProviderState } from './state.ts'

/** One token that was handed out, without the token. */
export interface IssuedToken {
  readonly kind: 'access token' | 'refresh token' | 'ID token'
  /** Seconds since the epoch. */
  readonly time: number
  /** The first eight hexadecimal digits of its SHA-256. */
  readonly hash: string
  readonly clientId: string
  readonly sub: string | undefined
  readonly grantId: string | undefined
  readonly audience: string | undefined
  readonly scope: string
  /** Seconds since the epoch. */
  readonly expiresAt: number
}

const KINDS = {
  access_token: 'access token',
  refresh_token: 'refresh token',
  id_token: 'ID token',
} as const

const LIMIT = 200

function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function claimsIn(token: string): Record<string, unknown> {
  // Tokens of a connection have dots, too.
  try {
    return decodeJwt(token)
  } catch {
    return {}
  }
}

function toExpiry({ clock, settings }: ProviderState, name: string, body: Record<string, unknown>): number {
  if (name === 'refresh_token') return clock.now() + settings.refreshTokenTtl
  return clock.now() + Number(body['expires_in'] ?? 0)
}

/** Stores the tokens of a token response for the page that lists them. */
export function recordIssued(state: ProviderState, ctx: KoaContextWithOIDC): void {
  const body: unknown = ctx.body
  if (!isRecord(body)) return
  const { client, entities } = ctx.oidc
  for (const [name, kind] of Object.entries(KINDS)) {
    const token = toText(body[name])
    if (token === undefined) continue
    const { aud, exp } = claimsIn(token)
    state.issued.unshift({
      kind,
      time: state.clock.now(),
      hash: createHash('sha256').update(token).digest('hex').slice(0, 8),
      clientId: client?.clientId ?? '',
      sub: entities.Grant?.accountId,
      grantId: entities.Grant?.jti,
      audience: toText([aud].flat().join(', ')),
      scope: toText(body['scope']) ?? '',
      expiresAt: typeof exp === 'number' ? exp : toExpiry(state, name, body),
    })
  }
  state.issued.splice(LIMIT)
}
