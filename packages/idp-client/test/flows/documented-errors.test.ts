import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { IdpError } from '../../src/errors/base.ts'
import type { Code } from '../../src/errors/code.ts'
import { codesByClass } from '../../src/errors/code.ts'
import { codes } from '../../src/errors/codes.ts'
import { AccountApiError } from '../../src/errors/connected-accounts.ts'
import { DiscoveryError, OAuthError } from '../../src/errors/provider.ts'
import { remedies } from '../../src/errors/remedies.ts'
import { AccessTokenError } from '../../src/errors/tokens.ts'
import type { IdpClientOptions } from '../../src/index.ts'
import { toStatus } from '../../src/routes/status.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser } from '../support/app.ts'
import { json } from '../support/connect.ts'
import { openLogin } from '../support/guard-login.ts'
import type { MfaWorld } from '../support/mfa.ts'
import { BANK, startMfaWorld } from '../support/mfa.ts'

const page = (name: string): string =>
  readFileSync(new URL(`../../../../docs/reference/${name}.md`, import.meta.url), 'utf8')

interface Row {
  /** The heading that it stands below. */
  readonly below: string
  readonly cells: Readonly<Record<string, string>>
}

/** Rows of all tables of a page. */
function rowsOf(text: string): Row[] {
  const rows: Row[] = []
  let below = ''
  let columns: string[] | null = null
  for (const line of text.split('\n')) {
    if (line.startsWith('#')) below = line.replace(/^#+ /, '')
    if (!line.startsWith('|')) columns = null
    else if (!/^\|[\s:|-]+\|$/.test(line)) {
      const cells = line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim())
      if (columns)
        rows.push({ below, cells: Object.fromEntries(columns.map((name, at) => [name, cells[at] ?? ''])) })
      else columns = cells
    }
  }
  return rows
}

const all = Object.keys(codes) as Code[]
const isCode = (text: string): text is Code => text in codes
const namedIn = (text: string): string[] =>
  [...text.matchAll(/`([A-Z]+_[A-Z_]+)`/g)].map(([, name = '']) => name)

/** Returns the first class of a code, whose section has its row. */
const classOf = (code: Code): string | undefined =>
  Object.entries<readonly Code[]>(codesByClass).find(([, names]) => names.includes(code))?.[0]

describe('[S248] the page about errors', () => {
  const rows = rowsOf(page('errors'))

  test('has every code once, and no other', () => {
    expect(rows.map(({ cells }) => cells['Code']).sort()).toEqual(all.map((code) => `\`${code}\``).sort())
    expect(Object.keys(remedies)).toEqual(expect.arrayContaining(all))
  })

  test.each(all)('names class, status, cause and fix of %s', (code) => {
    const { below, cells } = rows.find((row) => row.cells['Code'] === `\`${code}\``) ?? expect.fail(code)
    expect({ below, ...cells }).toEqual({
      below: classOf(code),
      Code: `\`${code}\``,
      Status: String(codes[code].status),
      Meaning: codes[code].message,
      'What to do': remedies[code],
    })
  })
})

/** Possible causes of a route's error, as far as its status depends on them. */
const causes: readonly (Error | undefined)[] = [
  undefined,
  new OAuthError('OAUTH_ERROR', { error: 'access_denied' }),
  new OAuthError('OAUTH_ERROR', { error: 'invalid_grant', providerStatus: 400 }),
  ...[500, 503].map((providerStatus) => new OAuthError('RESPONSE_INVALID', { providerStatus })),
  new OAuthError('RESPONSE_INVALID'),
  new OAuthError('REQUEST_TIMEOUT'),
  ...(['DISCOVERY_ERROR', 'DISCOVERY_TIMEOUT'] as const).map((code) => new DiscoveryError(code)),
  new AccountApiError({ providerStatus: 404 }),
  new AccessTokenError('MISSING_REFRESH_TOKEN'),
]

/** Errors of operations that no route carries out, and those that a route wraps. */
const ELSEWHERE =
  /^(?:SERVER_ONLY|OAUTH_ERROR|REQUEST_FAILED|REQUEST_TIMEOUT|RESPONSE_INVALID|ID_TOKEN_INVALID|MY_ACCOUNT_API_ERROR|MISSING_SESSION_DATA|SESSION_NOT_WRITABLE|SESSION_STORE_UNSUPPORTED|AMBIENT_REQUEST_MISSING|INVALID_ARGUMENTS|REFRESH_NOT_PERSISTABLE|FAILED_TO_(?:REVOKE|EXCHANGE_REFRESH_TOKEN|LIST|DELETE)|EXCHANGE_FAILED|RESERVED_PARAMETER|INVALID_BACKCHANNEL_REQUEST|INVALID_EXECUTION_CONTEXT|MISSING_SUBJECT_TOKEN|INVALID_SUBJECT_TOKEN_TYPE|(?:MISSING|INVALID)_ACTOR_TOKEN(?:_TYPE)?|BACKCHANNEL_AUTHENTICATION_\w+|FETCHER_\w+|POPUP_(?:BLOCKED|CANCELLED|TIMEOUT|IN_PROGRESS))$/

