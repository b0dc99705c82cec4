import type { StoredSession } from '../../session/model/stored-session.ts'
import type { Entry } from '../select.ts'

/** With a `failure` the session may lack its refresh token, because that was rejected. */
export interface RedemptionResult {
  readonly session: StoredSession
  /** The new access token; a session may not contain it. */
  readonly entry?: Entry
  readonly failure?: unknown
}

interface InProgress {
  /** From when on its request counts as ended, and another call takes over; milliseconds of the monotonic clock. */
  readonly deadline: number
  /** The error of the callers that waited when the response was late. */
  readonly lateError?: Error
}

/** How far one redemption is. Only `transition` makes a new state from an old one. */
export type RedemptionState =
  /** Waits for earlier redemptions of its family, for the lock of the store, and for the provider's metadata. */
  | ({ readonly state: 'queued' } & InProgress)
  /** The request to the provider was sent. */
  | ({ readonly state: 'redeeming' } & InProgress)
  /** `httpTimeout` has passed. The response is still awaited, because the provider may have rotated the token. */
  | ({ readonly state: 'late'; readonly lateError: Error } & InProgress)
  /** Any response has arrived: now hooks run, or the store is written. */
  | ({ readonly state: 'responded' } & InProgress)
  /** It has a result, which may be a session that has lost something, with the `failure`. */
  | { readonly state: 'settled'; readonly result: RedemptionResult; readonly lateError?: Error }
  | { readonly state: 'failed'; readonly error: unknown; readonly lateError?: Error }
  /**
   * It passed its deadline, since its request has ended: another call takes over, and no further call waits for it. If it does
   * continue, it sends nothing any more, and its own callers get its result.
   */
  | { readonly state: 'abandoned'; readonly lateError?: Error }

export type RedemptionEvent =
  /** The redemptions before it have ended: only the deadline moves. */
  | { readonly type: 'itsTurn'; readonly deadline: number }
  | { readonly type: 'sent' | 'responded'; readonly deadline: number }
  | { readonly type: 'overdue'; readonly deadline: number; readonly error: Error }
  | { readonly type: 'abandoned' }
  | { readonly type: 'settled'; readonly result: RedemptionResult }
  | { readonly type: 'failed'; readonly error: unknown }

/** Returns whether it has no result yet, and may have one. */
export function isInProgress(
  redemption: RedemptionState,
): redemption is Extract<RedemptionState, InProgress> {
  return 'deadline' in redemption
}

/** Returns the state after an event. `settled` and `failed` end every state; others leave a state that they do not concern. */
export function transition(redemption: RedemptionState, event: RedemptionEvent): RedemptionState {
  const late = redemption.lateError && { lateError: redemption.lateError }
  if (event.type === 'settled') return { state: 'settled', result: event.result, ...late }
  if (event.type === 'failed') return { state: 'failed', error: event.error, ...late }
  if (!isInProgress(redemption)) return redemption
  switch (event.type) {
    case 'itsTurn':
      return { ...redemption, deadline: event.deadline }
    case 'sent':
      return { state: 'redeeming', deadline: event.deadline, ...late }
    case 'overdue':
      return redemption.state === 'redeeming' && !late
        ? { state: 'late', deadline: event.deadline, lateError: event.error }
        : redemption
    case 'responded':
      return { state: 'responded', deadline: event.deadline, ...late }
    case 'abandoned':
      return { state: 'abandoned', ...late }
  }
}
