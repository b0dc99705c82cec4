import { expect, test } from 'vitest'
import type { LogEvent } from '../log/log.ts'
import { createLog } from '../log/log.ts'
import { askStore } from './store-call.ts'

class ClientClosedError extends Error {}

async function reported(cause: unknown): Promise<LogEvent[]> {
  const events: LogEvent[] = []
  const log = createLog((event) => events.push(event))
  const outcome = askStore(log, 'get', () => Promise.reject(cause))
  await expect(outcome).rejects.toMatchObject({ code: 'SESSION_STORE_FAILED', cause })
  return events
}

const failed = { level: 'error', code: 'SESSION_STORE_FAILED', operation: 'get' }

test.each([
  [Object.assign(new Error('connect 127.0.0.1:6379'), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
  [Object.assign(new Error('relation "sessions" does not exist'), { code: '42P01' }), '42P01'],
  [new ClientClosedError('The client is closed'), 'ClientClosedError'],
  [Object.assign(new ClientClosedError('closed'), { code: 7 }), 'ClientClosedError'],
])('a failure of the store is reported with the name that the driver gives it: %s', async (cause, reason) => {
  expect(await reported(cause)).toEqual([{ ...failed, reason }])
})

test.each([
  ['without a name', new Error('somebody@example.test')],
  ['with an address for a code', Object.assign(new Error('no'), { code: 'somebody@example.test' })],
  ['with the id of a session for a code', Object.assign(new Error('no'), { code: 'x'.repeat(43) })],
  ['that is no error', 'somebody@example.test'],
  ['that is nothing', undefined],
])('a failure %s is reported without a reason', async (_title, cause) => {
  expect(await reported(cause)).toEqual([failed])
})