describe('[S248] the page about routes', () => {
  const text = page('routes')
  const rows = rowsOf(text).filter(({ cells }) => 'When' in cells)

  test('names exactly the codes that a route can respond with', () => {
    const named = namedIn(text)
    expect(named.filter((name) => !isCode(name))).toEqual([])
    expect(all.filter((code) => !named.includes(code) && !ELSEWHERE.test(code))).toEqual([])
  })

  const pairs = rows.flatMap(({ below, cells: { Status: status = '', When: when = '' } }) =>
    namedIn(when).map((code) => ({ below, code: code as Code, statuses: status.match(/\d\w\w/g) ?? [] })),
  )

  test.each(pairs)('$below: $code has the status $statuses', ({ code, statuses }) => {
    const possible = new Set(causes.map((cause) => String(toStatus(new IdpError(code, { cause })))))
    const fits = (status: string): boolean => possible.has(status.replace('4xx', '404'))
    expect(statuses.filter(fits)).not.toEqual([])
    // One code in the row: every status of the row is one of it.
    const alone = pairs.filter((pair) => pair.statuses === statuses).length === 1
    if (alone) expect(statuses.filter((status) => !fits(status))).toEqual([])
  })
})

type Shape = { readonly [name: string]: Shape | string | 0 }

/** `{"error":{"code"},"id"?}` as an object whose names keep their question mark. */
function shapeIn(text: string): Shape {
  const [, written = '{}'] = /`(\{.*?\})`/.exec(text) ?? []
  return JSON.parse(written.replace(/(?<!:)"(\w+)"(\??)(?!\s*:)/g, '"$1$2":0')) as Shape
}

/** Whether a response has exactly the properties of the shape. */
function expectShape(value: unknown, shape: Shape): void {
  const body = value as Record<string, unknown>
  const names = Object.keys(shape).map((name) => name.replace('?', ''))
  const needed = Object.keys(shape).filter((name) => !name.endsWith('?'))
  expect(names).toEqual(expect.arrayContaining(Object.keys(body)))
  expect(Object.keys(body)).toEqual(expect.arrayContaining(needed))
  for (const [name, inner] of Object.entries(shape)) {
    if (typeof inner === 'object') expectShape(body[name], inner)
    else if (inner !== 0) expect(body[name]).toBe(inner)
    else if (body[name] !== undefined) expect(body[name]).not.toBe('')
  }
}

