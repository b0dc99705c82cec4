import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connectAccount } from '../../src/flows/connected-accounts.ts'
import type { IdpClientOptions } from '../../src/index.ts'
import { createSession, freshlyStored } from '../../src/session/model/session.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser } from '../support/app.ts'
import { APP } from '../support/app.ts'
import type { ConnectWorld } from '../support/connect.ts'
import { codeOf, json, startConnectWorld } from '../support/connect.ts'
import { Cookies, engineFor } from '../support/engine.ts'
import { keeping } from '../support/mfa.ts'
import { rejectionOf } from '../support/provider-engine.ts'

let world: ConnectWorld
beforeAll(async () => {
  world = await startConnectWorld()
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  for (const { name } of world.provider.users()) world.provider.accounts.remove(name)
  world.provider.clearRequests()
})

/** A signed-in user of an application with these options. */
async function signedIn(options: IdpClientOptions) {
  const other = world.another(options)
  await world.login(other.browser)
  return other
}

describe('an account is connected', () => {
  test('with sessions in a store: stored tokens of the connection are there too', async () => {
    const { browser, client } = await signedIn({ sessionStore: memoryStore() })
    world.provider.accounts.add('alice', { connection: 'github' })
    const headers = new Headers()
    await client.getAccessTokenForConnection(browser.request('/'), headers, { connection: 'github' })
    expect((await client.getSession(browser.request('/')))?.connectionTokenSets).toHaveLength(1)
    expect((await world.connect(browser)).status).toBe(302)
    const session = await client.getSession(browser.request('/'))
    expect(session?.connectionTokenSets).toBeUndefined()
    expect(session?.user.sub).toBe('dev|alice')
    const { browser: stranger } = await signedIn({ sessionStore: memoryStore() })
    const callback = await world.decide(await world.beginConnect(browser))
    for (const [name, cookie] of browser.cookies) {
      if (name.startsWith('__txn_')) stranger.cookies.set(name, cookie)
    }
    expect(await codeOf(await stranger.send(callback, json))).toBe('MISSING_SESSION')
  })

  test('at an issuer with a path: its audience is below the issuer, its API at the origin', async () => {
    const own = await startConnectWorld({}, { path: '/tenant-a' })
    const browser = await own.signedIn()
    expect((await own.connect(browser)).status).toBe(302)
    const [refresh] = own.provider.requests('token').slice(-1)
    expect(refresh?.body['audience']).toBe(`${own.provider.issuer.replace(/\/$/, '')}/me/`)
    expect(own.provider.requests('account-complete')[0]?.url).toBe('/me/v1/connected-accounts/complete')
    await own.provider.stop()
  })

  test('with one transaction at a time: the later connection completes, the earlier one gets an error', async () => {
    const { browser } = await signedIn({ enableParallelTransactions: false })
    const earlier = await world.beginConnect(browser, '?connection=github&returnTo=/earlier')
    const later = await world.beginConnect(browser, '?connection=google-oauth2')
    const superseded = await browser.send(await world.decide(earlier))
    expect(superseded.headers.get('location')).toBe(`${APP}/earlier`)
    expect((await browser.send(await world.decide(later))).status).toBe(302)
    expect(world.provider.accounts.list('alice')).toMatchObject([{ connection: 'google-oauth2' }])
  })

  test('with a configured redirect_uri: it is unchanged in both requests', async () => {
    const redirect_uri = `${APP}/auth/callback?app=a%20b`
    const { browser } = await signedIn({ authorizationParameters: { redirect_uri } })
    await world.connect(browser)
    for (const endpoint of ['account-connect', 'account-complete'] as const) {
      expect(world.provider.requests(endpoint)[0]?.json?.['redirect_uri']).toBe(redirect_uri)
    }
  })

  test('with other wire values of the provider', async () => {
    world.provider.addApi({
      audience: `${world.provider.issuer.replace(/\/$/, '')}/account-api/`,
      scopes: ['link:accounts', 'list:accounts', 'unlink:accounts'],
    })
    const { browser } = await signedIn({
      vendor: {
        accountAudience: 'account-api/',
        accountApiPath: '/elsewhere',
        accountCreateScope: 'link:accounts',
        accountReadScope: 'list:accounts',
        accountDeleteScope: 'unlink:accounts',
      },
    })
    await browser.send('/auth/connect?connection=github')
    const [refresh] = world.provider.requests('token').slice(-1)
    expect(refresh?.body).toMatchObject({ scope: 'link:accounts list:accounts unlink:accounts' })
    expect(refresh?.body['audience']).toMatch(/\/account-api\/$/)
    expect(world.provider.requests().some(({ url }) => url === '/elsewhere/connect')).toBe(true)
  })
})

