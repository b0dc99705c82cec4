import type { MaybePromise } from '../lib/chain.ts'
import { processWide } from '../lib/registry.ts'
import type { StoredSession } from './model/stored-session.ts'

/** Whose response is being sent. */
export interface StreamOwner {
  /** Tag of provider and client. */
  readonly clientTag: string
  readonly sessionKey: string
  readonly sub: string
  /** The provider's session id. */
  readonly sid: string | undefined
}

interface OpenStream {
  readonly owner: StreamOwner
  readonly end: () => void
}

/** Responses that this process sends for a session, for as long as they last. */
const openStreams = (): Set<OpenStream> => processWide('queue:open-streams/1', () => new Set<OpenStream>())

/** Calls `end` when the session ends in this process, until the returned function is called. */
export function onSessionEnd(clientTag: string, session: StoredSession, end: () => void): () => void {
  const { data, sessionKey } = session
  const owner = { clientTag, sessionKey, sub: data.user.sub, sid: data.internal.sid }
  const stream = { owner, end }
  openStreams().add(stream)
  return () => openStreams().delete(stream)
}

/** Ends the responses of sessions that have ended. */
export async function endStreams(hasEnded: (owner: StreamOwner) => MaybePromise<boolean>): Promise<void> {
  for (const { end, owner } of [...openStreams()]) if (await hasEnded(owner)) end()
}
