import type { MaybePromise } from '../lib/chain.ts'
import { processWide } from '../lib/registry.ts'
import type { StoredSession } from './model/stored-session.ts'

/** The owner of a response that is being sent. */
export interface StreamOwner {
  /** Tag of provider and client. */
  readonly clientTag: string
  readonly session: StoredSession
}

/** Callbacks for the end of a session. */
export interface StreamEvents {
  /** The session has ended. */
  readonly end: () => void
  /** It ends at that time at the latest, seconds since the epoch. */
  readonly endBy: (time: number) => void
}

interface OpenStream extends StreamOwner, StreamEvents {}

/** Responses that this process sends for a session, for as long as they last. */
const openStreams = (): Set<OpenStream> => processWide('queue:open-streams/1', () => new Set<OpenStream>())

/** Calls `events` when the session ends in this process, until the returned function is called. */
export function onSessionEnd(clientTag: string, session: StoredSession, events: StreamEvents): () => void {
  const stream = { clientTag, session, ...events }
  openStreams().add(stream)
  return () => openStreams().delete(stream)
}

/* On Workers a response belongs to the request that opened it: another one cannot end it, and must not fail for that. */
function tryTo(change: () => void): void {
  try {
    change()
  } catch {
    // It lasts until its time is over.
  }
}

/** Ends the responses of sessions that have ended. */
export async function endStreams(hasEnded: (owner: StreamOwner) => MaybePromise<boolean>): Promise<void> {
  for (const stream of [...openStreams()]) if (await hasEnded(stream)) tryTo(stream.end)
}

/** Ends the responses of these sessions, which have ended. */
export function endStreamsOf(sessionKeys: ReadonlySet<string>): Promise<void> {
  return endStreams(({ session }) => sessionKeys.has(session.sessionKey))
}

/** Ends the responses of a session at the time that the provider has set for it since, seconds since the epoch. */
export function endStreamsBy(sessionKey: string, time: number): void {
  for (const { endBy, session } of [...openStreams()])
    if (session.sessionKey === sessionKey) tryTo(() => endBy(time))
}
