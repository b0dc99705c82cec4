import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { customFetch } from '../../src/config/options.ts'
import type { IdpClientOptions } from '../../src/index.ts'
import { decodeClaims } from '../../src/session/model/claims.ts'
import type { FormerSession, TakeOver } from '../../src/take-over/take-over.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { createFormerLibrary, createFormerSession, putFormer as put } from '../support/former-library.ts'

const DAY = 86_400

let world: World
beforeAll(async () => {
  world = await startWorld({}, { accessTokenTtl: 300 })
})
afterAll(() => world.provider.stop())

const formerLibrary = (changes?: Partial<TakeOver>): TakeOver => createFormerLibrary(world, changes)
const formerSession = (changes?: Partial<FormerSession>) => createFormerSession(world, changes)

function reasons(): string[] {
  return world.events.flatMap((event) => (event.code === 'SESSION_NOT_TAKEN_OVER' ? [event.reason] : []))
}

describe('the tokens of a session of the former library', () => {
  async function takenOver(former: FormerSession, options: IdpClientOptions = {}) {
    const { browser } = world.another({ takeOver: formerLibrary(), ...options })
    put(browser, former)
    await browser.send('/page')
    return browser.session()
  }

  test('the clock of the former application may have been a minute ahead', async () => {
    const createdAt = world.clock.now + 60
    expect((await takenOver(await formerSession({ createdAt }))).internal).toMatchObject({ createdAt })
  })

  test('the end that the provider has set stays', async () => {
    const former = await formerSession()
    const sessionExpiresAt = world.clock.now + 1000
    const session = await takenOver({ ...former, sessionExpiresAt })
    expect(session.internal).toMatchObject({ sessionExpiresAt })
  })

  test('are not taken without an ID token, unless issuer and client are named', async () => {
    const { idToken: _token, ...former } = await formerSession()
    const { issuer, clientId } = world.provider
    for (const named of [{}, { issuer }, { clientId }]) {
      const session = await takenOver({ ...former, ...named })
      expect(session.user.sub).toBe('dev|alice')
      expect(session.tokenSet).toEqual({ accessToken: '', expiresAt: 0 })
    }
    const named = await takenOver({ ...former, issuer, clientId })
    expect(named.tokenSet).toMatchObject({
      accessToken: former.tokens?.accessToken,
      refreshToken: former.tokens?.refreshToken,
    })
  })

  test('are not taken with an ID token whose signature is wrong', async () => {
    const former = await formerSession()
    const [start = '', end = ''] = [former.idToken?.slice(0, -10), former.idToken?.slice(-10)]
    const idToken = start + [...end].reverse().join('')
    const session = await takenOver({ ...former, idToken })
    expect(session.tokenSet).toEqual({ accessToken: '', expiresAt: 0 })
  })

  test('how the user authenticated counts only from an ID token that was verified', async () => {
    const authorizationParameters = { max_age: 3600 }
    const { browser: former } = world.another({ authorizationParameters })
    await world.login(former)
    const { internal, tokenSet, user } = await former.session()
    const given: FormerSession = { user, createdAt: internal.createdAt, idToken: tokenSet.idToken }
    const statusOf = async (session: FormerSession): Promise<number> => {
      const { browser, client } = world.another({ takeOver: formerLibrary() })
      put(browser, session)
      const guarded = client.withApiAuthRequired(() => new Response('in'), { maxAge: 3600 })
      return (await guarded(browser.request('/api'))).status
    }
    expect(await statusOf(given)).toBe(200)
    const claims = decodeClaims(tokenSet.idToken)
    expect(claims?.['auth_time']).toBeTypeOf('number')
    for (const idToken of [undefined, `${tokenSet.idToken?.slice(0, -6)}AAAAAA`])
      expect(await statusOf({ ...given, user: { ...claims, ...user }, idToken })).toBeGreaterThanOrEqual(401)
  })

  test.each([
    ['keys', (url: string) => url.includes('jwks')],
    ['metadata', () => true],
  ])(
    'are not taken while the %s cannot be loaded, and nothing is deleted; other requests try again after a pause',
    async (_what, isOf) => {
      // A refusal is reported once per minute.
      world.clock.now += 120
      world.events.length = 0
      const former = await formerSession()
      let isDown = true
      let requests = 0
      const { browser } = world.another({
        takeOver: formerLibrary(),
        [customFetch]: (input, init) => {
          if (!isOf(String(input))) return fetch(input, init)
          requests += 1
          return isDown ? Promise.reject(new TypeError('down')) : fetch(input, init)
        },
      })
      put(browser, former)
      expect((await browser.send('/auth/profile')).status).toBe(401)
      expect(browser.names('former')).toEqual(['former'])
      expect(reasons()).toEqual(['keys'])
      expect((await browser.send('/auth/profile')).status).toBe(401)
      expect(requests).toBe(1)
      isDown = false
      world.clock.now += 10
      expect((await browser.send('/auth/profile')).status).toBe(200)
    },
  )

  test('an ID token may have expired', async () => {
    const former = await formerSession()
    world.clock.now += DAY - 3600
    const session = await takenOver({ ...former, usedAt: world.clock.now })
    expect(session.tokenSet.idToken).toBe(former.idToken)
  })

  test('bound or not, are only used as the options say', async () => {
    const former = await formerSession()
    const session = await takenOver({ ...former, tokens: { ...former.tokens, token_type: 'DPoP' } })
    expect(session.tokenSet).toMatchObject({ accessToken: '', refreshToken: former.tokens?.refreshToken })
  })
})
