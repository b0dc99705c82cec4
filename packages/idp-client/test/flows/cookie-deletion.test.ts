import { expect, test, vi } from 'vitest'
import type { Engine } from '../../src/engine.ts'
import { createApplication } from '../../src/engine.ts'
import { headersSink, parseCookies } from '../../src/http/cookie-text.ts'
import type { Exchange } from '../../src/http/exchange.ts'
import { requestCookies } from '../../src/http/host-state.ts'
import type { IdpClientOptions, SessionData } from '../../src/index.ts'
import { customClock, IdpClient, isIdpError } from '../../src/index.ts'
import { freshlyStored } from '../../src/session/model/session.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { LoginTransaction } from '../../src/transaction/transaction.ts'
import { BrowserJar } from '../support/browser-jar.ts'
import { Cookies, SECRET } from '../support/engine.ts'
import { fc, RUNS } from '../support/fast-check.ts'

const NOW = 1_800_000_000
const LOGOUT = '/auth/logout'
const CALLBACK = '/auth/callback'

const choice = <const T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values)

/** Attributes as options; what is undefined is left out. */
function attributes(origin: string, prefix: string) {
  const https = origin.startsWith('https:')
  return {
    namePrefix: https ? choice('', '', '__Host-', '__Secure-') : choice(''),
    // A request to a route carries no cookie whose path does not contain it.
    path: choice(undefined, '/', prefix || '/', `${prefix}/`, `${prefix}/auth`),
    // `true` over http is reported: browsers refuse it.
    secure: https ? choice(undefined, true, false) : choice(undefined, false),
    sameSite: https ? choice(undefined, 'strict', 'lax', 'none') : choice(undefined, 'strict', 'lax'),
  }
}

const place = fc.record({
  origin: choice('https://app.example.com', 'http://app.example.com', 'http://localhost:3000'),
  prefix: choice('', '/shop', '/a/b'),
  // Else a proxy in front of the application removes it.
  isBasePath: fc.boolean(),
})

const plan = place.chain(({ origin, prefix, isBasePath }) => {
  const { hostname } = new URL(origin)
  const domains = hostname === 'localhost' ? [] : ['example.com', '.example.com', hostname]
  return fc.record({
    origin: fc.constant(origin),
    prefix: fc.constant(prefix),
    isBasePath: fc.constant(isBasePath),
    session: fc.record({
      ...attributes(origin, prefix),
      domain: choice(undefined, ...domains),
      transient: fc.boolean(),
    }),
    transaction: fc.record(attributes(origin, prefix)),
    parallel: fc.boolean(),
    rolling: fc.boolean(),
    /** Whether sessions are in a store, and the cookie only names them. */
    isStored: fc.boolean(),
    /** How much is kept in the session at each write, and how long the tokens of its connections are. */
    writes: fc.array(
      fc.record({
        size: choice(0, 100, 2500, 6000, 36_000),
        connections: fc.array(choice(10, 5000), { maxLength: 3 }),
      }),
      { maxLength: 4 },
    ),
    /** For each login, whether it uses form_post. */
    logins: fc.array(origin.startsWith('https:') ? fc.boolean() : fc.constant(false), { maxLength: 4 }),
  })
})

type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never

function given<T extends object>(options: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T
}

function optionsOf(plan: Plan) {
  const { isBasePath, isStored, origin, parallel, prefix, rolling, session, transaction } = plan
  const { namePrefix, ...cookie } = session
  const { namePrefix: transactionPrefix, ...transactionCookie } = transaction
  return {
    domain: 'idp.example.com',
    clientId: 'client',
    clientSecret: 'client-secret',
    secret: SECRET,
    appBaseUrl: isBasePath ? origin : origin + prefix,
    logoutStrategy: 'v2',
    enableParallelTransactions: parallel,
    session: { rolling, cookie: { ...given(cookie), name: `${namePrefix}session`, maxBytes: 200_000 } },
    transactionCookie: { ...given(transactionCookie), prefix: `${transactionPrefix}txn_` },
    ...(isStored ? { sessionStore: memoryStore({ name: crypto.randomUUID(), clock: () => NOW }) } : {}),
    logger: () => {},
    [customClock]: () => NOW,
  } satisfies IdpClientOptions
}

/** The application; null where the combination is refused. */
function applicationOf(given: Plan): { client: IdpClient; engine: Engine } | null {
  const options = optionsOf(given)
  if (given.isBasePath) vi.stubEnv('FRAMEWORK_PUBLIC_BASE_PATH', given.prefix)
  try {
    return {
      client: new IdpClient(options),
      engine: createApplication(options).engine(),
    }
  } catch (error) {
    if (isIdpError(error, 'INVALID_CONFIGURATION')) return null
    throw error
  } finally {
    vi.unstubAllEnvs()
  }
}

