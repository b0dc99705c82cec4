import { expect, test } from 'vitest'
import { isSessionData } from './stored-session.ts'

const token = { accessToken: 'a', audience: 'https://api.example.test/', connection: 'github', expiresAt: 1 }
const valid = {
  user: { sub: 'alice' },
  tokenSet: { accessToken: 'a', expiresAt: 1 },
  accessTokens: [token],
  connectionTokenSets: [token],
  internal: { createdAt: 1 },
}

test('a session may have tokens of every kind, or none', () => {
  const { accessTokens: _access, connectionTokenSets: _connections, ...least } = valid
  for (const session of [valid, least]) expect(isSessionData(session)).toBe(true)
})

test.each<[string, object]>([
  ['a user without sub', { user: { sub: '' } }],
  ['an access token that is not a string', { tokenSet: { accessToken: 1 } }],
  ['an ID token that is not a string', { tokenSet: { accessToken: 'a', idToken: 1 } }],
  ['a refresh token that is not a string', { tokenSet: { accessToken: 'a', refreshToken: 1 } }],
  ['an expiry that is not a number', { tokenSet: { accessToken: 'a', expiresAt: '1' } }],
  ['a further token without audience', { accessTokens: [token, { ...token, audience: undefined }] }],
  ['a further token whose expiry is not a number', { accessTokens: [{ ...token, expiresAt: '1' }] }],
  ['a token without connection', { connectionTokenSets: [token, { ...token, connection: undefined }] }],
  ['no time of its login', { internal: { createdAt: Number.NaN } }],
])('a session with %s is invalid', (_name, changes) => {
  expect(isSessionData({ ...valid, ...changes })).toBe(false)
})
