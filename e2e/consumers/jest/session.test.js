const { IdpClient } = require('idp-client')
const { isIdpError } = require('idp-client/errors')
const { generateSessionCookie } = require('idp-client/testing')

const secret = '0123456789abcdef'.repeat(4)
const idp = new IdpClient({
  domain: 'login.example.com',
  clientId: 'app',
  clientSecret: 'not used here',
  secret,
})

const request = (cookie) => new Request('https://app.example.com/', { headers: cookie ? { cookie } : {} })
const session = { user: { sub: 'alice' }, tokenSet: { accessToken: 'token', expiresAt: 4_000_000_000 } }

test('a generated cookie is a session', async () => {
  const value = await generateSessionCookie(session, { secret })
  const read = await idp.getSession(request(`__session=${value}`))
  expect(read).toMatchObject({ user: { sub: 'alice' }, tokenSet: { accessToken: 'token' } })
})

test('no cookie and a cookie of another secret are no session', async () => {
  expect(await idp.getSession(request())).toBeNull()
  const foreign = await generateSessionCookie(session, { secret: 'fedcba9876543210'.repeat(4) })
  expect(await idp.getSession(request(`__session=${foreign}`))).toBeNull()
})

test('errors are recognised', async () => {
  const error = await idp.getAccessToken(request()).catch((reason) => reason)
  expect(isIdpError(error, 'MISSING_SESSION')).toBe(true)
})
