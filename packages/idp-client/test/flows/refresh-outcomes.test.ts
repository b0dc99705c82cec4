import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { randomToken } from '../../src/crypto/random.ts'
import type { IdpClientOptions, SessionData, SessionDataStore } from '../../src/index.ts'
import { customFetch, isIdpError } from '../../src/index.ts'
import { freshlyStored } from '../../src/session/model/session.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { keepUntilSent, openFamily } from '../../src/tokens/refresh/families.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { engineFor } from '../support/engine.ts'
import { holding } from '../support/holding.ts'
import { pageText, tableBelow } from '../support/tables.ts'

const TTL = 600

let world: World
beforeEach(async () => {
  world = await startWorld({ tokenRefreshBuffer: 60 }, { accessTokenTtl: TTL })
})
afterEach(async () => {
  await world.provider.stop()
  // The next test must not see refreshes of this one.
  Reflect.deleteProperty(globalThis, Symbol.for('idp-client'))
})

type Fault = Parameters<World['provider']['faults']['set']>[1]
type Made = ReturnType<World['another']>

async function tokenOf(
  { browser, client }: Made,
  refresh: boolean,
  target: Headers | undefined,
): Promise<string> {
  const request = browser.request('/api')
  try {
    return (await client.getAccessToken({ refresh }, request, target)).token
  } catch (error) {
    if (isIdpError(error)) return error.code
    throw error
  } finally {
    if (target) browser.store(new Response(null, { headers: target }))
  }
}

const json = { 'content-type': 'application/json' }

/** Takes the refresh token of the session back at the provider, which the application does not learn. */
async function revokeAtProvider({ browser, client }: Made): Promise<void> {
  const session = await client.getSession(browser.request('/'))
  const { clientId, clientSecret = '', issuer } = world.provider
  const { status } = await fetch(`${issuer}/oauth/revoke`, {
    method: 'POST',
    body: new URLSearchParams({
      token: session?.tokenSet.refreshToken ?? '',
      client_id: clientId,
      client_secret: clientSecret,
    }),
  })
  expect(status).toBe(200)
}

interface Scenario {
  readonly options?: () => IdpClientOptions
  /** Arranges the failure once the session exists. */
  readonly arrange: (made: Made) => void | Promise<void>
  /** The client that refreshes, where it is another one than that of the login. */
  readonly refreshing?: (options: IdpClientOptions) => IdpClientOptions
  readonly isReadOnly?: true
  /** Lets a late response through. */
  readonly arrive?: () => void
}

/** A store whose locks do something before they are taken. */
function storeWith(beforeLock: (store: Required<SessionDataStore>) => Promise<unknown>): SessionDataStore {
  const store = memoryStore({ name: randomToken(), clock: () => world.clock.now })
  return {
    ...store,
    async lock(id, milliseconds) {
      await beforeLock(store)
      return store.lock(id, milliseconds)
    },
  }
}

const withFault = (fault: Fault) => (): Scenario => ({
  arrange: () => {
    world.provider.faults.set('token', fault)
  },
})

