test('the package loads as modules', async () => {
  const { IdpClient } = await import('idp-client')
  const { generateSessionCookie } = await import('idp-client/testing')
  const secret = '0123456789abcdef'.repeat(4)
  const idp = new IdpClient({
    domain: 'login.example.com',
    clientId: 'app',
    clientSecret: 'not used here',
    secret,
  })
  const value = await generateSessionCookie(
    { user: { sub: 'alice' }, tokenSet: { accessToken: 'token', expiresAt: 4_000_000_000 } },
    { secret },
  )
  const read = await idp.getSession(
    new Request('https://app.example.com/', { headers: { cookie: `__session=${value}` } }),
  )
  expect(read.user.sub).toBe('alice')
})
