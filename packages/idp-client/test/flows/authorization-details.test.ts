import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { AuthorizationDetail, IdpClientOptions } from '../../src/index.ts'
import { customFetch } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { incompressible } from '../support/incompressible.ts'
import { popupQuery } from '../support/popup-page.ts'

const API = 'https://api.example.test/'
const FURTHER = 'https://further.example.test/'
const TTL = 600
const DETAILS: AuthorizationDetail[] = [
  { type: 'payment', instructedAmount: { currency: 'EUR', amount: '12.50' }, creditorName: 'Café Müller' },
]
const OTHER = [{ type: 'payment', identifier: 'not-requested' }]

let world: World
beforeAll(async () => {
  const apis = [API, FURTHER].map((audience) => ({ audience, scopes: ['read:things'] }))
  world = await startWorld({}, { accessTokenTtl: TTL, apis })
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  world.provider.settings.grantedDetails = 'requested'
  world.provider.clearRequests()
  world.events.length = 0
})

async function signedIn(options: IdpClientOptions = {}, details: readonly object[] = DETAILS) {
  const made = world.another({
    authorizationParameters: { audience: API, authorization_details: JSON.stringify(details) },
    ...options,
  })
  await world.login(made.browser)
  return made
}

type SignedIn = Awaited<ReturnType<typeof signedIn>>

async function tokenOf({ browser }: SignedIn, query = ''): Promise<Record<string, unknown>> {
  return (await browser.send(`/auth/access-token${query}`)).json()
}

const grantedIn = async (made: SignedIn) => (await made.browser.session()).tokenSet.authorizationDetails

/** Replaces the granted details in the responses to refreshes, or removes them. */
const whenRefreshed = (granted?: unknown) =>
  world.provider.rewrite(
    'token',
    ({ authorization_details: _granted, ...json }) =>
      granted === undefined ? json : { ...json, authorization_details: granted },
    { when: ({ body }) => body['grant_type'] === 'refresh_token' },
  )

const leftOut = () => world.events.filter(({ code }) => code === 'AUTHORIZATION_DETAILS_LEFT_OUT')

const places: [string, () => IdpClientOptions][] = [
  ['cookies', () => ({})],
  [
    'a store',
    () => ({ sessionStore: memoryStore({ name: crypto.randomUUID(), clock: () => world.clock.now }) }),
  ],
]

