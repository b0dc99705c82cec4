import { expect, test } from 'vitest'
import { utf8 } from '../../lib/utf8.ts'
import { decodeReference, encodeReference } from './reference.ts'

const reference = { clientTag: 'client', sessionKey: 'a'.repeat(22), writtenAt: 1_800_000_000 }

test('a reference is decoded as it was encoded', () => {
  expect(decodeReference(encodeReference(reference))).toEqual(reference)
})

test.each([
  ['another version', utf8(`2.client.${reference.sessionKey}.a`)],
  ['a key that is too short', utf8('1.client.key.a')],
  ['bytes that are no text', new Uint8Array([0x31, 0x2e, 0xff])],
])('%s is not a reference', (_title, bytes) => {
  expect(decodeReference(bytes)).toBeNull()
})
