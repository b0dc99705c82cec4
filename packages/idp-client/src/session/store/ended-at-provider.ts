import type { LogoutToken, ProviderSession, SessionDataStore } from '../../config/options.ts'
import { identify } from '../../lib/identify.ts'
import { Lru } from '../../lib/lru.ts'
import { processWide, toKey } from '../../lib/registry.ts'
import { askStore } from './store-call.ts'

/** How long this process remembers that the provider ended a session, in seconds: longer than a callback takes. */
const REMEMBERED_SECONDS = 600
/** Maximum number of ended sessions and users of all stores: only the provider, which signs logout tokens, adds them. */
const MAX_SESSIONS = 10_000

/** Seconds since the epoch. */
interface Ended {
  readonly iat: number
  readonly until: number
}

const ended = (): Lru<string, Ended> => processWide('mark:ended-at-provider/3', () => new Lru(MAX_SESSIONS))

/** By store, as processed logout tokens are. A `sid` and a `sub` have different keys, even if they are equal. */
const toName = (store: SessionDataStore, { iss, sid, sub }: ProviderSession): string =>
  sid === undefined ? toKey(identify(store), iss, 'sub', sub) : toKey(identify(store), iss, 'sid', sid)

/**
 * Remembers a logout token before its sessions are deleted, unless the store does so: by `sid`, or without `sid` by
 * `sub`.
 */
export function rememberEnd(
  store: SessionDataStore,
  token: Required<Pick<LogoutToken, 'iat'>> & LogoutToken,
  now: number,
): void {
  if (store.endedAt) return
  const key = toName(store, token)
  const iat = Math.max(token.iat, ended().get(key)?.iat ?? token.iat)
  ended().set(key, { iat, until: now + REMEMBERED_SECONDS })
}

export interface IssuedSession {
  readonly iss: string
  readonly sid?: string
  readonly sub: string
  /** When its ID token was issued, seconds since the epoch by our clock. */
  readonly issuedAt: number
}

/**
 * Returns whether the provider has ended a session, by its `sid` or by the `sub` of its user. Call it after the session was
 * stored: a later logout token deletes the record. Throws `SESSION_STORE_FAILED`.
 */
export async function wasEnded(
  store: SessionDataStore,
  { issuedAt, ...session }: IssuedSession,
  now: number,
): Promise<boolean> {
  const endedAt = store.endedAt?.bind(store)
  if (endedAt)
    return issuedAt <= ((await askStore('endedAt', () => endedAt(session))) ?? Number.NEGATIVE_INFINITY)
  const { sid: _sid, ...user } = session
  return [session, user].some((subject) => {
    const known = ended().get(toName(store, subject))
    return known !== undefined && known.until > now && issuedAt <= known.iat
  })
}