/** The faults of each row of the table; several where it names several. */
const scenarios: Record<string, (() => Scenario)[]> = {
  'the provider sends tokens': [() => ({ arrange: () => {} })],
  'the provider sends tokens with an ID token that is ignored': [
    () => ({
      arrange: () => {
        world.provider.tamperIdToken((claims) => {
          claims['nonce'] = 'another'
          claims['name'] = 'Another User'
        })
      },
    }),
  ],
  'the provider rejects the refresh token (invalid_grant)': [() => ({ arrange: revokeAtProvider })],
  'the refresh token was rejected before': [
    () => ({
      async arrange(made) {
        await revokeAtProvider(made)
        expect(await tokenOf(made, true, new Headers())).toBe('FAILED_TO_REFRESH_TOKEN')
        world.provider.clearRequests()
      },
    }),
  ],
  'there is no refresh token': [
    () => ({ options: () => ({ authorizationParameters: { scope: 'openid profile' } }), arrange: () => {} }),
  ],
  'the response is rejected, for example because of its ID token': [
    () => ({
      arrange: () => {
        world.provider.tamperIdToken((claims) => {
          claims.sub = 'dev|mallory'
        })
      },
    }),
    () => ({ arrange: () => void world.provider.rewrite('token', () => ({ access_token: 7 })) }),
  ],
  'the provider cannot be reached, or responds 429 or 5xx': [
    () => ({ arrange: () => world.provider.faults.down() }),
    withFault({ kind: 'respond', status: 429 }),
    withFault({ kind: 'respond', status: 500 }),
    withFault({ kind: 'respond', status: 503 }),
    withFault({ kind: 'respond', status: 503, body: '{"error":"invalid_grant"}', headers: json }),
  ],
  'the response is later than httpTimeout': [
    () => {
      const held = holding()
      return {
        options: () => ({ [customFetch]: held.fetch }),
        refreshing: () => ({ [customFetch]: held.fetch, httpTimeout: 500 }),
        arrange: () => {},
        arrive: held.release,
      }
    },
  ],
  'the provider requires another factor': [
    withFault({
      kind: 'respond',
      status: 403,
      body: JSON.stringify({ error: 'mfa_required', mfa_token: 'token-of-the-provider' }),
      headers: json,
    }),
  ],
  'cookies cannot be set, and processLasts is false': [
    () => ({ options: () => ({ processLasts: false }), isReadOnly: true, arrange: () => {} }),
  ],
  'cookies cannot be set, and 1000 refreshed sessions of this process wait for it': [
    () => ({
      isReadOnly: true,
      arrange: () => {
        const { now } = world.clock
        const data = {
          user: { sub: 'x' },
          tokenSet: { accessToken: 'x', expiresAt: 0 },
          internal: { createdAt: now },
        }
        const session = freshlyStored(data, now)
        const config = { ...engineFor().engine.config, clock: () => now }
        for (let at = 0; at < 1000; at++) keepUntilSent(config, openFamily(`full-${at}`, session), session)
      },
    }),
  ],
  'the session store fails': [
    () => ({
      options: () => ({ sessionStore: storeWith(() => Promise.reject(new Error('the store is down'))) }),
      arrange: () => {},
    }),
  ],
  'the new ID token says that the session has ended at the provider': [
    () => ({
      options: () => ({ session: { expiryClaim: 'session_expiry' } }),
      arrange: () => {
        world.provider.tamperIdToken((claims) => {
          claims['session_expiry'] = world.clock.now - 600
        })
      },
    }),
  ],
  'the session has ended in the store meanwhile': [
    () => ({
      options: () => ({ sessionStore: storeWith((store) => store.deleteBySubject('dev|alice')) }),
      arrange: () => {},
    }),
  ],
}

const sessionOf = ({ browser, client }: Made) => client.getSession(browser.request('/'))

/** After a refresh. */
interface After {
  readonly made: Made
  /** The session before it. */
  readonly before: SessionData
  readonly scenario: Scenario
}

async function expectUnchanged({ made, before }: After): Promise<void> {
  const { tokenSet, user } = (await sessionOf(made)) ?? {}
  expect({ tokenSet, user }).toEqual({ tokenSet: before.tokenSet, user: before.user })
}

async function expectNewTokens({ made, before }: After): Promise<SessionData | null> {
  const session = await sessionOf(made)
  expect(session?.tokenSet.accessToken).not.toBe(before.tokenSet.accessToken)
  expect(session?.tokenSet.refreshToken).not.toBe(before.tokenSet.refreshToken)
  return session
}

/** The words of the last column. */
const sessions: Record<string, (after: After) => Promise<void>> = {
  async 'has them'(after) {
    await expectNewTokens(after)
  },
  async 'has them; user and ID token stay'(after) {
    const { tokenSet, user } = (await expectNewTokens(after)) ?? {}
    expect([user, tokenSet?.idToken]).toEqual([after.before.user, after.before.tokenSet.idToken])
  },
  async 'loses its refresh token: in a store at once, in a cookie after a minute'(after) {
    await expectUnchanged(after)
    world.clock.now += 61
    expect(await tokenOf(after.made, true, new Headers())).toBe('MISSING_REFRESH_TOKEN')
    expect((await sessionOf(after.made))?.tokenSet).not.toHaveProperty('refreshToken')

    const stored = world.another({ sessionStore: storeWith(async () => {}) })
    await world.login(stored.browser)
    await revokeAtProvider(stored)
    expect(await tokenOf(stored, true, new Headers())).toBe('FAILED_TO_REFRESH_TOKEN')
    const session = await sessionOf(stored)
    expect(session?.user.sub).toBe('dev|alice')
    expect(session?.tokenSet).not.toHaveProperty('refreshToken')
  },
  async 'stays; no request is sent'({ made }) {
    expect((await sessionOf(made))?.user.sub).toBe('dev|alice')
    expect(world.refreshes()).toEqual([])
  },
  stays: expectUnchanged,
  async 'stays; the next call tries again'(after) {
    await expectUnchanged(after)
    world.provider.faults.clear()
    world.provider.clearRequests()
    await tokenOf(after.made, true, new Headers())
    expect(world.refreshes()).toHaveLength(1)
  },
  async 'gets the tokens when they arrive'(after) {
    after.scenario.arrive?.()
    await expect
      .poll(() => tokenOf(after.made, false, new Headers()), { timeout: 30_000 })
      .not.toBe(after.before.tokenSet.accessToken)
    await expectNewTokens(after)
    expect(world.refreshes()).toHaveLength(1)
  },
  async 'is gone'({ made }) {
    expect(await sessionOf(made)).toBeNull()
  },
}