test('a transaction of one client cannot be completed by another client with the same secret', async () => {
  const { clientId, privateKey } = world.provider.keyClient
  const other = world.another({ clientId, clientSecret: undefined, clientAssertionSigningKey: privateKey })
  const browser = await world.signedIn()
  const callback = await world.decide(await world.beginConnect(browser))
  world.provider.clearRequests()
  const response = await other.client.middleware(browser.request(callback, json))
  expect(await codeOf(response)).toBe('UNKNOWN_STATE')
  expect(world.provider.requests()).toEqual([])
})

test('no request is sent where no cookie can be written', async () => {
  const { engine } = engineFor()
  const cookies = new Cookies()
  const first = cookies.exchange()
  const now = engine.config.clock()
  const user = { sub: 'alice' }
  const session = createSession({ claims: user, tokenSet: { accessToken: 'a', expiresAt: now }, now })
  await engine.sessions.save(first, freshlyStored(session, now))
  cookies.take(first)
  const readOnly = { ...cookies.exchange(), canWrite: () => false }
  const input = { options: { connection: 'github' }, source: 'application', correlationId: 'id' } as const
  const refused = await rejectionOf(
    connectAccount(engine, readOnly, input, () => expect.fail('no token is requested')),
  )
  expect(refused).toMatchObject({ code: 'SESSION_NOT_WRITABLE' })
})

test('a connection that continues in the browser of another user connects nothing', async () => {
  const [alice, bob] = [await world.signedIn('alice'), await world.signedIn('bob')]
  const callback = await world.decide(await world.beginConnect(alice))
  for (const [name, cookie] of alice.cookies) {
    if (name.startsWith('__txn_')) bob.cookies.set(name, cookie)
  }
  expect(await codeOf(await bob.send(callback, json))).toBe('MISSING_SESSION')
  for (const user of ['alice', 'bob']) expect(world.provider.accounts.list(user)).toEqual([])
})

test('a connection ends if the application puts another user into the session', async () => {
  const [alice, bob] = [await world.signedIn('alice'), await world.signedIn('bob')]
  const callback = await world.decide(await world.beginConnect(alice))
  const theirs = await world.client.getSession(bob.request('/'))
  await keeping(alice, async (request, headers) => {
    const mine = await world.client.getSession(request)
    if (!mine || !theirs) throw new Error('nobody is signed in')
    const { tokenSet, user } = theirs
    await world.client.updateSession(request, headers, { ...mine, tokenSet, user })
  })
  expect((await world.client.getSession(alice.request('/')))?.user.sub).toBe('dev|bob')
  expect(await codeOf(await alice.send(callback, json))).toBe('MISSING_SESSION')
  for (const user of ['alice', 'bob']) expect(world.provider.accounts.list(user)).toEqual([])
})

describe('an account that cannot be disconnected', () => {
  const remove = (browser: Browser, id: string) =>
    keeping(browser, (request, headers) => world.client.deleteConnectedAccount(request, headers, { id }))

  test('without a token: no request is sent, so stored tokens stay', async () => {
    const browser = await world.signedIn()
    const account = world.provider.accounts.add('alice', { connection: 'github' })
    const token = () =>
      keeping(browser, (request, headers) =>
        world.client.getAccessTokenForConnection(request, headers, { connection: 'github' }),
      )
    const kept = await token()
    world.provider.faults.set('token', { kind: 'respond', status: 503 })
    expect(await rejectionOf(remove(browser, account.id))).toMatchObject({
      code: 'FAILED_TO_DELETE',
      cause: { name: 'AccessTokenError' },
    })
    expect(await token()).toEqual(kept)
    world.provider.faults.clear()
    expect(world.provider.count('account-delete')).toBe(0)
  })

  test('rejected by the API: the cause is its error', async () => {
    const browser = await world.signedIn()
    expect(await rejectionOf(remove(browser, 'cac_none'))).toMatchObject({
      code: 'FAILED_TO_DELETE',
      cause: { code: 'MY_ACCOUNT_API_ERROR', providerStatus: 404 },
    })
  })

  test('a lone surrogate is not an id', async () => {
    const browser = await world.signedIn()
    expect(await rejectionOf(remove(browser, 'cac_\ud800'))).toMatchObject({ code: 'INVALID_REQUEST' })
  })
})

test('auth_session of the API has to fit into a cookie', async () => {
  const browser = await world.signedIn()
  const connectWith = (length: number) => {
    const longer = (body: Record<string, unknown>) => {
      body['auth_session'] = 'x'.repeat(length)
    }
    world.provider.rewrite('account-connect', longer, { times: 1 })
    return browser.send('/auth/connect?connection=github', json)
  }
  expect((await connectWith(1536)).status).toBe(302)
  const [name = ''] = browser.names('__txn_')
  expect(`${name}=${browser.cookies.get(name)?.value}`.length).toBeLessThanOrEqual(3000)
  browser.cookies.delete(name)
  const refused = await connectWith(1537)
  expect(refused.status).toBe(502)
  expect(await codeOf(refused)).toBe('FAILED_TO_INITIATE')
  expect(browser.names('__txn_')).toEqual([])
})
