import { decodeJwt } from 'jose/jwt/decode'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { IdpClient, IdpClientOptions, SessionDataStore } from '../../src/index.ts'
import { customFetch } from '../../src/index.ts'
import { Browser } from '../support/app.ts'
import type { LogoutWorld } from '../support/logout-world.ts'
import { deliver, startLogoutWorld, toldStore } from '../support/logout-world.ts'
import { Process } from '../support/processes.ts'

const SUB = 'dev|alice'

let world: LogoutWorld
beforeAll(async () => {
  world = await startLogoutWorld()
})
afterAll(() => world.stop())
beforeEach(() => {
  world.events.length = 0
})

/** A logout token that was issued at that time, delivered now. */
async function endAt(client: IdpClient, subject: { sid: string } | { sub: string }, iat: number) {
  const token = await world.provider.logoutToken(subject, {
    change: (claims) => {
      claims['iat'] = iat
    },
  })
  expect((await deliver(client, token)).status).toBe(200)
}

/** The claims of each ID token that the provider issues, before the client has them. */
function meeting(
  onIdToken: (claims: { sid: string; iat: number }) => Promise<void>,
  grantType = 'authorization_code',
): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    if (!String(init?.body ?? '').includes(`grant_type=${grantType}`)) return response
    const { id_token: idToken } = (await response.clone().json()) as { id_token: string }
    const { iat = 0, sid } = decodeJwt<{ sid: string }>(idToken)
    await onIdToken({ iat, sid })
    return response
  }
}

const stores: readonly (readonly [string, () => SessionDataStore])[] = [
  ['a store that remembers', () => toldStore()],
  [
    'a store that does not',
    () => {
      const { endedAt: _endedAt, ...store } = toldStore()
      return store
    },
  ],
]

describe.each(stores)(
  '[C5] a logout by the provider that arrives during its login, with %s',
  (_name, make) => {
    async function loginMeeting(
      age: number,
      options: IdpClientOptions = {},
    ): Promise<Response & { user: unknown }> {
      const sessionStore = make()
      const { client, browser } = world.another({
        sessionStore,
        ...options,
        [customFetch]: meeting(({ iat, sid }) => endAt(client, { sid }, iat + age)),
      })
      const response = await world.login(browser)
      const session = await client.getSession(browser.request('/'))
      return Object.assign(response, { user: session?.user.sub })
    }

    test.each([0, 30])('ends the session before it is used, with a clock skew of %i s', async (clockSkew) => {
      const response = await loginMeeting(0, { dpopOptions: { clockSkew } })
      expect([response.status, response.user]).toEqual([502, undefined])
      expect(response.headers.getSetCookie().join()).not.toMatch(/__session=[^;]/)
      expect(world.events).toContainEqual(
        expect.objectContaining({
          code: 'LOGIN_FAILED',
          detail: expect.stringContaining('back-channel logout'),
        }),
      )
      expect(world.events.map(({ code }) => code)).not.toContain('LOGIN_COMPLETED')
    })

    test('that is older than the login ends nothing', async () => {
      const response = await loginMeeting(-1)
      expect([response.status, response.user]).toEqual([302, SUB])
    })

    test('is passed to the hook', async () => {
      const told: (string | undefined)[] = []
      await loginMeeting(0, {
        onCallback({ error }) {
          told.push(error?.code)
        },
      })
      expect(told).toEqual([undefined, 'AUTHORIZATION_CODE_GRANT_ERROR'])
    })
  },
)

