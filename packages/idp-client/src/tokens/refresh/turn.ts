import { OAuthError } from '../../errors/provider.ts'
import { monotonic } from '../../lib/clock.ts'
import { atMost } from '../../lib/pause.ts'
import { processWide } from '../../lib/registry.ts'
import type { TokenFamily } from './families.ts'
import type { RedemptionEvent, RedemptionResult, RedemptionState } from './state.ts'
import { isInProgress, transition } from './state.ts'

/** One redemption in the queue of a family, and what its callers wait for. */
export interface Turn {
  readonly family: TokenFamily
  /** Calls with the same key share it. */
  readonly key: string
  /** Only `move` changes it. */
  redemption: RedemptionState
  /** Settles at the end. */
  readonly ended: Promise<void>
  /** Settles when the response is late, which `wake` reports, or at the end. */
  readonly lateOrEnded: Promise<void>
  readonly wake: () => void
}

/** How much longer than its own time limits a redemption may take before another call takes over, in milliseconds. */
const SLACK = 1000

/** Returns the deadline of a redemption that takes at most that long. */
export const deadlineAfter = (milliseconds: number): number => monotonic() + milliseconds + SLACK

/** Returns a queued turn. `take` starts when the caller has added the turn to its family; only a platform rejects its promise. */
export function createTurn(
  family: TokenFamily,
  key: string,
  milliseconds: number,
  take: (turn: Turn) => Promise<void>,
): Turn {
  let wake = (): void => {}
  const lateOrEnded = new Promise<void>((resolve) => {
    wake = resolve
  })
  const ended = Promise.resolve().then(() => take(turn))
  ended.then(wake, wake)
  const redemption = { state: 'queued', deadline: deadlineAfter(milliseconds) } as const
  const turn: Turn = { family, key, redemption, ended, lateOrEnded, wake }
  return turn
}

export function move(turn: Turn, event: RedemptionEvent): void {
  turn.redemption = transition(turn.redemption, event)
  if (turn.redemption.state === 'late') lateTurns().add(turn)
  else lateTurns().delete(turn)
}

/** The error of a call that sends nothing because an earlier one has sent the token or is about to, and of one without a result. */
export const noResponseYet = (): OAuthError =>
  new OAuthError('REQUEST_TIMEOUT', { detail: 'An earlier refresh of this session has no response yet.' })

/** Returns the result of a turn, or throws its error. Those who had waited for it when it became late get that error. */
export function toResult({ redemption }: Turn, isEarly: boolean): RedemptionResult {
  if (isEarly && redemption.lateError) throw redemption.lateError
  if ('result' in redemption) return redemption.result
  throw 'error' in redemption ? redemption.error : noResponseYet()
}

/**
 * Waits with a timer of this request until a turn has ended or, for a caller that came before its response was late (`isEarly`),
 * is late. Abandons a turn that has passed its deadline: on Workers, I/O, timers and promises end with the request that created
 * them, or are rejected by the platform. Throws `REQUEST_TIMEOUT` when the time is over.
 */
export async function waitOrAbandon(turn: Turn, milliseconds: number, isEarly: boolean): Promise<void> {
  const end = monotonic() + milliseconds
  const ended = isEarly ? turn.lateOrEnded : turn.ended
  // After a pause of the whole process, the response of a living redemption may have arrived.
  if (isInProgress(turn.redemption) && monotonic() >= turn.redemption.deadline) await atMost(0, ended)
  for (;;) {
    const { redemption } = turn
    if (!isInProgress(redemption) || (isEarly && redemption.lateError)) return
    const now = monotonic()
    if (now < redemption.deadline) {
      if (now >= end) throw noResponseYet()
      const left = Math.ceil(Math.min(end, redemption.deadline) - now)
      const isSettled = await atMost(left, ended)
      if (!isSettled || turn.redemption !== redemption) continue
      // Settled without a new state: the platform has rejected its promise.
    }
    move(turn, { type: 'abandoned' })
    // Nothing was sent: the caller takes its place in the family, which stays registered.
    if (redemption.state === 'queued') turn.family.turns = turn.family.turns.filter((other) => other !== turn)
  }
}

/** Maximum number of late responses that this process waits for at a time. */
const MAX_LATE = 1000

/** The redemptions whose responses are late, which `move` adds and removes. On Workers, one may end without a move. */
const lateTurns = (): Set<Turn> => processWide('queue:late-redemptions/2', () => new Set())

/** Returns whether this process may wait for one more late response. */
export function mayBeLate(now: number): boolean {
  const turns = lateTurns()
  for (const turn of turns) {
    const { redemption } = turn
    if (redemption.state !== 'late' || redemption.deadline <= now) turns.delete(turn)
  }
  return turns.size < MAX_LATE
}
