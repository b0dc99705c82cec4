import { expect, test } from 'vitest'
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
  returnTo: '/orders',
  crossSitePost: true,
  startedAt: 1,
  expiresAt: 2,
  client: 'client-tag',
  nonce: 'nonce',
  maxAge: 3,
  scope: 'openid',
  audience: 'https://api.example',
  organization: 'org_1',
  ownScope: 'read',
  ownAudience: true,
  requestedAuthentication: 'fingerprint',
  stepUpOnly: true,
  popup: 'channel',
  authSession: 'auth-session',
  sessionKey: 'session-key',
  user: 'user-hash',
}

test('the letters of a transaction differ: every field comes back', () => {
  const transaction: ConnectTransaction = { ...everyField, responseType: 'connect_code' }
  expect(decodeTransaction(encodeTransaction(transaction))).toEqual(transaction)
})
