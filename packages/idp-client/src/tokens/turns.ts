import { OAuthError } from '../errors/provider.ts'
import { atMost } from '../lib/pause.ts'
import { shared } from '../lib/registry.ts'

/**
 * One redemption of a refresh-token family. Its response may be late: callers are told after their time, while it is
 * waited for, since the provider may have rotated the token.
 */
export interface InFlight<T> {
  /** The result for callers in time: the outcome, or the failure of a late response. */
  readonly outcome: Promise<T>
  /** The outcome, however late. */
  readonly landing: Promise<T>
  readonly isLate: () => boolean
}

interface Turn {
  readonly landed: Promise<void>
  /** Resolves when the response is late; never before. */
  readonly late: Promise<void>
}

/** The redemptions of one family run one after the other. */
export interface RedemptionQueue {
  current: Turn | undefined
  /** Running or queued, by purpose; undefined if there are none. */
  inFlight: Map<string, InFlight<unknown>> | undefined
}

export interface Departure<T> {
  readonly purpose: string
  /** Milliseconds that a call waits for a response that is late already. */
  readonly patience: number
  readonly run: (onOverdue: OnOverdue) => Promise<T>
  /** Called with the outcome of a late response, before anybody else gets it. */
  readonly onLateLanding?: (outcome: T) => void
  /** Called if a late response failed, since its callers are gone. */
  readonly onLateFailure?: (error: unknown) => void
  readonly onEnd?: () => void
}

/**
 * Called when a response has not come in time, with what callers are told. Returns for how many milliseconds it is waited
 * for, at most `limit`.
 */
export type OnOverdue = (error: Error, limit: number) => number

/** Late responses of this process that are waited for at a time. */
const LATE = 1000

const late = (): { count: number } => shared('queue:late-refreshes/1', () => ({ count: 0 }))

function overdue(): OAuthError {
  return new OAuthError('REQUEST_TIMEOUT', {
    detail: 'An earlier refresh of this session has not been answered.',
  })
}

/** Waits for `work`, at most that long. */
async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let isSettled = false
  const settled = work.then(
    () => (isSettled = true),
    () => (isSettled = true),
  )
  await atMost(milliseconds, settled)
  if (!isSettled) throw overdue()
  return work
}

/** Resolves when it is this turn; throws when a late response before it takes too long. */
async function takeTurn(turns: RedemptionQueue, turn: Turn, patience: number): Promise<void> {
  const begun = performance.now()
  for (let { current } = turns; current; { current } = turns) {
    await Promise.race([current.landed, current.late])
    if (turns.current === current) await within(begun + patience - performance.now(), current.landed)
  }
  turns.current = turn
}

function deferred<T>(): {
  promise: Promise<T>
  resolve: (value: T) => void
  reject: (error: unknown) => void
} {
  let resolve: (value: T) => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const promise = new Promise<T>((...settle) => {
    ;[resolve, reject] = settle
  })
  return { promise, resolve, reject }
}

/**
 * Runs a redemption in turn, or joins the one for the same purpose. Rejects with what it throws, and with
 * `REQUEST_TIMEOUT` when its response is late or one before it is.
 */
export function inTurn<T>(turns: RedemptionQueue, departure: Departure<T>): Promise<T> {
  const { onEnd, onLateFailure, onLateLanding, patience, purpose, run } = departure
  const joined = turns.inFlight?.get(purpose) as InFlight<T> | undefined
  if (joined) return joined.isLate() ? within(patience, joined.landing) : joined.outcome
  const failure = deferred<never>()
  const lateness = deferred<void>()
  const end = deferred<void>()
  const turn: Turn = { landed: end.promise, late: lateness.promise }
  let isLate = false

  const onOverdue: OnOverdue = (error, limit) => {
    const milliseconds = Math.min(3 * patience, limit)
    if (isLate || milliseconds <= 0 || late().count >= LATE) return 0
    isLate = true
    late().count += 1
    failure.reject(error)
    lateness.resolve()
    return milliseconds
  }

  async function fly(): Promise<T> {
    try {
      await takeTurn(turns, turn, patience)
      const outcome = await run(onOverdue)
      if (isLate) onLateLanding?.(outcome)
      return outcome
    } catch (error) {
      if (isLate) onLateFailure?.(error)
      throw error
    } finally {
      if (isLate) late().count -= 1
      if (turns.current === turn) turns.current = undefined
      turns.inFlight?.delete(purpose)
      if (turns.inFlight?.size === 0) turns.inFlight = undefined
      end.resolve()
      onEnd?.()
    }
  }

  const landing = fly()
  const outcome = Promise.race([landing, failure.promise])
  // Nobody may be left who waits for a late one.
  landing.catch(() => {})
  outcome.catch(() => {})
  turns.inFlight ??= new Map()
  turns.inFlight.set(purpose, { outcome, landing, isLate: () => isLate })
  return outcome
}
