import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { IdpClient, IdpClientOptions } from '../../src/index.ts'
import { customFetch } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser } from '../support/app.ts'
import { holding } from '../support/holding.ts'
import type { MfaWorld } from '../support/mfa.ts'
import { BANK, demandOf, keeping, startMfaWorld, TTL } from '../support/mfa.ts'
import { rejectionOf } from '../support/provider-engine.ts'
import { withoutWaiting } from '../support/timers.ts'

const CLAIM = 'session_expiry'
const ABSOLUTE = 10_000
const INACTIVITY = 5000
const TOKEN = '/auth/access-token'
const POPUP = '?challengeMode=popup&popup=a0b1c2d3e4f5a0b1c2d3e4f5a0b1c2d3'

let world: MfaWorld
beforeEach(async () => {
  world = await startMfaWorld({
    session: { expiryClaim: CLAIM, absoluteDuration: ABSOLUTE, inactivityDuration: INACTIVITY },
  })
})
afterEach(() => world.provider.stop())

/** From now on ID tokens have the claim, with this value. */
function tell(value: unknown, name = CLAIM): void {
  world.provider.tamperIdToken((claims) => {
    claims[name] = value
  })
}

const at = (seconds: number): number => world.clock.now + seconds

async function codeOf(response: Response): Promise<unknown> {
  const body = (await response.json()) as { error: { code: string } }
  return [response.status, body.error.code]
}

const isSignedIn = async ({ browser, client }: { browser: Browser; client: IdpClient }): Promise<boolean> =>
  (await client.getSession(browser.request('/'))) !== null

const maxAge = (browser: Browser): number =>
  Number(/max-age=(\d+)/i.exec(browser.cookies.get('__session')?.text ?? '')?.[1])

const ignored = (): number => world.events.filter(({ code }) => code === 'SESSION_EXPIRY_IGNORED').length

/** Values that are no end of a session. */
const NONSENSE: readonly unknown[] = ['1800000000', '', 1.5, 1e300, 2 ** 53, null, true, [], {}, 'soon']

const storages: [string, () => IdpClientOptions][] = [
  ['in cookies', () => ({})],
  ['in a store', () => ({ sessionStore: store() })],
  [
    'in a store without update',
    () => {
      const { update: _update, ...rest } = store()
      return { sessionStore: rest }
    },
  ],
]

const store = () => memoryStore({ name: crypto.randomUUID(), clock: () => world.clock.now })