describe.each(places)('granted details (RFC 9396) with sessions in %s', (_place, options) => {
  test('are in the session, and with the access token of the operation and of the route', async () => {
    const made = await signedIn(options())
    expect(await grantedIn(made)).toEqual(DETAILS)
    const { authorizationDetails, token } = await made.client.getAccessToken(made.browser.request('/'))
    expect(authorizationDetails).toEqual(DETAILS)
    expect(decodeJwt(token)['authorization_details']).toEqual(DETAILS)
    expect(await tokenOf(made)).toMatchObject({ authorization_details: DETAILS })
  })

  test('can be changed by the application without a change of the session', async () => {
    const made = await signedIn(options())
    const { browser, client } = made
    for (const isRefreshed of [false, true]) {
      if (isRefreshed) world.clock.now += TTL
      const [request, response] = [browser.request('/'), new Response()]
      const [detail] = (await client.getAccessToken(request, response)).authorizationDetails ?? []
      Object.assign(detail ?? {}, { type: 'changed' })
      expect((await client.getAccessToken(request, response)).authorizationDetails).toEqual(DETAILS)
      const session = await client.getSession(request)
      expect(session?.tokenSet.authorizationDetails).toEqual(DETAILS)
      await client.updateSession(request, response, { ...session, note: isRefreshed } as never)
      browser.store(response)
      expect(await grantedIn(made)).toEqual(DETAILS)
    }
  })

  test('are those that the provider granted, not those that were requested', async () => {
    world.provider.settings.grantedDetails = 'other'
    const made = await signedIn(options())
    expect(await grantedIn(made)).toEqual(OTHER)
    expect(await tokenOf(made)).toMatchObject({ authorization_details: OTHER })
  })

  test('are those of the refreshed token', async () => {
    const made = await signedIn(options())
    world.provider.settings.grantedDetails = 'other'
    world.clock.now += TTL
    expect(await tokenOf(made)).toMatchObject({ authorization_details: OTHER })
    expect(await grantedIn(made)).toEqual(OTHER)
  })

  test('of the session stay when a refresh returns none, and go with an empty list', async () => {
    const made = await signedIn(options())
    for (const [granted, expected] of [
      [undefined, DETAILS],
      [null, DETAILS],
      [[], []],
      [undefined, []],
    ]) {
      const stop = whenRefreshed(granted)
      world.clock.now += TTL
      expect(await tokenOf(made)).toMatchObject({ authorization_details: expected })
      stop()
      expect(await grantedIn(made)).toEqual(expected)
    }
  })

  test.each([['text'], [{}], [[{}]], [[{ type: 7 }]], [[...DETAILS, null]], [[[]]]])(
    'of the wrong shape %j count as an empty list: nothing of the earlier grant is taken for granted',
    async (granted) => {
      const made = await signedIn(options())
      const stop = whenRefreshed(granted)
      world.clock.now += TTL
      expect(await tokenOf(made)).toMatchObject({ authorization_details: [] })
      stop()
      expect(await grantedIn(made)).toEqual([])
    },
  )

  test('that are nested too deep count as an empty list, and the login succeeds', async () => {
    const nested = JSON.stringify([
      { type: 'payment', path: JSON.parse(`${'['.repeat(62)}${']'.repeat(62)}`) },
    ])
    for (const [granted, expected] of [
      [nested, JSON.parse(nested)],
      [nested.replace('[]', '[[]]'), []],
      [nested.replace('[]', `${'['.repeat(20_000)}${']'.repeat(20_000)}`), []],
    ]) {
      // JSON.stringify of the provider cannot write it.
      const deep: typeof fetch = async (input, init) => {
        const response = await fetch(input, init)
        if (!String(init?.body ?? '').includes('grant_type=authorization_code')) return response
        const { authorization_details: _granted, ...json } = await response.json()
        const text = JSON.stringify(json).replace(/\}$/, `,"authorization_details":${granted}}`)
        return new Response(text, { headers: { 'content-type': 'application/json' } })
      }
      const made = await signedIn({ ...options(), [customFetch]: deep })
      expect(await grantedIn(made)).toEqual(expected)
    }
  })

  test('of a further audience are kept with its token', async () => {
    const made = await signedIn(options())
    const stop = whenRefreshed(OTHER)
    const query = `?audience=${encodeURIComponent(FURTHER)}`
    expect(await tokenOf(made, query)).toMatchObject({ authorization_details: OTHER })
    stop()
    expect(await tokenOf(made, query)).toMatchObject({ authorization_details: OTHER })
    const { accessTokens, tokenSet } = await made.browser.session()
    expect(accessTokens).toMatchObject([{ audience: FURTHER, authorizationDetails: OTHER }])
    expect(tokenSet.authorizationDetails).toEqual(DETAILS)

    const without = whenRefreshed()
    world.clock.now += TTL
    expect(await tokenOf(made, query)).toMatchObject({ authorization_details: OTHER })
    without()
  })

  test('of the session do not belong to the token of a new authorization that has none', async () => {
    const made = await signedIn(options())
    const stop = world.provider.rewrite('token', ({ authorization_details: _granted, ...json }) => json)
    await world.login(made.browser, popupQuery({}))
    stop()
    expect(await grantedIn(made)).toBeUndefined()
  })
})

test('a session without details has no property for them', async () => {
  const made = await signedIn({ authorizationParameters: { audience: API } })
  expect((await made.browser.session()).tokenSet).not.toHaveProperty('authorizationDetails')
  expect(await tokenOf(made)).not.toHaveProperty('authorization_details')
})

describe('more than 1024 bytes', () => {
  /** Details whose JSON has this number of bytes, two of which are one character. */
  function detailsOf(bytes: number): AuthorizationDetail[] {
    const creditorName = `ü${incompressible(bytes)}`
    const surplus = Buffer.byteLength(JSON.stringify([{ type: 'payment', creditorName }])) - bytes
    const details = [{ type: 'payment', creditorName: creditorName.slice(0, -surplus) }]
    expect(Buffer.byteLength(JSON.stringify(details))).toBe(bytes)
    return details
  }

  test('are left out of cookies, with an event; 1024 bytes are not', async () => {
    const large = await signedIn({}, detailsOf(1025))
    expect(await grantedIn(large)).toBeUndefined()
    expect(leftOut()).toEqual([
      { level: 'warn', code: 'AUTHORIZATION_DETAILS_LEFT_OUT', bytes: 1025, limit: 1024 },
    ])
    world.events.length = 0
    await signedIn({ onCallback: () => undefined }, detailsOf(1025))
    expect(leftOut()).toHaveLength(1)
    world.events.length = 0
    expect(await grantedIn(await signedIn({}, detailsOf(1024)))).toEqual(detailsOf(1024))
    expect(leftOut()).toEqual([])
  })

  test('of a further audience are left out with its name; the call that obtained the token returns them', async () => {
    const made = await signedIn()
    const details = detailsOf(2000)
    const stop = whenRefreshed(details)
    const query = `?audience=${encodeURIComponent(FURTHER)}`
    expect(await tokenOf(made, query)).toMatchObject({ authorization_details: details })
    stop()
    expect(leftOut()).toMatchObject([{ bytes: 2000, audience: FURTHER }])
    expect((await made.browser.session()).accessTokens?.[0]).not.toHaveProperty('authorizationDetails')
    expect(await grantedIn(made)).toEqual(DETAILS)
  })

  test('are stored in a store', async () => {
    const details = detailsOf(5000)
    const sessionStore = memoryStore({ name: crypto.randomUUID(), clock: () => world.clock.now })
    expect(await grantedIn(await signedIn({ sessionStore }, details))).toEqual(details)
    expect(leftOut()).toEqual([])
  })
})

