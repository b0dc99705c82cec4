import { expect, test } from 'vitest'
import { describe } from '../../errors/diagnosis.ts'
import { SessionStoreError } from '../../errors/session.ts'
import { askStore } from './store-call.ts'

class ClientClosedError extends Error {}

async function failureOf(cause: unknown): Promise<SessionStoreError> {
  const error: unknown = await askStore('get', () => Promise.reject(cause)).catch((thrown: unknown) => thrown)
  if (!(error instanceof SessionStoreError)) throw new TypeError('expected a SessionStoreError')
  expect(error).toMatchObject({ code: 'SESSION_STORE_FAILED', operation: 'get', cause })
  return error
}

test.each([
  [
    Object.assign(new Error('connect 127.0.0.1:6379'), { code: 'ECONNREFUSED' }),
    'ECONNREFUSED',
    'SESSION_STORE_UNREACHABLE',
  ],
  [
    Object.assign(new Error('relation "sessions" does not exist'), { code: '42P01' }),
    '42P01',
    'SESSION_STORE_NOT_SET_UP',
  ],
  [new ClientClosedError('The client is closed'), 'ClientClosedError', 'SESSION_STORE_NOT_CONNECTED'],
  [
    Object.assign(new ClientClosedError('closed'), { code: 7 }),
    'ClientClosedError',
    'SESSION_STORE_NOT_CONNECTED',
  ],
  [Object.assign(new Error('no'), { code: 'ERR_ODD' }), 'ERR_ODD', 'SESSION_STORE_FAILED'],
])(
  'a failure of the store has the name that its driver gives it, and a remedy: %s',
  async (cause, reason, remedy) => {
    const error = await failureOf(cause)
    expect(error).toMatchObject({ reason, remedy })
    expect(describe(error)).toBe(`The session store could not be read or written. Operation: get, ${reason}.`)
  },
)

test.each([
  ['without a name', new Error('somebody@example.test')],
  ['with an address for a code', Object.assign(new Error('no'), { code: 'somebody@example.test' })],
  ['with the id of a session for a code', Object.assign(new Error('no'), { code: 'x'.repeat(43) })],
  ['that is not an error', 'somebody@example.test'],
  ['that is nothing', undefined],
])('a failure %s has no reason', async (_title, cause) => {
  const error = await failureOf(cause)
  expect(error).toMatchObject({ reason: undefined, remedy: 'SESSION_STORE_FAILED' })
  expect(error.message).not.toContain('somebody')
})
