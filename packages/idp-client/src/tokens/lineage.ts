import { hashToken } from '../crypto/random.ts'
import { Lru } from '../lib/lru.ts'
import { shared } from '../lib/registry.ts'
import { forgetProcessTokens } from '../session/process-tokens.ts'
import type { StoredSession } from '../session/stored-session.ts'
import type { Turns } from './turns.ts'

/**
 * One session and the refresh tokens that it had lately. Requests that still carry an older one are led to what the
 * session has become, so that a single-use token is never redeemed twice by this process.
 */
export interface Line extends Turns {
  /** The session as this process knows it last. */
  latest: StoredSession
  /** What `latest` holds has reached no browser or store yet: a Server Component refreshed it. */
  unwritten: boolean
  /** The session ended: nothing may be led to it or written of it any more. */
  closed: boolean
  /** The key that it was opened under. */
  readonly key: string
  /** Until when each older token leads here, seconds since the epoch. */
  readonly until: Map<string, number>
}

interface Lines {
  readonly byToken: Lru<string, Line>
  /** Lines with something unwritten, and when their session ends at the latest. */
  readonly unwritten: Map<Line, number>
}

/** Seconds for which a superseded refresh token still leads to its successor. */
const JOIN_SECONDS = 60
const TOKENS = 20_000
const UNWRITTEN = 1000

const lines = (): Lines =>
  shared('refresh-lines/2', () => ({ byToken: new Lru(TOKENS), unwritten: new Map() }))

/** Name of a refresh token of one client at one provider; tells nothing of the token. */
export async function tokenKey(client: string, refreshToken: string): Promise<string> {
  return hashToken(`${client} ${refreshToken}`, 32)
}

/** The line of a session, if this process refreshed it lately. */
export function findLine(key: string, session: StoredSession, now: number): Line | undefined {
  const { byToken } = lines()
  const line = byToken.get(key)
  if (!line) return undefined
  const until = line.until.get(key)
  const over = until !== undefined && until <= now && !line.unwritten
  if (over) byToken.delete(key)
  // The handle is private to one session: a token that turns up in another session leads nowhere.
  return over || line.latest.handle !== session.handle ? undefined : line
}

export function openLine(key: string, session: StoredSession): Line {
  const line: Line = {
    latest: session,
    unwritten: false,
    closed: false,
    key,
    current: undefined,
    flights: new Map(),
    until: new Map(),
  }
  lines().byToken.set(key, line)
  return line
}

/** Nothing came of a line: it holds no token that leads anywhere. */
export function dropUnused(key: string, line: Line): void {
  if (line.until.size === 0 && line.flights.size === 0 && lines().byToken.get(key) === line) {
    lines().byToken.delete(key)
  }
}

/** The session went on: `from` leads to it for a while, `to` (its token now, if it has one) from here on. */
export function advance(
  line: Line,
  latest: StoredSession,
  keys: { from: string; to?: string },
  now: number,
): void {
  if (line.closed) return
  const { byToken } = lines()
  line.latest = latest
  line.until.set(keys.from, now + JOIN_SECONDS)
  byToken.set(keys.from, line)
  if (keys.to !== undefined && keys.to !== keys.from) {
    line.until.set(keys.to, now + JOIN_SECONDS)
    byToken.set(keys.to, line)
  }
  forgetLater(line)
}

/** Frees the tokens of a line that nobody asked for again; the timer keeps no process alive. */
function forgetLater(line: Line): void {
  const keys = [...line.until.keys()]
  const timer: unknown = setTimeout(
    () => {
      if (line.unwritten || line.flights.size > 0) return
      for (const key of keys) if (lines().byToken.get(key) === line) lines().byToken.delete(key)
    },
    JOIN_SECONDS * 1000 * 2,
  )
  if (typeof timer === 'object' && timer !== null && 'unref' in timer) (timer as { unref(): void }).unref()
}

/** Whether this process refreshed anything lately: if not, no session needs to be looked up. */
export function hasLines(): boolean {
  return lines().byToken.size > 0
}

/** Whether one more session may be refreshed where nothing can be written. */
export function mayHandOver(now: number): boolean {
  const { unwritten } = lines()
  if (unwritten.size < UNWRITTEN) return true
  for (const [line, endsAt] of unwritten) if (endsAt <= now) closeLine(line)
  return unwritten.size < UNWRITTEN
}

/**
 * The session is kept until it was written. When too many are kept already, it leads its requests for `JOIN_SECONDS`, as
 * every refreshed session does.
 */
export function markUnwritten(line: Line, endsAt: number, now: number): void {
  if (!line.unwritten && !mayHandOver(now)) return
  line.unwritten = true
  lines().unwritten.set(line, endsAt)
}

export function markWritten(line: Line): void {
  if (line.unwritten) forgetLater(line)
  line.unwritten = false
  lines().unwritten.delete(line)
}

/** The session ended: nothing of it leads anywhere any more. */
export function closeLine(line: Line): void {
  line.closed = true
  markWritten(line)
  for (const key of [line.key, ...line.until.keys()]) lines().byToken.delete(key)
}

const ENDED = 20_000

const endedHandles = (): Lru<string, true> => shared('ended-sessions/1', () => new Lru(ENDED))

/** A logout, or another login in the same browser, ended the session: late requests that carry it have none. */
export function markEnded({ handle }: StoredSession): void {
  endedHandles().set(handle, true)
  forgetProcessTokens(handle)
}

export function hasEnded({ handle }: StoredSession): boolean {
  return endedHandles().get(handle) === true
}
