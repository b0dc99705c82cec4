import { expect, test } from 'vitest'
import type { RedemptionEvent, RedemptionResult, RedemptionState } from './state.ts'
import { isInProgress, transition } from './state.ts'

const data = {
  user: { sub: 'alice' },
  tokenSet: { accessToken: 'at', expiresAt: 0 },
  internal: { createdAt: 0 },
}
const lateError = new Error('late')
const reset = new Error('reset')
const result: RedemptionResult = { session: { data, sessionKey: 'key', usedAt: 0 } }

const states = {
  queued: { state: 'queued', deadline: 1 },
  redeeming: { state: 'redeeming', deadline: 1 },
  late: { state: 'late', deadline: 1, lateError },
  responded: { state: 'responded', deadline: 1 },
  'responded late': { state: 'responded', deadline: 1, lateError },
  settled: { state: 'settled', result },
  failed: { state: 'failed', error: reset },
  abandoned: { state: 'abandoned' },
} as const satisfies Record<string, RedemptionState>

const itsTurn: RedemptionEvent = { type: 'itsTurn', deadline: 2 }
const sent: RedemptionEvent = { type: 'sent', deadline: 2 }
const overdue: RedemptionEvent = { type: 'overdue', deadline: 2, error: lateError }
const responded: RedemptionEvent = { type: 'responded', deadline: 2 }
const abandoned: RedemptionEvent = { type: 'abandoned' }

test.each<[keyof typeof states, RedemptionEvent, RedemptionState]>([
  ['queued', itsTurn, { state: 'queued', deadline: 2 }],
  ['queued', sent, { state: 'redeeming', deadline: 2 }],
  ['queued', responded, { state: 'responded', deadline: 2 }],
  ['queued', abandoned, { state: 'abandoned' }],
  ['redeeming', sent, { state: 'redeeming', deadline: 2 }],
  ['redeeming', overdue, { state: 'late', deadline: 2, lateError }],
  ['redeeming', responded, { state: 'responded', deadline: 2 }],
  ['redeeming', abandoned, { state: 'abandoned' }],
  ['late', responded, { state: 'responded', deadline: 2, lateError }],
  ['late', abandoned, { state: 'abandoned', lateError }],
  ['responded', sent, { state: 'redeeming', deadline: 2 }],
  ['responded late', sent, { state: 'redeeming', deadline: 2, lateError }],
  ['responded', abandoned, { state: 'abandoned' }],
  ['responded', { type: 'settled', result }, states.settled],
  ['responded', { type: 'failed', error: reset }, states.failed],
  ['responded late', { type: 'settled', result }, { ...states.settled, lateError }],
  ['responded late', { type: 'failed', error: reset }, { ...states.failed, lateError }],
  ['queued', { type: 'failed', error: reset }, states.failed],
  ['abandoned', { type: 'settled', result }, states.settled],
])('%s, after %j, is %j', (state, event, after) => {
  expect(transition(states[state], event)).toEqual(after)
})

test.each<[RedemptionEvent, readonly (keyof typeof states)[]]>([
  [overdue, ['queued', 'late', 'responded', 'responded late']],
  ...[itsTurn, sent, overdue, responded, abandoned].map(
    (event): [RedemptionEvent, readonly (keyof typeof states)[]] => [
      event,
      ['settled', 'failed', 'abandoned'],
    ],
  ),
])('%j does not concern %j', (event, unconcerned) => {
  for (const state of unconcerned) expect(transition(states[state], event)).toBe(states[state])
})

test('a redemption is in progress until it has a result or is abandoned', () => {
  const inProgress = Object.entries(states).flatMap(([name, state]) => (isInProgress(state) ? [name] : []))
  expect(inProgress).toEqual(['queued', 'redeeming', 'late', 'responded', 'responded late'])
})
