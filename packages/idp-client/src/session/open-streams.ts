import type { MaybePromise } from '../lib/chain.ts'
import { processWide } from '../lib/registry.ts'
import type { StoredSession } from './model/stored-session.ts'

/** The owner of a response that is being sent. */
export interface StreamOwner {
  /** Tag of provider and client. */
  readonly clientTag: string
  readonly session: StoredSession
}

interface OpenStream extends StreamOwner {
  readonly end: () => void
}

/** Responses that this process sends for a session, for as long as they last. */
const openStreams = (): Set<OpenStream> => processWide('queue:open-streams/1', () => new Set<OpenStream>())

/** Calls `end` when the session ends in this process, until the returned function is called. */
export function onSessionEnd(clientTag: string, session: StoredSession, end: () => void): () => void {
  const stream = { clientTag, session, end }
  openStreams().add(stream)
  return () => openStreams().delete(stream)
}

/* On Workers a response belongs to the request that opened it: another one cannot end it, and must not fail for that. */
function tryToEnd({ end }: OpenStream): void {
  try {
    end()
  } catch {
    // It lasts until its time is over.
  }
}

/** Ends the responses of sessions that have ended. */
export async function endStreams(hasEnded: (owner: StreamOwner) => MaybePromise<boolean>): Promise<void> {
  for (const stream of [...openStreams()]) if (await hasEnded(stream)) tryToEnd(stream)
}
