import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { randomToken } from '../../src/crypto/random.ts'
import type { IdpClientOptions, SessionDataStore } from '../../src/index.ts'
import { customFetch, isIdpError } from '../../src/index.ts'
import { freshlyStored } from '../../src/session/session.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { markUnwritten, openLine } from '../../src/tokens/lineage.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { holding } from '../support/holding.ts'
import { pageText, tableBelow } from '../support/tables.ts'

const TTL = 600

let world: World
beforeEach(async () => {
  world = await startWorld({ tokenRefreshBuffer: 60 }, { accessTokenTtl: TTL })
})
afterEach(async () => {
  await world.provider.stop()
  // What a process knows of refreshes is not for the next test.
  Reflect.deleteProperty(globalThis, Symbol.for('idp-client'))
})

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

function respond(status: number, body: unknown): void {
  world.provider.faults.set('token', { kind: 'respond', status, body: JSON.stringify(body), headers: json })
}

interface Scenario {
  readonly options?: () => IdpClientOptions
  /** What goes wrong, when the session is there. */
  readonly arrange: (made: Made) => void | Promise<void>
  /** The client that refreshes, where it is another one than that of the login. */
  readonly refreshing?: (options: IdpClientOptions) => IdpClientOptions
  readonly isReadOnly?: true
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

const scenarios: Record<string, () => Scenario> = {
  'the provider sends tokens': () => ({ arrange: () => {} }),
  'the provider sends tokens with an ID token that is left out': () => ({
    arrange: () => {
      world.provider.tamperIdToken((claims) => {
        claims['nonce'] = 'another'
      })
    },
  }),
  'the provider refuses the refresh token (invalid_grant)': () => ({
    arrange: () => respond(400, { error: 'invalid_grant' }),
  }),
  'the refresh token was refused before': () => ({
    async arrange(made) {
      respond(400, { error: 'invalid_grant' })
      expect(await tokenOf(made, true, new Headers())).toBe('FAILED_TO_REFRESH_TOKEN')
      world.provider.faults.clear()
      world.provider.clearRequests()
    },
  }),
  'there is no refresh token': () => ({
    options: () => ({ authorizationParameters: { scope: 'openid profile' } }),
    arrange: () => {},
  }),
  'the response is refused, for example because of its ID token': () => ({
    arrange: () => {
      world.provider.tamperIdToken((claims) => {
        claims.sub = 'dev|mallory'
      })
    },
  }),
  'the provider cannot be reached, or responds 429 or 5xx': () => ({ arrange: () => respond(503, {}) }),
  'the response is late': () => {
    const held = holding()
    return {
      options: () => ({ [customFetch]: held.fetch }),
      refreshing: () => ({ [customFetch]: held.fetch, httpTimeout: 500 }),
      arrange: () => {},
    }
  },
  'the provider demands another factor': () => ({
    arrange: () => respond(403, { error: 'mfa_required', mfa_token: 'token-of-the-provider' }),
  }),
  'nothing can be written, and the process keeps too much already': () => ({
    isReadOnly: true,
    arrange: () => {
      const data = {
        user: { sub: 'x' },
        tokenSet: { accessToken: 'x', expiresAt: 0 },
        internal: { createdAt: 0 },
      }
      for (let at = 0; at < 1000; at++)
        markUnwritten(openLine(`full-${at}`, freshlyStored(data, 0)), world.clock.now + 10_000)
    },
  }),
  'the session store fails': () => ({
    options: () => ({ sessionStore: storeWith(() => Promise.reject(new Error('the store is down'))) }),
    arrange: () => {},
  }),
  'the session ended in the store meanwhile': () => ({
    options: () => ({ sessionStore: storeWith((store) => store.deleteBySubject('dev|alice')) }),
    arrange: () => {},
  }),
}

const columns = ['About to expire', 'Expired', 'refresh: true'] as const
const rows = tableBelow(pageText('guides/tokens.md'), '## Outcomes of a refresh')

describe('[B8] outcomes of a refresh', () => {
  test('the table has a row for each of these', () => {
    expect(rows.map(([what]) => what)).toEqual(Object.keys(scenarios))
  })

  const cells = rows.flatMap(([what = '', ...outcomes]) =>
    columns.map((column, at) => [what, column, outcomes[at] ?? ''] as const),
  )

  test.each(cells)('%s, %s: %s', async (what, column, outcome) => {
    const scenario = scenarios[what]?.()
    if (!scenario) throw new Error('no such scenario')
    const options = scenario.options?.() ?? {}
    const begun = world.another(options)
    await world.login(begun.browser)
    const made = scenario.refreshing
      ? {
          client: world.another({ ...options, ...scenario.refreshing(options) }).client,
          browser: begun.browser,
        }
      : begun
    const before = (await begun.client.getSession(begun.browser.request('/')))?.tokenSet
    if (column === 'About to expire') world.clock.now += TTL - 30
    await scenario.arrange(made)
    if (column === 'Expired') world.clock.now += TTL + 1
    const token = await tokenOf(
      made,
      column === 'refresh: true',
      scenario.isReadOnly ? undefined : new Headers(),
    )
    if (outcome === 'old token') expect(token).toBe(before?.accessToken)
    else if (outcome === 'new token') {
      expect(token).not.toBe(before?.accessToken)
      expect(token).toBe((await begun.client.getSession(begun.browser.request('/')))?.tokenSet.accessToken)
    } else expect(token).toBe(outcome)
    if (what.includes('before') || what === 'there is no refresh token')
      expect(
        world.provider.requests('token').filter(({ body }) => body['grant_type'] === 'refresh_token'),
      ).toEqual([])
  })
})

describe('[B8] a forced refresh', () => {
  test('in a request whose cookie is older than what this process knows returns the newer token', async () => {
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
    world.provider.clearRequests()
    respond(400, { error: 'invalid_grant' })
    const calls = Array.from({ length: count }, () => tokenOf(made, true, new Headers()))
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['FAILED_TO_REFRESH_TOKEN']))
    expect(world.provider.count('token')).toBe(1)
  })
})