const columns = ['About to expire', 'Expired', 'refresh: true'] as const
/** Text without the addresses of its links. */
const plain = (text: string): string => text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')

const rows = tableBelow(pageText('guides/tokens.md'), '## Outcomes of a refresh').map(
  ([what = '', ...outcomes]) => [plain(what), ...outcomes],
)

describe('[B8] outcomes of a refresh', () => {
  test('the table has a row for each of these', () => {
    expect(rows.map(([what]) => what)).toEqual(Object.keys(scenarios))
  })

  const cells = rows.flatMap(([what = '', ...outcomes]) =>
    (scenarios[what] ?? []).flatMap((scenario, variant) =>
      columns.map((column, at) => ({
        ...{ what, variant, column, scenario },
        ...{ outcome: outcomes[at] ?? '', session: plain(outcomes[columns.length] ?? '') },
      })),
    ),
  )

  test.each(cells)('$what ($variant), $column: $outcome, the session $session', async (cell) => {
    const { column, outcome, session } = cell
    const scenario = cell.scenario()
    const options = scenario.options?.() ?? {}
    const begun = world.another(options)
    await world.login(begun.browser)
    const made = scenario.refreshing
      ? {
          client: world.another({ ...options, ...scenario.refreshing(options) }).client,
          browser: begun.browser,
        }
      : begun
    const before = await sessionOf(begun)
    if (!before) throw new Error('the login brought no session')
    if (column === 'About to expire') world.clock.now += TTL - 30
    await scenario.arrange(made)
    if (column === 'Expired') world.clock.now += TTL + 1
    const token = await tokenOf(
      made,
      column === 'refresh: true',
      scenario.isReadOnly ? undefined : new Headers(),
    )
    if (outcome === 'old token') expect(token).toBe(before.tokenSet.accessToken)
    else if (outcome === 'new token') {
      expect(token).not.toBe(before.tokenSet.accessToken)
      expect(token).toBe((await sessionOf(begun))?.tokenSet.accessToken)
    } else expect(token).toBe(outcome)
    const check = sessions[session]
    if (!check) throw new Error(`the table says of the session: ${session}`)
    await check({ made, before, scenario })
  })
})

describe('[B8] a forced refresh', () => {
  test("in a request whose cookie is older than the process's tokens returns the newer token", async () => {
    const made = world.another()
    await world.login(made.browser)
    const late = made.browser.request('/api')
    const newer = await tokenOf(made, true, new Headers())
    const { token } = await made.client.getAccessToken(late, new Headers(), { refresh: true })
    expect(token).toBe(newer)
  })

  test('in such a request still refreshes a token that is the same in both', async () => {
    const API = 'https://api.example.test/'
    const made = world.another()
    await world.login(made.browser)
    const late = made.browser.request('/api')
    const headers = new Headers()
    await made.client.getAccessToken(made.browser.request('/api'), headers, {
      audience: API,
      scope: 'read:things',
    })
    const before = await made.client.getSession(made.browser.request('/'))
    const { token } = await made.client.getAccessToken(late, new Headers(), { refresh: true })
    expect(token).not.toBe(before?.tokenSet.accessToken)
  })

  test.each([50, 1])('of %i calls at once is one request, and its failure is that of all', async (count) => {
    const made = world.another()
    await world.login(made.browser)
    await revokeAtProvider(made)
    world.provider.clearRequests()
    const calls = Array.from({ length: count }, () => tokenOf(made, true, new Headers()))
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['FAILED_TO_REFRESH_TOKEN']))
    expect(world.provider.count('token')).toBe(1)
  })
})
