const { IdpClient } = require('idp-client')
const { startDevProvider } = require('idp-dev-provider')

const appBaseUrl = 'http://localhost:3000'

const cookiesOf = (response) =>
  response.headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0])
    .join('; ')

afterEach(() => jest.useRealTimers())

test('a user logs in while the date is faked', async () => {
  const provider = await startDevProvider({ host: '127.0.0.1' })
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] })
  try {
    const idp = new IdpClient({
      domain: provider.issuer,
      clientId: provider.clientId,
      clientSecret: provider.clientSecret,
      secret: '0123456789abcdef'.repeat(4),
      appBaseUrl,
      allowInsecureRequests: true,
    })
    const getUser = async (cookie) =>
      (await idp.getSession(new Request(appBaseUrl, { headers: { cookie } })))?.user
    const started = await idp.middleware(new Request(`${appBaseUrl}/auth/login`))
    const { location } = await provider.login(started.headers.get('location'), { user: 'bob' })
    const done = await idp.middleware(new Request(location, { headers: { cookie: cookiesOf(started) } }))
    expect(await getUser(cookiesOf(done))).toMatchObject({ sub: 'dev|bob' })
    jest.setSystemTime(Date.now() + 86_401_000)
    expect(await getUser(cookiesOf(done))).toBeUndefined()
  } finally {
    await provider.stop()
  }
})