describe.each(stores)('[M6] a logout of a user that arrives during a login, with %s', (_name, make) => {
  /** The session after a login, during which the provider ends sessions of that subject. */
  async function userAfter(
    toSubject: (sid: string) => { sid: string } | { sub: string },
    age: number,
  ): Promise<[status: number, user: string | undefined]> {
    const { client, browser } = world.another({
      sessionStore: make(),
      [customFetch]: meeting(({ iat, sid }) => endAt(client, toSubject(sid), iat + age)),
    })
    const { status } = await world.login(browser)
    return [status, (await client.getSession(browser.request('/')))?.user.sub]
  }

  test('ends the session before it is used', async () => {
    expect(await userAfter(() => ({ sub: SUB }), 0)).toEqual([502, undefined])
  })

  test('that is older than the ID token ends nothing', async () => {
    expect(await userAfter(() => ({ sub: SUB }), -1)).toEqual([302, SUB])
  })

  test('of another user ends nothing, even if their sub is the sid', async () => {
    expect(await userAfter(() => ({ sub: 'dev|bob' }), 0)).toEqual([302, SUB])
    expect(await userAfter((sid) => ({ sub: sid }), 0)).toEqual([302, SUB])
  })

  test('with the sid of another session ends nothing', async () => {
    expect(await userAfter(() => ({ sub: SUB, sid: 'another session' }), 0)).toEqual([302, SUB])
  })
})

describe.each(stores)(
  'a logout of the session that a refresh names, which arrives during it, with %s',
  (_name, make) => {
    /** The status of a refresh that brings another `sid`, and the user after it. */
    async function refreshMeeting(age: number, options: IdpClientOptions = {}) {
      const { client, browser } = world.another({
        sessionStore: make(),
        ...options,
        [customFetch]: meeting(({ iat, sid }) => endAt(client, { sid }, iat + age), 'refresh_token'),
      })
      await world.login(browser)
      world.clock.now += 3601
      const restore = world.provider.tamperIdToken((claims) => {
        claims['sid'] = 'of the refresh'
      })
      const { status } = await browser.send('/auth/access-token')
      restore()
      const session = await client.getSession(browser.request('/'))
      return [status, session?.internal.sid]
    }

    test('ends the session', async () => {
      expect(await refreshMeeting(0)).toEqual([401, undefined])
    })

    test('ends it also if a hook removes the ID token', async () => {
      const beforeSessionSaved: IdpClientOptions['beforeSessionSaved'] = ({ tokenSet, ...session }) => {
        const { idToken: _removed, ...others } = tokenSet
        return { ...session, tokenSet: others }
      }
      expect(await refreshMeeting(0, { beforeSessionSaved })).toEqual([401, undefined])
    })

    test('that is older than the ID token ends nothing', async () => {
      expect(await refreshMeeting(-1)).toEqual([200, 'of the refresh'])
    })

    test('ends it also if the store cannot tell at first whether it has ended', async () => {
      const store = make()
      let failures = 0
      const sessionStore: SessionDataStore = {
        ...store,
        async deleteByLogoutToken(token) {
          await store.deleteByLogoutToken?.(token)
          failures = 2
        },
        ...(store.endedAt && {
          async endedAt(subject) {
            if (failures-- > 0) throw new Error('the store is down')
            return (await store.endedAt?.(subject)) ?? null
          },
        }),
      }
      expect(await refreshMeeting(0, { sessionStore })).toEqual([401, undefined])
    })
  },
)

describe.each(stores)('[C5] a logout by the provider that arrives during a popup, with %s', (_name, make) => {
  const popup = '?challengeMode=popup&popup=a0b1c2d3e4f5a0b1c2d3e4f5a0b1c2d3'

  /** Signs in, then steps up in a popup in a new session of the provider, which it ends meanwhile. */
  async function stepUpMeeting(
    age: number,
  ): Promise<{ user: string | undefined; sids: (string | undefined)[] }> {
    let isPopup = false
    const { client, browser } = world.another({
      sessionStore: make(),
      [customFetch]: meeting(async ({ iat, sid }) => {
        if (isPopup) await endAt(client, { sid }, iat + age)
      }),
    })
    await world.login(browser)
    const before = await client.getSession(browser.request('/'))
    isPopup = true
    await world.login(browser, popup)
    const after = await client.getSession(browser.request('/'))
    return { user: after?.user.sub, sids: [before?.internal.sid, after?.internal.sid] }
  }

  test('ends the session that took the new ID token', async () => {
    expect(await stepUpMeeting(0)).toEqual({ user: undefined, sids: [expect.any(String), undefined] })
  })

  test('that is older than the popup ends nothing', async () => {
    const { sids, user } = await stepUpMeeting(-1)
    expect(user).toBe(SUB)
    expect(sids[1]).not.toBe(sids[0])
  })
})

