import { expect, test } from 'vitest'
import { HOSTILE_RETURN_PATHS, returnPath } from '../../test/support/return-path.ts'
import { strictText, utf8 } from '../lib/utf8.ts'
import type { ConnectTransaction, LoginTransaction } from './transaction.ts'
import { decodeTransaction, encodeTransaction } from './transaction.ts'

/* Of both kinds, so that two fields with the same letter would lose one value. */
const everyField: Required<
  Omit<LoginTransaction, 'responseType'> & Omit<ConnectTransaction, 'responseType'>
> = {
  stateHash: 'state-hash',
  codeVerifier: 'verifier',
  redirectUri: 'https://app.example/auth/callback',
  appBaseUrl: 'https://app.example',
  returnTo: returnPath('/orders'),
  crossSitePost: true,
  startedAt: 1,
  expiresAt: 2,
  clientTag: 'client-tag',
  nonce: 'nonce',
  maxAge: 3,
  scope: 'openid',
  audience: 'https://api.example',
  organization: 'org_1',
  ownScope: 'read',
  fromLink: true,
  requestedAcr: 'urn:gold',
  requestedAuthentication: 'fingerprint',
  stepUpOnly: true,
  popup: 'channel',
  authSession: 'auth-session',
  sessionKey: 'session-key',
  user: 'user-hash',
}

const connection: ConnectTransaction = { ...everyField, responseType: 'connect_code' }

test('every property of a transaction has a different letter and is decoded', () => {
  expect(decodeTransaction(encodeTransaction(connection))).toEqual(connection)
})

/** Decodes a transaction in which the encoded `returnTo` is replaced. */
function decodeWithReturnTo(target: unknown) {
  const encoded: object = JSON.parse(strictText(encodeTransaction(connection)))
  return decodeTransaction(utf8(JSON.stringify({ ...encoded, r: target })))
}

test.each(HOSTILE_RETURN_PATHS)('an invalid encoded returnTo counts as absent: %j', (target) => {
  const { returnTo: _valid, ...others } = connection
  expect(decodeWithReturnTo(target)).toEqual(others)
})

test('an encoded returnTo is normalized', () => {
  expect(decodeWithReturnTo('/a/../orders\\1\t')).toEqual({ ...connection, returnTo: '/orders/1' })
})

test.each([{ v: 2 }, { v: undefined }, { e: null }, { i: '1' }])(
  'another version, or one without its times, is not decoded: %j',
  (changes) => {
    const encoded: object = JSON.parse(strictText(encodeTransaction(connection)))
    expect(decodeTransaction(utf8(JSON.stringify({ ...encoded, ...changes })))).toBeNull()
  },
)