describe.each(storages)('sessions %s', (_where, toOptions) => {
  async function signedIn(options: IdpClientOptions = {}) {
    const made = world.another({ ...toOptions(), ...options })
    const response = await world.login(made.browser)
    expect(response.status).toBe(302)
    return made
  }

  describe('at a login', () => {
    test.each<[string, number | undefined, number]>([
      ['no claim', undefined, INACTIVITY],
      ['an end before the inactivity limit', 100, 100],
      ['an end one second ahead', 1, 1],
      ['an end between both limits', 7000, INACTIVITY],
      ['an end after the absolute limit', ABSOLUTE + 1, INACTIVITY],
      ['an end in milliseconds', 1_800_000_000_000, INACTIVITY],
    ])('%s', async (_title, seconds, lifetime) => {
      if (seconds !== undefined) tell(at(seconds))
      const { browser } = await signedIn()
      expect(maxAge(browser)).toBe(lifetime)
      const { internal } = await browser.session()
      expect(internal.sessionExpiresAt).toBe(seconds === undefined ? undefined : at(seconds))
      expect(Object.keys(internal)).toHaveLength(seconds === undefined ? 2 : 3)
    })

    test.each([-1, 0])('an end %d seconds ahead is refused', async (seconds) => {
      tell(at(seconds))
      const made = world.another(toOptions())
      expect((await world.login(made.browser)).status).toBe(401)
      expect([made.browser.names('__session'), await isSignedIn(made)]).toEqual([[], false])
      expect(world.events).toContainEqual(
        expect.objectContaining({ code: 'LOGIN_FAILED', level: 'warn', error: 'SESSION_EXPIRED' }),
      )
    })

    test('a negative end, and 0, are in the past', async () => {
      for (const value of [-1800000000, 0, -0]) {
        tell(value)
        expect((await world.login(world.another(toOptions()).browser)).status).toBe(401)
      }
    })

    test('a value that is not an integer is refused', async () => {
      for (const value of NONSENSE) {
        tell(value)
        world.events.length = 0
        const made = world.another(toOptions())
        expect((await world.login(made.browser)).status).toBe(502)
        expect(await isSignedIn(made)).toBe(false)
        expect(world.events).toContainEqual(
          expect.objectContaining({ code: 'LOGIN_FAILED', remedy: 'SESSION_EXPIRY_CLAIM' }),
        )
      }
    })

    test('the hook gets the error, and a session that was there stays', async () => {
      const errors: unknown[] = []
      const onCallback: IdpClientOptions['onCallback'] = ({ error }) => void errors.push(error?.code)
      const made = await signedIn({ onCallback })
      tell(at(-1))
      await world.login(made.browser)
      expect([errors, await isSignedIn(made)]).toEqual([[undefined, 'SESSION_EXPIRED'], true])
    })

    test('the claim of UserInfo does not count, and neither does another claim of the ID token', async () => {
      world.provider.rewrite('userinfo', (json) => ({ ...json, [CLAIM]: at(10) }))
      tell(at(10), 'another_expiry')
      const { browser } = await signedIn({ fetchUserInfo: true })
      expect(maxAge(browser)).toBe(INACTIVITY)
    })

    test('it is by the clock of the provider', async () => {
      tell(at(100))
      const { browser } = await signedIn({ dpopOptions: { clockSkew: 30 } })
      expect([maxAge(browser), (await browser.session()).internal.sessionExpiresAt]).toEqual([70, at(70)])
    })
  })

  test('without the option the claim has no effect', async () => {
    tell(at(-1))
    const { browser } = await signedIn({ session: { inactivityDuration: INACTIVITY } })
    const { internal, user } = await browser.session()
    expect([maxAge(browser), internal.sessionExpiresAt, user[CLAIM]]).toEqual([INACTIVITY, undefined, at(-1)])
  })

  test('the session ends then, whatever its use, with and without rolling', async () => {
    for (const rolling of [true, false]) {
      tell(at(1000))
      const session = {
        rolling,
        expiryClaim: CLAIM,
        absoluteDuration: ABSOLUTE,
        inactivityDuration: INACTIVITY,
      }
      const made = await signedIn({ session })
      expect(maxAge(made.browser)).toBe(1000)
      world.pass(999)
      await made.browser.send('/')
      expect([maxAge(made.browser), await isSignedIn(made)]).toEqual([rolling ? 1 : 1000, true])
      world.pass(1)
      expect(await isSignedIn(made)).toBe(false)
      await made.browser.send('/')
      expect(made.browser.names('__session')).toEqual([])
    }
  })

  test('neither the application nor a hook can change it', async () => {
    tell(at(1000))
    const made = await signedIn({
      beforeSessionSaved: (session) => ({
        ...session,
        internal: { ...session.internal, sessionExpiresAt: at(9000) },
      }),
    })
    const session = await made.browser.session()
    await keeping(made.browser, (request, headers) =>
      made.client.updateSession(request, headers, {
        ...session,
        more: 1,
        internal: { ...session.internal, sessionExpiresAt: at(9000) },
      }),
    )
    const { internal, ...after } = await made.browser.session()
    expect([after['more'], internal.sessionExpiresAt, maxAge(made.browser)]).toEqual([1, at(1000), 1000])
    world.pass(1000)
    expect(await isSignedIn(made)).toBe(false)
  })

  describe('at a refresh', () => {
    /** A session that ends in 2000 seconds, and needs a refresh now. */
    async function due(options: IdpClientOptions = {}) {
      tell(at(TTL + 1 + 2000))
      const made = await signedIn(options)
      world.provider.faults.clear()
      world.pass(TTL + 1)
      world.provider.clearRequests()
      return made
    }

    test.each<[string, number | undefined, number]>([
      ['no claim: the end stays', undefined, 2000],
      ['an earlier end', 100, 100],
      ['a later end: the earlier one stays', 3000, 2000],
      ['an end after the absolute limit', ABSOLUTE, 2000],
    ])('%s', async (_title, seconds, lifetime) => {
      const made = await due()
      if (seconds !== undefined) tell(at(seconds))
      expect((await made.browser.send(TOKEN)).status).toBe(200)
      await made.browser.send('/')
      expect(maxAge(made.browser)).toBe(lifetime)
      expect((await made.browser.session()).internal.sessionExpiresAt).toBe(at(lifetime))
      expect(ignored()).toBe(0)
    })

    test('a response without an ID token: the end stays', async () => {
      const made = await due()
      world.provider.rewrite('token', ({ id_token: _none, ...json }) => json)
      expect((await made.browser.send(TOKEN)).status).toBe(200)
      expect((await made.browser.session()).internal.sessionExpiresAt).toBe(at(2000))
    })

    test('a value that is not an integer: the end and all tokens stay, with an event', async () => {
      for (const value of NONSENSE) {
        const made = await due()
        world.events.length = 0
        tell(value)
        expect((await made.browser.send(TOKEN)).status).toBe(200)
        expect((await made.browser.session()).internal.sessionExpiresAt).toBe(at(2000))
        expect(world.events.filter(({ code }) => code === 'SESSION_EXPIRY_IGNORED')).toEqual([
          {
            level: 'warn',
            code: 'SESSION_EXPIRY_IGNORED',
            detail: 'The claim of session.expiryClaim is not an integer.',
            remedy: 'SESSION_EXPIRY_CLAIM',
            advice: expect.stringContaining('seconds since the epoch'),
          },
        ])
        world.provider.faults.clear()
      }
    })

    test.each([0, -1, -1e9])('an end %d seconds ahead ends the session', async (seconds) => {
      const made = await due()
      const copied = new Map(made.browser.cookies)
      tell(at(seconds))
      expect(await codeOf(await made.browser.send(TOKEN))).toEqual([401, 'SESSION_EXPIRED'])
      expect([made.browser.names('__session').join(), await isSignedIn(made)]).toEqual([
        toOptions().sessionStore ? '' : '__session__ended',
        false,
      ])
      // Nor does an older copy of the cookie restore it.
      for (const [name, cookie] of copied) made.browser.cookies.set(name, cookie)
      expect(await codeOf(await made.browser.send(TOKEN))).toEqual([401, 'MISSING_SESSION'])
      expect([await isSignedIn(made), world.refreshes().length]).toEqual([false, 1])
    })

    test('concurrent calls all learn that it has ended', async () => {
      const made = await due()
      tell(at(-1))
      const responses = await Promise.all(Array.from({ length: 5 }, () => made.browser.send(TOKEN)))
      for (const response of responses) expect(await codeOf(response)).toEqual([401, 'SESSION_EXPIRED'])
      expect([await isSignedIn(made), world.refreshes().length]).toEqual([false, 1])
    })

    test('the end counts although the access token is still valid', async () => {
      const made = await due({ tokenRefreshBuffer: 100 })
      world.clock.now -= 50
      tell(at(-1))
      expect(await codeOf(await made.browser.send(TOKEN))).toEqual([401, 'SESSION_EXPIRED'])
    })

    test('the rest of the request, and others of this process, have no session where no cookie can be set', async () => {
      const made = await due()
      tell(at(-1))
      const request = made.browser.request('/')
      expect((await rejectionOf(made.client.getAccessToken(request)))['code']).toBe('SESSION_EXPIRED')
      expect(await made.client.getSession(request)).toBeNull()
      expect(await isSignedIn(made)).toBe(false)
    })

    test('an earlier end counts before a response has carried it to the browser', async () => {
      const made = await due()
      tell(at(100))
      await made.client.getAccessToken(made.browser.request('/'))
      world.pass(99)
      expect(await isSignedIn(made)).toBe(true)
      world.pass(1)
      expect(await isSignedIn(made)).toBe(false)
      expect(await codeOf(await made.browser.send(TOKEN))).toEqual([401, 'MISSING_SESSION'])
    })

    test('a late response ends the session for later requests', async () => {
      const held = holding()
      const made = await due({ [customFetch]: held.fetch })
      tell(at(-1))
      const response = await withoutWaiting(() => made.browser.send(TOKEN), held.responded)
      expect([response.status, await isSignedIn(made)]).toEqual([504, true])
      held.release()
      await expect.poll(() => isSignedIn(made)).toBe(false)
      expect(await codeOf(await made.browser.send(TOKEN))).toEqual([401, 'MISSING_SESSION'])
    })
  })

  describe('at a step-up in a popup', () => {
    test('an earlier end counts, a later one does not extend the session', async () => {
      tell(at(1000))
      const made = await signedIn()
      for (const seconds of [3000, 500]) {
        tell(at(seconds))
        expect((await world.login(made.browser, POPUP)).status).toBe(200)
        const { internal } = await made.browser.session()
        expect(internal.sessionExpiresAt).toBe(at(Math.min(seconds, 1000)))
      }
    })

    test.each([() => at(-1), () => 'soon'])(
      'a past end, and nonsense, leave the session as it was',
      async (toValue) => {
        tell(at(1000))
        const made = await signedIn()
        const before = await made.browser.session()
        tell(toValue())
        await world.login(made.browser, POPUP)
        expect(await made.browser.session()).toEqual(before)
      },
    )
  })

  describe('at the verification of a factor', () => {
    async function verifying(value: unknown, hasRefreshToken = true) {
      const made = await signedIn()
      const asking = made.client.getAccessToken(made.browser.request('/'), new Headers(), { audience: BANK })
      const { mfa_token: mfaToken } = await demandOf(asking)
      if (!hasRefreshToken) {
        await keeping(made.browser, async (request, headers) => {
          const { tokenSet, ...session } = await made.browser.session()
          const { refreshToken: _none, ...others } = tokenSet
          await made.client.updateSession(request, headers, { ...session, tokenSet: others })
        })
      }
      tell(value)
      const verification = keeping(made.browser, (request, headers) =>
        made.client.mfa.verify(request, headers, { mfaToken, otp: world.otp() }),
      )
      return { made, verification }
    }

    test('the ID token counts as at a refresh', async () => {
      const { made, verification } = await verifying(at(500))
      await verification
      expect((await made.browser.session()).internal.sessionExpiresAt).toBe(at(500))
    })

    test.each([true, false])(
      'a past end ends the session; with a refresh token: %s',
      async (hasRefreshToken) => {
        const { made, verification } = await verifying(at(-1), hasRefreshToken)
        expect(await rejectionOf(verification)).toMatchObject({ name: 'MfaError', code: 'SESSION_EXPIRED' })
        expect(await isSignedIn(made)).toBe(false)
      },
    )
  })
})

test('in a store, the record may be forgotten at the end that the provider sets', async () => {
  const sessionStore = store()
  const expiries: number[] = []
  const made = world.another({
    sessionStore: {
      ...sessionStore,
      set: (id, session, expiry) => {
        expiries.push(expiry.expiresAt)
        return sessionStore.set(id, session, expiry)
      },
    },
  })
  tell(at(1000))
  await world.login(made.browser)
  expect(expiries).toEqual([at(1000)])
  const [info] = await made.client.sessions.listBySubject('dev|alice')
  expect(info?.expiresAt).toBe(at(1000))
})