describe('details of a session that is too large for its cookies', () => {
  const LARGE = [{ type: 'payment', creditorName: incompressible(900) }]
  const bytes = JSON.stringify(LARGE).length
  /** The size of the cookies of a session without details. */
  async function sizeWithout(): Promise<number> {
    await signedIn({ authorizationParameters: { audience: API } })
    const saved = world.events.find(({ code }) => code === 'SESSION_SAVED')
    world.events.length = 0
    return saved && 'bytes' in saved ? Number(saved.bytes) : expect.fail('there is a session')
  }

  /** Logs in; only the response has the details, since a token with them would be larger, too. */
  async function loginWith(maxBytes: number, options: IdpClientOptions = {}) {
    const stop = world.provider.rewrite('token', (json) => ({ ...json, authorization_details: LARGE }))
    const made = world.another({
      authorizationParameters: { audience: API },
      session: { cookie: { maxBytes } },
      ...options,
    })
    const { status } = await world.login(made.browser)
    stop()
    return { made, status }
  }

  test.each<[string, IdpClientOptions]>([
    ['without', {}],
    ['with', { onCallback: () => undefined }],
  ])(
    'are left out at the login %s onCallback, with an event, and the login succeeds',
    async (_with, options) => {
      const maxBytes = (await sizeWithout()) + 300
      const { made } = await loginWith(maxBytes, options)
      expect(await grantedIn(made)).toBeUndefined()
      expect(leftOut()).toEqual([
        { level: 'warn', code: 'AUTHORIZATION_DETAILS_LEFT_OUT', bytes, limit: maxBytes },
      ])
      expect(await tokenOf(made)).toMatchObject({ token: expect.any(String) })
    },
  )

  test('are not lost to a change of the session, which is refused instead', async () => {
    const { made } = await loginWith((await sizeWithout()) + 1400)
    const { browser, client } = made
    const session = await client.getSession(browser.request('/'))
    const note = incompressible(400)
    await expect(
      client.updateSession(browser.request('/'), new Response(), { ...session, note } as never),
    ).rejects.toMatchObject({ code: 'SESSION_TOO_LARGE' })
    expect(await grantedIn(made)).toEqual(LARGE)
    expect(leftOut()).toEqual([])
  })

  test('do not help a session that is too large without them', async () => {
    const { status } = await loginWith((await sizeWithout()) - 300)
    expect(status).toBe(500)
    expect(world.events).toContainEqual(expect.objectContaining({ error: 'SESSION_TOO_LARGE' }))
    expect(leftOut()).toEqual([])
  })

  test('are left out with the access token after a refresh, with an event', async () => {
    const maxBytes = (await sizeWithout()) + 300
    const made = await signedIn({ session: { cookie: { maxBytes } } })
    const stop = whenRefreshed(LARGE)
    world.clock.now += TTL
    expect(await tokenOf(made)).toMatchObject({ authorization_details: LARGE })
    stop()
    expect(leftOut()).toEqual([
      { level: 'warn', code: 'AUTHORIZATION_DETAILS_LEFT_OUT', bytes, limit: maxBytes },
    ])
    expect(world.events).toContainEqual(expect.objectContaining({ leftOut: ['access token'] }))
  })

  test('of a token that this process keeps can be changed by one request without a change for another', async () => {
    const maxBytes = (await sizeWithout()) + 300
    const made = await signedIn({ session: { cookie: { maxBytes } } })
    const { browser, client } = made
    const stop = whenRefreshed(LARGE)
    world.clock.now += TTL
    await tokenOf(made)
    stop()
    const [detail] = (await client.getAccessToken(browser.request('/'))).authorizationDetails ?? []
    Object.assign(detail ?? {}, { type: 'changed' })
    expect((await client.getAccessToken(browser.request('/'))).authorizationDetails).toEqual(LARGE)
  })
})

test('a token exchange returns the details that were granted', async () => {
  const stop = world.provider.rewrite('token', (json) => ({ ...json, authorization_details: DETAILS }))
  const result = await world.client.customTokenExchange({
    subjectToken: 'alice',
    subjectTokenType: 'urn:example:user-name',
  })
  stop()
  expect(result.authorizationDetails).toEqual(DETAILS)
})
