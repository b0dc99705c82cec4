import { addOwn } from '../../lib/own-properties.ts'
import { readAuthentication } from '../model/authentication.ts'
import { onFirstRead } from '../model/on-first-read.ts'
import type { StoredInternalData } from '../model/session-data.ts'
import type { StoredSession } from '../model/stored-session.ts'
import { isSessionData } from '../model/stored-session.ts'
import type { Layout, Token, TokenHolder } from './packed-tokens.ts'
import { createReader, createRestorer, mapTokens, userClaimsIn } from './packed-tokens.ts'

/* Version 1 of the session cookie, which is only read: after the head all tokens, uncompressed. */

export interface Head1 {
  /** `sessionKey` */
  readonly h: string
  /** `usedAt` */
  readonly u: number
  /** `clientTag` */
  readonly c?: string
  /** `requestedAuthentication` */
  readonly a?: string
  /** Present if `s.user` lacks the claims of the ID token. */
  readonly p?: 1
  /** `data`, in which every token is replaced by its index in `t`. */
  readonly s: TokenHolder
  /** The layouts of the tokens, in the order of their bytes. */
  readonly t: readonly Layout[]
}

function toPayload(s: TokenHolder, tokens: readonly Token[]): Uint8Array {
  const at = (s['tokenSet'] as TokenHolder)['idToken']
  const payload = typeof at === 'number' ? tokens[at]?.parts[1] : undefined
  if (!payload) throw new RangeError('no ID token to take the user from')
  return payload
}

/** Decodes a session of version 1. Returns null for an invalid one, and may throw. */
export function decodeVersion1(head: Head1, tail: Uint8Array): StoredSession | null {
  const { a, c, h, p, s, t, u } = head
  const take = createReader(tail)
  const tokens = t.map(([kind, ...lengths]) => ({ kind, parts: lengths.map(take) }))
  if (p === 1) s['user'] = addOwn(userClaimsIn(toPayload(s, tokens)), s['user'] as TokenHolder)
  const data: unknown = s
  if (!isSessionData(data) || typeof h !== 'string' || !Number.isFinite(u)) return null
  const restore = createRestorer(tokens)
  for (const name of ['tokenSet', 'accessTokens']) {
    const value = s[name]
    if (value !== undefined) onFirstRead(s, name, () => mapTokens(value, restore))
  }
  const { authentication: stored, ownAudience, ownScope, ...internal }: StoredInternalData = data.internal
  const authentication = readAuthentication(stored)
  data.internal = internal
  return {
    data,
    sessionKey: h,
    usedAt: u,
    ...(c === undefined ? {} : { clientTag: c }),
    ...(a === undefined ? {} : { requestedAuthentication: a }),
    ...(typeof ownScope === 'string' ? { ownScope } : {}),
    ...(ownAudience === true ? { ownAudience } : {}),
    ...(authentication ? { authentication } : {}),
  }
}
