import { expect, test } from 'vitest'
import { OAuthError } from '../../errors/provider.ts'
import type { Redemption, Refresh, RefreshEvent } from './state.ts'
import { isInProgress, isUnsettled, transition } from './state.ts'

const data = {
  user: { sub: 'alice' },
  tokenSet: { accessToken: 'at', expiresAt: 0 },
  internal: { createdAt: 0 },
}
const late = new Error('late')
const reset = new Error('reset')
const rejected = new OAuthError('OAUTH_ERROR', { error: 'invalid_grant' })
const inProcess: Redemption = { session: { data, sessionKey: 'key', usedAt: 0 } }
const inStore: Redemption = { ...inProcess, isStored: true }
const refused: Redemption = { ...inStore, failure: rejected }
const forever = Number.POSITIVE_INFINITY

const states = {
  queued: { state: 'queued', deadline: 1 },
  redeeming: { state: 'redeeming', deadline: 1 },
  late: { state: 'late', deadline: 1, late },
  rotated: { state: 'rotated', deadline: 1 },
  'rotated late': { state: 'rotated', deadline: 1, late },
  'rotated at the end': { state: 'rotated', deadline: forever, redemption: inProcess },
  stored: { state: 'stored', redemption: inStore },
  dead: { state: 'dead', error: rejected },
  failed: { state: 'failed', error: reset },
  abandoned: { state: 'abandoned', wasSent: true },
} as const satisfies Record<string, Refresh>

const turn: RefreshEvent = { type: 'turn', deadline: 2 }
const sent: RefreshEvent = { type: 'sent', deadline: 2 }
const overdue: RefreshEvent = { type: 'overdue', deadline: 2, error: late }
const responded: RefreshEvent = { type: 'responded', deadline: 2 }
const lost: RefreshEvent = { type: 'lost' }

test.each<[keyof typeof states, RefreshEvent, Refresh]>([
  ['queued', turn, { state: 'queued', deadline: 2 }],
  ['queued', sent, { state: 'redeeming', deadline: 2 }],
  ['queued', responded, { state: 'rotated', deadline: 2 }],
  ['queued', lost, { state: 'abandoned', wasSent: false }],
  ['redeeming', sent, { state: 'redeeming', deadline: 2 }],
  ['redeeming', overdue, { state: 'late', deadline: 2, late }],
  ['redeeming', responded, { state: 'rotated', deadline: 2 }],
  ['redeeming', lost, { state: 'abandoned', wasSent: true }],
  ['late', responded, { state: 'rotated', deadline: 2, late }],
  ['late', lost, { state: 'abandoned', wasSent: true, late }],
  ['rotated', sent, { state: 'redeeming', deadline: 2 }],
  ['rotated', lost, { state: 'abandoned', wasSent: true }],
  ['rotated', { type: 'redeemed', redemption: inProcess }, states['rotated at the end']],
  ['rotated', { type: 'redeemed', redemption: inStore }, states.stored],
  ['rotated', { type: 'redeemed', redemption: refused }, { state: 'dead', redemption: refused }],
  ['rotated', { type: 'failed', error: rejected }, states.dead],
  ['rotated late', { type: 'redeemed', redemption: inStore }, { ...states.stored, late }],
  ['rotated late', { type: 'failed', error: reset }, { ...states.failed, late }],
  ['queued', { type: 'failed', error: reset }, states.failed],
  ['abandoned', { type: 'redeemed', redemption: inStore }, states.stored],
])('%s, after %j, is %j', (state, event, after) => {
  expect(transition(states[state], event)).toEqual(after)
})

test.each<[RefreshEvent, readonly (keyof typeof states)[]]>([
  [overdue, ['queued', 'late', 'rotated', 'rotated late']],
  [sent, ['late']],
  ...[turn, sent, overdue, responded, lost].map((event): [RefreshEvent, readonly (keyof typeof states)[]] => [
    event,
    ['rotated at the end', 'stored', 'dead', 'failed', 'abandoned'],
  ]),
])('%j does not concern %j', (event, unconcerned) => {
  for (const state of unconcerned) expect(transition(states[state], event)).toBe(states[state])
})

test('a refresh is in progress until it has a result, and unsettled while the provider may have rotated the token', () => {
  const named = (is: (refresh: Refresh) => boolean): string[] =>
    Object.entries(states).flatMap(([name, state]) => (is(state) ? [name] : []))
  expect(named(isInProgress)).toEqual(['queued', 'redeeming', 'late', 'rotated', 'rotated late'])
  expect(named(isUnsettled)).toEqual(['redeeming', 'late', 'rotated', 'rotated late', 'abandoned'])
})