describe('[S248] the bodies of errors', () => {
  let world: MfaWorld
  beforeAll(async () => {
    world = await startMfaWorld({ enableConnectAccountEndpoint: true })
  })
  afterAll(() => world.provider.stop())

  const broken = () => world.another({ clientId: '' }).browser
  const nobody = () => world.newBrowser()
  const demanding = (): void => {
    const body = JSON.stringify({ error: 'mfa_required', mfa_token: 'of-the-provider' })
    world.provider.faults.set('token', { kind: 'respond', status: 403, body }, { times: 1 })
  }
  const byFetch = {
    headers: { 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'empty' },
  }
  const crossSite = { headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' } }

  const pages = [
    '/auth/login?max_age=old',
    '/auth/callback',
    '/auth/connect?connection=github',
    '/auth/logout',
  ]

  /** Requests that are refused, by the places that the table names. */
  const refused: Readonly<Record<string, () => Promise<Response[]>>> = {
    'login, callback, connect account, logout': () =>
      Promise.all([
        ...pages.map((path) => broken().send(path, json)),
        ...pages.slice(0, 3).map((path) => nobody().send(path, json)),
      ]),
    'profile, access token, back-channel and front-channel logout, public keys': () =>
      Promise.all([
        world.another({ enableJwksEndpoint: true }).browser.send('/auth/jwks'),
        world
          .another({ frontChannelLogout: true, sessionStore: memoryStore() })
          .browser.send('/auth/frontchannel-logout'),
        broken().send('/auth/profile'),
        nobody().send('/auth/access-token'),
        broken().send('/auth/access-token'),
        nobody().send('/auth/backchannel-logout', { method: 'POST' }),
      ]),
    'multi-factor authentication': () =>
      Promise.all([
        nobody().send('/auth/mfa/authenticators'),
        broken().send('/auth/mfa/authenticators', { headers: { authorization: 'Bearer x' } }),
        ...['challenge', 'associate', 'verify'].map((step) =>
          nobody().send(`/auth/mfa/${step}`, { method: 'POST' }),
        ),
      ]),
    '`MFA_REQUIRED`, on any route; where there is a failure page, with `Accept: application/json`':
      async () => {
        const browser = await world.signedIn()
        const route = await browser.send(`/auth/access-token?audience=${encodeURIComponent(BANK)}`)
        demanding()
        return [route, await browser.send('/auth/connect?connection=github', json)]
      },
    '`withApiAuthRequired`, `idp.proxy`': async () => {
      const [api, closed] = [world.client, world.another({ clientId: '' }).client].map((client) =>
        client.withApiAuthRequired(() => new Response('in')),
      )
      const request = nobody().request('/api')
      const proxied = world.another({ enableAccessTokenEndpoint: false })
      proxied.client.proxy({ prefix: '/proxied', target: 'https://api.example' })
      const refusals = ['GET', 'OPTIONS'].map((method) => proxied.browser.send('/proxied', { method }))
      const own = world.client.withApiAuthRequired(() => new Response('in'), { sameOrigin: true })
      const foreign = nobody().request('/api', {
        method: 'POST',
        headers: { origin: 'https://other.example' },
      })
      const guarded = [await api?.(request), await closed?.(request), await own(foreign)].filter(
        (each) => each !== undefined,
      )
      return [...guarded, ...(await Promise.all(refusals))]
    },
    'a request to a route that is not a navigation, or comes from another site': () =>
      Promise.all([
        nobody().send('/auth/login', byFetch),
        nobody().send('/auth/connect', crossSite),
        nobody().send('/auth/mfa/authenticators', crossSite),
      ]),
    '401 of profile, 204, 405': () =>
      Promise.all([
        nobody().send('/auth/profile'),
        nobody().send('/auth/login', { headers: { purpose: 'prefetch' } }),
        nobody().send('/auth/login', { method: 'POST' }),
      ]),
  }

  const rows = rowsOf(page('routes')).filter(({ below }) => below === 'Bodies of errors')

  test('are those of the tested requests', () => {
    expect(rows.map(({ cells }) => cells['Where'])).toEqual(Object.keys(refused))
  })

  test.each(rows.map(({ cells }) => [cells['Where'] ?? '', cells['Body'] ?? '']))(
    '%s',
    async (where, told) => {
      const responses = (await refused[where]?.()) ?? []
      expect(responses.length).toBeGreaterThan(1)
      for (const response of responses) {
        expect(response.status).toBeGreaterThanOrEqual(where.includes('204') ? 204 : 400)
        expect(response.headers.get('cache-control')).toContain('no-store')
        const text = await response.text()
        if (told === 'empty') expect(text).toBe('')
        else expectShape(JSON.parse(text), shapeIn(told))
      }
    },
  )

  test('a page shows its code and an id that is in the log', async () => {
    for (const path of pages) {
      const made = world.another({ clientId: '' })
      world.events.length = 0
      const response = await made.browser.send(path)
      const text = await response.text()
      expect(response.headers.get('content-type')).toContain('text/html')
      expect(text).toContain('INVALID_CONFIGURATION')
      const ids = world.events.flatMap((event) => ('id' in event && event.id ? [event.id] : []))
      expect(ids.filter((id) => text.includes(id))).not.toEqual([])
    }
  })

  test('a session that does not meet the requirements: the login that would', async () => {
    const browser = await world.signedIn()
    const api = world.client.withApiAuthRequired(() => new Response('in'), { maxAge: 300 })
    world.pass(1000)
    const body = (await (await api(browser.request('/api'))).json()) as {
      login?: Record<string, string>
    }
    expect(await openLogin(body.login ?? {})).toEqual({ max_age: '300' })
    const told = rows.find(({ cells }) => cells['Where'] === '`withApiAuthRequired`, `idp.proxy`')?.cells[
      'Body'
    ]
    expect(told).toContain(`\`${JSON.stringify({ ...body.login, guard: '…' })}\``)
  })

  test('a store that fails: 503 wherever a session is required', async () => {
    const failing = async (): Promise<never> => {
      throw new Error('no route to the store')
    }
    const sessionStore: IdpClientOptions['sessionStore'] = { get: failing, set: failing, delete: failing }
    const records = new Map<string, string>()
    const working: IdpClientOptions['sessionStore'] = {
      get: async (id) => JSON.parse(records.get(id) ?? 'null'),
      set: async (id, session) => void records.set(id, JSON.stringify(session)),
      delete: async (id) => void records.delete(id),
    }
    const before = world.another({ sessionStore: working })
    await world.signedIn('alice', before.browser)
    const { browser } = world.another({ sessionStore })
    for (const [name, cookie] of before.browser.cookies) browser.cookies.set(name, cookie)
    const asked: [Browser, string][] = [
      '/auth/profile',
      '/auth/access-token',
      '/auth/connect?connection=github',
    ].map((path) => [browser, path])
    for (const [user, path] of asked) {
      const response = await user.send(path, json)
      expect([path, response.status]).toEqual([path, codes.SESSION_STORE_FAILED.status])
      expect(await response.json()).toMatchObject({ error: { code: 'SESSION_STORE_FAILED' } })
    }
  })
})
