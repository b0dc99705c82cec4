import { endStreams } from '../open-streams.ts'
import type { StoreSessionParts } from './in-store.ts'
import type { StoreRecords } from './store-records.ts'

/**
 * Deletes the records of sessions, and ends what this process keeps and sends for them. Best effort: a failure is reported, and
 * blocks neither logout nor login.
 */
export async function endSessions(
  { memory, store }: Pick<StoreSessionParts, 'memory' | 'store'>,
  records: StoreRecords,
  sessions: readonly { readonly sessionKey: string }[],
): Promise<void> {
  for (const { sessionKey } of sessions) memory?.forget(sessionKey)
  await Promise.all(sessions.map(({ sessionKey }) => records.delete(sessionKey).catch(store.report)))
  const ended = new Set(sessions.map(({ sessionKey }) => sessionKey))
  await endStreams(({ session }) => ended.has(session.sessionKey))
}