/** A browser in front of the application, which sees the prefix of its paths. */
class TestBrowser {
  readonly jar = new BrowserJar()
  readonly #plan: Plan

  constructor(plan: Plan) {
    this.#plan = plan
  }

  seen(path: string): URL {
    return new URL(this.#plan.origin + this.#plan.prefix + path)
  }

  request(path: string): Request {
    const { isBasePath, origin, prefix } = this.#plan
    const headers = { host: new URL(origin).host, cookie: this.jar.header(this.seen(path)) }
    return new Request(origin + (isBasePath ? prefix : '') + path, { headers })
  }

  take(headers: Headers, path: string): void {
    for (const line of headers.getSetCookie()) this.jar.take(line, this.seen(path))
  }

  /** Runs the part of the callback route after the provider's response. */
  async stage(work: (exchange: Exchange) => Promise<unknown>): Promise<void> {
    const request = this.request(CALLBACK)
    const own = requestCookies(parseCookies(request.headers.get('cookie')))
    const view = { ...new Cookies().exchange().request, headers: request.headers, url: new URL(request.url) }
    await work({ request: view, ...own, canWrite: () => true })
    const headers = new Headers()
    own.cookies.flush(headersSink(headers))
    this.take(headers, CALLBACK)
  }
}

async function transactionOf(
  { clientTag }: Engine,
  crossSitePost: boolean,
  at: number,
): Promise<LoginTransaction> {
  return {
    stateHash: `a-hash-of-22-letters-${at}`,
    responseType: 'code',
    nonce: 'n',
    codeVerifier: 'v',
    redirectUri: 'https://app.example.com/auth/callback',
    appBaseUrl: 'https://app.example.com',
    startedAt: NOW,
    expiresAt: NOW + 60,
    clientTag: await clientTag(),
    ...(crossSitePost ? { crossSitePost } : {}),
  }
}

function sessionOf({ connections, size }: Plan['writes'][number]): SessionData {
  return {
    user: { sub: 'alice', note: 'abcdefghij'.repeat(size / 10) },
    tokenSet: { accessToken: 'at', expiresAt: NOW + 60 },
    internal: { createdAt: NOW - 10 },
    connectionTokenSets: connections.map((length, at) => ({
      accessToken: 't'.repeat(length),
      connection: `connection-${at}`,
      expiresAt: NOW + 60,
    })),
  }
}

const FOREIGN = [
  'other',
  'session_',
  'sessions',
  'session__x',
  'a__session__0',
  'xtxn_1',
  'txn_x_a-hash-of-22-letters-0',
]

test('every cookie is accepted by browsers, and deleted at logout', async () => {
  let most = 0
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(plan, async (given) => {
      const application = applicationOf(given)
      if (!application) return
      accepted++
      const { client, engine } = application
      const browser = new TestBrowser(given)
      for (const name of FOREIGN) browser.jar.take(`${name}=1; Path=/`, browser.seen('/'))
      for (const [at, crossSitePost] of given.logins.entries()) {
        const transaction = await transactionOf(engine, crossSitePost, at)
        await browser.stage(async (exchange) => {
          const stage = await engine.transactions.prepare(exchange, transaction)
          stage()
        })
        await browser.stage(async (exchange) => engine.transactions.claimRestart(exchange))
      }
      const { sessionKey } = freshlyStored(sessionOf({ connections: [], size: 0 }), NOW)
      for (const write of given.writes) {
        const session = { data: sessionOf(write), sessionKey, usedAt: NOW }
        await browser.stage((exchange) => engine.sessions.save(exchange, session))
        const loaded = await client.getSession(browser.request(LOGOUT))
        expect(loaded?.user).toEqual(session.data.user)
        expect(loaded?.connectionTokenSets ?? []).toEqual(session.data.connectionTokenSets)
      }
      most = Math.max(most, browser.jar.names().length)
      const response = await client.middleware(browser.request(LOGOUT))
      expect(response.status).toBe(302)
      browser.take(response.headers, LOGOUT)
      const leavesMarker = given.writes.length > 0 && !given.isStored
      const marker = leavesMarker ? [`${given.session.namePrefix}session__ended`] : []
      expect(browser.jar.names().sort()).toEqual([...FOREIGN, ...marker].sort())
      expect(browser.jar.refused).toEqual([])
    }),
  )
  // Else little was proved. Random plans reach 16 to 18.
  expect(most).toBeGreaterThan(FOREIGN.length + 5)
  expect(accepted).toBeGreaterThan(RUNS / 4)
})
