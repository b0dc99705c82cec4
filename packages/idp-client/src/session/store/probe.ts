import type { ApiConfig } from '../../config/config.ts'
import { randomToken } from '../../crypto/random.ts'
import { SessionStoreError } from '../../errors/session.ts'
import { atMost } from '../../lib/pause.ts'
import type { SessionData } from '../model/session-data.ts'
import type { CompleteStore } from './complete-store.ts'

/** Seconds until a record of the probe expires, if it cannot be deleted. */
const SOON = 60
/** The same, beyond what clocks differ by, also where one takes its local time for UTC: two days. */
const LATER = 172_800

/** The part of a store that sessions need. */
type Records = Pick<CompleteStore, 'delete' | 'get' | 'set'>

/** A session of no user: no cookie names its record. */
function createRecord(now: number): SessionData {
  return {
    user: { sub: 'idp-client-check' },
    tokenSet: { accessToken: 'none', expiresAt: now },
    internal: { createdAt: now },
  }
}

/** Writes a record that expires at that time, reads it, and deletes it. Returns whether it was there. */
async function roundTrip(store: Records, now: number, expiresAt: number): Promise<boolean> {
  const id = randomToken()
  let found: unknown
  try {
    await store.set(id, createRecord(now), { expiresAt })
    found = await store.get(id)
  } catch (error) {
    // Its own failure would hide the cause.
    await store.delete(id).catch(() => {})
    throw error
  }
  await store.delete(id)
  return typeof found === 'object' && found !== null
}

async function probe(store: Records, now: number): Promise<void> {
  if (await roundTrip(store, now, now + SOON)) return
  // A replica may lack a record for a moment, whenever that expires.
  const isAhead = (await roundTrip(store, now, now + LATER)) && !(await roundTrip(store, now, now + SOON))
  throw new SessionStoreError('SESSION_STORE_FAILED', {
    operation: 'get',
    detail: isAhead
      ? `A record that expires in ${SOON} s has expired for the store.`
      : 'A record that was just written is not there.',
    remedy: isAhead ? 'SESSION_STORE_CLOCK' : 'SESSION_STORE_LOST_RECORD',
  })
}

/**
 * Writes, reads and deletes a record that belongs to no user. Throws `SESSION_STORE_FAILED` if that fails, if it takes longer
 * than `httpTimeout`, or if the record is not there.
 */
export async function probeStore(
  store: Records,
  { clock, httpTimeout }: Pick<ApiConfig, 'clock' | 'httpTimeout'>,
): Promise<void> {
  const work = probe(store, clock())
  if (await atMost(httpTimeout, work)) return work
  throw new SessionStoreError('SESSION_STORE_FAILED', {
    operation: 'get',
    detail: 'It did not respond within httpTimeout.',
    remedy: 'SESSION_STORE_UNREACHABLE',
  })
}
