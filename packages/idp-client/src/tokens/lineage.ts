import { hashToken } from '../crypto/random.ts'
import { Lru } from '../lib/lru.ts'
import { shared } from '../lib/registry.ts'
import { sweeping } from '../lib/sweep.ts'
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
  /** The tokens that lead here. */
  readonly keys: LeadingKey[]
  /** When it went on last, or was written; milliseconds of the monotonic clock. */
  touchedAt: number
}

/* There are thousands of them: a list is a third of a map. */
interface LeadingKey {
  readonly key: string
  /** Seconds since the epoch. */
  until: number
  /** It came while the session was unwritten: no browser has it. */
  inProcess: boolean
}

interface Lines {
  readonly byToken: Lru<string, Line>
  /** Lines with something unwritten, and when their session ends at the latest. */
  readonly unwritten: Map<Line, number>
  /** Makes sure that lines which nobody asks for are forgotten. */
  readonly forgetLater: () => void
}

/** Seconds for which a superseded refresh token still leads to its successor. */
const JOIN_SECONDS = 60
/** Milliseconds after which a line that nobody asks for is forgotten. */
const KEPT_MILLISECONDS = JOIN_SECONDS * 1000 * 2
const TOKENS = 20_000
const UNWRITTEN = 1000

/** Forgets the tokens of lines that nobody asked for again; returns whether any are left. */
function forgetOld(byToken: Lru<string, Line>): boolean {
  const end = performance.now() - KEPT_MILLISECONDS
  for (const [key, line] of byToken.entries()) {
    if (line.touchedAt <= end && !line.unwritten && !line.flights) byToken.delete(key)
  }
  return byToken.size > 0
}

const lines = (): Lines =>
  shared('refresh-lines/4', () => {
    const byToken = new Lru<string, Line>(TOKENS, ({ unwritten }) => unwritten)
    return {
      byToken,
      unwritten: new Map(),
      forgetLater: sweeping(KEPT_MILLISECONDS, () => forgetOld(byToken)),
    }
  })

/** Name of a refresh token of one client at one provider; tells nothing of the token. */
export async function tokenKey(client: string, refreshToken: string): Promise<string> {
  return hashToken(`${client} ${refreshToken}`, 32)
}

/** The line of a session, if this process refreshed it lately. */
export function findLine(key: string, session: StoredSession, now: number): Line | undefined {
  const { byToken } = lines()
  const line = byToken.get(key)
  if (!line) return undefined
  const until = line.keys.find((one) => one.key === key)?.until
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
    flights: undefined,
    keys: [],
    touchedAt: performance.now(),
  }
  lines().byToken.set(key, line)
  return line
}

/** Nothing came of a line: it holds no token that leads anywhere. */
export function dropUnused(key: string, line: Line): void {
  if (line.keys.length === 0 && !line.flights && lines().byToken.get(key) === line) {
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
  forgetSuperseded(line, now)
  line.latest = latest
  for (const key of new Set([keys.from, keys.to ?? keys.from])) {
    lead(line, key, now + JOIN_SECONDS)
    byToken.set(key, line)
  }
  touch(line)
}

function lead(line: Line, key: string, until: number): void {
  const known = line.keys.find((one) => one.key === key)
  if (known) known.until = until
  else line.keys.push({ key, until, inProcess: line.unwritten })
}

/** Forgets older tokens that lead nowhere any more; while the session is unwritten, the browser still has one of before. */
function forgetSuperseded(line: Line, now: number): void {
  const { byToken } = lines()
  const kept = line.keys.filter(({ inProcess, until }) => until > now || (line.unwritten && !inProcess))
  for (const one of line.keys) {
    if (!kept.includes(one) && byToken.get(one.key) === line) byToken.delete(one.key)
  }
  line.keys.splice(0, line.keys.length, ...kept)
}

function touch(line: Line): void {
  line.touchedAt = performance.now()
  lines().forgetLater()
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
  if (line.unwritten) touch(line)
  line.unwritten = false
  for (const one of line.keys) one.inProcess = false
  lines().unwritten.delete(line)
}

/** The session ended: nothing of it leads anywhere any more. */
export function closeLine(line: Line): void {
  line.closed = true
  markWritten(line)
  for (const { key } of [line, ...line.keys]) lines().byToken.delete(key)
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