test('[C5] a popup keeps the session if the store fails to tell whether the provider has ended it', async () => {
  const store = toldStore()
  let isPopup = false
  const sessionStore: SessionDataStore = {
    ...store,
    async endedAt(session) {
      if (isPopup) throw new Error('the store is down')
      return (await store.endedAt?.(session)) ?? null
    },
  }
  const { client, browser } = world.another({ sessionStore })
  await world.login(browser)
  isPopup = true
  await world.login(browser, '?challengeMode=popup&popup=a0b1c2d3e4f5a0b1c2d3e4f5a0b1c2d3')
  expect((await client.getSession(browser.request('/')))?.user.sub).toBe(SUB)
})

test('[C5] the logout may arrive at another process, with a store that remembers it', async () => {
  const [one, two] = [new Process(), new Process()]
  const sessionStore = toldStore()
  const { client } = world.another({ sessionStore })
  const { browser } = world.another({
    sessionStore,
    [customFetch]: meeting(({ iat, sid }) => two.run(() => endAt(client, { sid }, iat))),
  })
  const { status } = await one.run(() => world.login(browser))
  expect(status).toBe(502)
})

test('[C5] a login that begins after the logout has a session, also with the same sid', async () => {
  const sessionStore = toldStore()
  const { client } = world.another({ sessionStore })
  const jar = (await import('idp-dev-provider')).createCookieJar()
  const first = new Browser(client)
  await world.login(first, '', { user: 'alice', jar })
  const sid = (await client.getSession(first.request('/')))?.internal.sid ?? ''
  await endAt(client, { sid }, world.clock.now)
  expect(await client.getSession(first.request('/'))).toBeNull()
  world.clock.now += 1
  const second = new Browser(client)
  expect((await world.login(second, '', { user: 'alice', jar })).status).toBe(302)
  expect((await client.getSession(second.request('/')))?.internal.sid).toBe(sid)
})

test('[C5] a late logout of a user ends the sessions that began before it, and no newer one', async () => {
  const sessionStore = toldStore()
  const { client } = world.another({ sessionStore })
  const [older, newer] = [new Browser(client), new Browser(client)]
  const issuedAt = world.clock.now
  await world.login(older)
  // Two clocks may differ by a minute.
  world.clock.now += 61
  await world.login(newer)
  await endAt(client, { sub: SUB }, issuedAt)
  expect(await client.getSession(older.request('/'))).toBeNull()
  expect((await client.getSession(newer.request('/')))?.user.sub).toBe(SUB)
})

test('[C5] the time of a logout is passed to stores by the clock of the application', async () => {
  const sessionStore = toldStore()
  const { client } = world.another({ sessionStore, dpopOptions: { clockSkew: 30 } })
  await endAt(client, { sub: 'somebody' }, world.clock.now + 30)
  expect(sessionStore.told.at(-1)).toMatchObject({ iat: world.clock.now })
})

test('[C5] a logout that another process receives while a popup writes its session, in a store without update', async () => {
  const { lock: _lock, set, update: _update, ...others } = toldStore()
  let isPopup = false
  const sessionStore: SessionDataStore = {
    ...others,
    async set(id, session, expiry) {
      const { iat = 0, iss = '', sid = '' } = decodeJwt<{ sid: string }>(session.tokenSet.idToken ?? '')
      if (isPopup) await others.deleteByLogoutToken({ iat, iss, sid })
      await set(id, session, expiry)
    },
  }
  const { client, browser } = world.another({ sessionStore })
  const jar = world.provider.createJar()
  await world.login(browser, '', { user: 'alice', jar })
  isPopup = true
  const popup = '?challengeMode=popup&popup=a0b1c2d3e4f5a0b1c2d3e4f5a0b1c2d3'
  expect((await world.login(browser, popup, { user: 'alice', jar })).status).toBe(502)
  expect(await client.getSession(browser.request('/'))).toBeNull()
})
