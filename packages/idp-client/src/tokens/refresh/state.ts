import { isIdpError } from '../../errors/base.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import type { Entry } from '../select.ts'

/** The result of a redemption. With a `failure` the session may lack its refresh token, because that was rejected. */
export interface Redemption {
  readonly session: StoredSession
  /** The new access token; a session may not contain it. */
  readonly entry?: Entry
  readonly failure?: unknown
  /** Whether a store has the session. */
  readonly isStored?: boolean
}

interface InProgress {
  /** From when on its request counts as ended, and another call takes over; milliseconds of the monotonic clock. */
  readonly deadline: number
  /** The error of the callers that waited when the response was late. */
  readonly late?: Error
}

/** One redemption of a refresh token. Only `transition` makes a new state from an old one. */
export type Refresh =
  /** Waits for earlier redemptions of its family, and for the lock of the store. */
  | ({ readonly state: 'queued' } & InProgress)
  /** The refresh token was sent. */
  | ({ readonly state: 'redeeming' } & InProgress)
  /** `httpTimeout` has passed. The response is still awaited, because the provider may have rotated the token. */
  | ({ readonly state: 'late'; readonly late: Error } & InProgress)
  /** The response has arrived. While there is no `redemption`, hooks run or the store is written. */
  | ({ readonly state: 'rotated'; readonly redemption?: Redemption } & InProgress)
  /** The store has the new tokens. Cookies stay `rotated`, see `keepUntilSent`. */
  | { readonly state: 'stored'; readonly redemption: Redemption; readonly late?: Error }
  /** The provider rejected the refresh token for good (`invalid_grant`). */
  | { readonly state: 'dead'; readonly redemption: Redemption; readonly late?: Error }
  | { readonly state: 'dead' | 'failed'; readonly error: unknown; readonly late?: Error }
  /** Its request ended before it had a result: another call takes over, and no call waits for it. */
  | { readonly state: 'abandoned'; readonly wasSent: boolean; readonly late?: Error }

export type RefreshEvent =
  | { readonly type: 'turn' | 'sent' | 'responded'; readonly deadline: number }
  | { readonly type: 'overdue'; readonly deadline: number; readonly error: Error }
  | { readonly type: 'lost' }
  | { readonly type: 'redeemed'; readonly redemption: Redemption }
  | { readonly type: 'failed'; readonly error: unknown }

/** Returns whether the provider has rejected the refresh token for good (`invalid_grant`). */
export function isFinal(error: unknown): boolean {
  return isIdpError(error, 'OAUTH_ERROR') && 'error' in error && error.error === 'invalid_grant'
}

/** Returns whether it has no result yet, and may have one. */
export function isInProgress(refresh: Refresh): refresh is Extract<Refresh, InProgress> {
  return 'deadline' in refresh && !('redemption' in refresh)
}

/** Returns whether the provider may have rotated the refresh token without a result in this process. */
export function isUnsettled(refresh: Refresh): boolean {
  if (refresh.state === 'abandoned') return refresh.wasSent
  return isInProgress(refresh) && refresh.state !== 'queued'
}

/** Returns the state after an event. An event that does not concern a state leaves it as it is. */
export function transition(refresh: Refresh, event: RefreshEvent): Refresh {
  const late = refresh.late && { late: refresh.late }
  if (event.type === 'redeemed') {
    const { redemption } = event
    if (redemption.failure !== undefined) return { state: 'dead', redemption, ...late }
    if (redemption.isStored) return { state: 'stored', redemption, ...late }
    return { state: 'rotated', redemption, deadline: Number.POSITIVE_INFINITY, ...late }
  }
  if (event.type === 'failed')
    return { state: isFinal(event.error) ? 'dead' : 'failed', error: event.error, ...late }
  if (!isInProgress(refresh)) return refresh
  switch (event.type) {
    case 'turn':
      return { ...refresh, deadline: event.deadline }
    case 'sent':
      return refresh.state === 'late' ? refresh : { state: 'redeeming', deadline: event.deadline, ...late }
    case 'overdue':
      return refresh.state === 'redeeming' && !late
        ? { state: 'late', deadline: event.deadline, late: event.error }
        : refresh
    case 'responded':
      return { state: 'rotated', deadline: event.deadline, ...late }
    case 'lost':
      return { state: 'abandoned', wasSent: isUnsettled(refresh), ...late }
  }
}
