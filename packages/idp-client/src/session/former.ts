import type { Config } from '../config/config.ts'
import type { ProviderSession, SessionDataStore } from '../config/options.ts'
import type { Exchange } from '../http/exchange.ts'
import { defined } from '../lib/objects.ts'
import type { FormerRefusal } from '../log/log.ts'
import type { KnownSession } from './model/lifetime.ts'
import type { StoredSession } from './model/stored-session.ts'
import type { ClientParts } from './storage.ts'

/** A session of the former library, as its cookies describe it. */
export interface FormerSessionFound extends KnownSession {
  /** Verifies its tokens and converts it; null, with an event, if it is not accepted. */
  convert(): Promise<StoredSession | null>
  /** Reports that it was taken over, once per process. */
  reportTakenOver(): void
  /** Reports that it was not. */
  reportNotTakenOver(reason: FormerRefusal): void
}

/** Why the former cookies of a request contain no session. */
export interface FormerUnread {
  readonly reason: FormerRefusal
  /** The exception of the application's function. */
  readonly thrown?: unknown
}

/** The sessions that the former library left in browsers (`takeOver`). No function rejects because of a cookie. */
export interface FormerSessions {
  /** Until when it is remembered that a session ends now, in seconds since the epoch. */
  rememberedUntil(): number
  /** Returns the former session of a request without a session of ours; null without one. Reports why a cookie contains none. */
  find(exchange: Exchange): Promise<FormerSessionFound | null>
  /** Like `find`, but reports nothing: a session of ours, if the request has one, may be in a cookie of the same name. */
  findBeside(exchange: Exchange): Promise<FormerSessionFound | null>
  /**
   * Stages the deletion of the former cookies; with a session key only if they contain that session, otherwise they may be those of
   * another application. Call it before other cookies are staged, which may have the same names.
   */
  clear(exchange: Exchange, sessionKey?: string): Promise<void>
}

/**
 * Returns until when it is remembered that a session has ended: at least for as long as one that began before can last, since `until`
 * may be extended later.
 */
export function rememberedUntil({ clock, session }: Config, until: number): number {
  return Math.max(until, clock() + session.absoluteDuration)
}

/** Names of a session, or of all sessions of a user, at the provider. */
interface Ended {
  readonly sid?: string | undefined
  readonly sub?: string | undefined
}

/** How a store names the end of a former session: apart from the ends that logins ask for. */
export function endOfFormer(clientTag: string, { sid, sub }: Ended): ProviderSession {
  return defined({ iss: `take-over ${clientTag}`, sid, sub })
}

/**
 * With `takeOver`, remembers that former sessions have ended, in seconds since the epoch at `iat` (default: now), for as long as
 * sessions are taken over, but at most until `latest`. Throws `SESSION_STORE_FAILED`.
 */
export async function rememberFormerEnd(
  { clientTag, config }: Pick<ClientParts, 'clientTag' | 'config'>,
  store: Required<Pick<SessionDataStore, 'rememberEnd'>> | undefined,
  { iat = config.clock(), ...ended }: Ended & { readonly iat?: number },
  latest: number = Number.POSITIVE_INFINITY,
): Promise<void> {
  if (!config.takeOver) return
  const expiresAt = Math.min(latest, rememberedUntil(config, config.takeOver.until))
  await store?.rememberEnd({ ...endOfFormer(await clientTag(), ended), iat }, { expiresAt })
}

/** Loads the code for former sessions, which is not needed without `takeOver`. */
export type LoadFormer = () => Promise<FormerSessions>
