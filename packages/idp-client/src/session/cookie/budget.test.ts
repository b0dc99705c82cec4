import { describe, expect, test } from 'vitest'
import { Cookies, engineFor } from '../../../test/support/engine.ts'
import { fc, RUNS } from '../../../test/support/fast-check.ts'
import { incompressible } from '../../../test/support/incompressible.ts'
import { returnPath } from '../../../test/support/return-path.ts'
import type { IdpClientOptions } from '../../config/options.ts'
import { hashToken, randomToken } from '../../crypto/random.ts'
import { isIdpError } from '../../errors/base.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { LogEvent } from '../../log/log.ts'
import type { LoginTransaction } from '../../transaction/transaction.ts'
import type { AuthenticationClaims } from '../model/authentication.ts'
import { freshlyStored } from '../model/session.ts'
import type { SessionData } from '../model/session-data.ts'
import type { StoredSession } from '../model/stored-session.ts'

const MAX_BYTES = 6400
const OVERDRAFT = 400
const ALL_COOKIES = MAX_BYTES + 1500

/** A JWT with these claims; nothing verifies it. */
function jwt(claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signature = Buffer.from(incompressible(256)).toString('base64url')
  return `${part({ alg: 'RS256', kid: 'key' })}.${part(claims)}.${signature}`
}

/** Characters of each part of a session. */
interface Sizes {
  readonly user: number
  readonly access?: number
  readonly refresh?: number
  readonly note?: number
  readonly further?: readonly number[]
  readonly connections?: readonly number[]
}

/** A session whose claims and tokens differ from those with another number. */
function dataOf(now: number, serial: number, sizes: Sizes): SessionData {
  const claims = { sub: 'alice', serial, groups: incompressible(sizes.user) }
  const expiresAt = now + 600
  const token = (length: number): string => `${serial}-${incompressible(length)}`
  return {
    user: claims,
    tokenSet: {
      accessToken: token(sizes.access ?? 40),
      refreshToken: token(sizes.refresh ?? 40),
      idToken: jwt({ ...claims, iss: 'https://idp.example.com', aud: 'client' }),
      expiresAt,
    },
    ...(sizes.note ? { note: incompressible(sizes.note) } : {}),
    ...(sizes.further
      ? {
          accessTokens: sizes.further.map((length, at) => ({
            accessToken: token(length),
            audience: `https://api-${at}.example.test/`,
            expiresAt,
          })),
        }
      : {}),
    ...(sizes.connections
      ? {
          connectionTokenSets: sizes.connections.map((length, at) => ({
            accessToken: token(length),
            connection: `connection-${at}`,
            expiresAt,
          })),
        }
      : {}),
    internal: { createdAt: now },
  }
}

/** A browser, and an application that stores its sessions in cookies. */
function browser(options: IdpClientOptions = {}) {
  const events: LogEvent[] = []
  const { clock, engine } = engineFor({ logger: (event) => events.push(event), ...options })
  const cookies = new Cookies()
  let serial = 1000
  const newData = (sizes: Sizes): SessionData => {
    serial += 1
    return dataOf(clock.now, serial, sizes)
  }
  const within = async <T>(work: (exchange: Exchange) => Promise<T>): Promise<T> => {
    const exchange = cookies.exchange()
    const result = await work(exchange)
    cookies.take(exchange)
    return result
  }
  const load = (): Promise<StoredSession | null> => Promise.resolve(engine.sessions.load(cookies.exchange()))
  return {
    clock,
    cookies,
    engine,
    events,
    within,
    load,
    logIn: (sizes: Sizes) =>
      within((exchange) =>
        engine.sessions.save(exchange, freshlyStored(newData(sizes), clock.now), { mustFit: true }),
      ),
    /** Writes what a refresh would bring. */
    async refresh(sizes: Sizes, isFurther = false, authentication?: AuthenticationClaims) {
      const session = await load()
      if (!session) throw new Error('there is no session')
      const data = { ...newData(sizes), internal: session.data.internal }
      const newAccessToken = (isFurther && data.accessTokens?.[0]?.accessToken) || data.tokenSet.accessToken
      const proven = authentication ? { authentication } : {}
      const given = { ...session, data, newAccessToken, ...proven }
      await within((exchange) => engine.sessions.save(exchange, given))
      return data
    },
    async begin(changes: Partial<LoginTransaction> = {}) {
      const startedAt = clock.now
      const transaction: LoginTransaction = {
        stateHash: await hashToken(randomToken()),
        responseType: 'code',
        nonce: randomToken(32),
        codeVerifier: randomToken(32),
        redirectUri: 'https://app.example.com/auth/callback',
        appBaseUrl: 'https://app.example.com',
        returnTo: returnPath('/'),
        scope: 'openid profile email offline_access',
        startedAt,
        expiresAt: startedAt + 3600,
        clientTag: await engine.clientTag(),
        ...changes,
      }
      await within(async (exchange) => {
        const stage = await engine.transactions.prepare(exchange, transaction)
        stage()
      })
      return transaction
    },
    logOut: () => within((exchange) => engine.sessions.destroy(exchange)),
    /** Bytes of the `Cookie` header that the cookies with such names take. */
    bytes: (prefix = ''): number =>
      [...cookies.stored]
        .filter(([name]) => name.startsWith(prefix))
        .reduce((sum, [name, { value }]) => sum + name.length + value.length + 3, 0),
    limits: () => events.filter((event) => event.code === 'SESSION_AT_LIMIT'),
  }
}

describe('[L1] the cookies of one client', () => {
  const size = fc.oneof(fc.nat(400), fc.nat(4000), fc.nat(70_000))
  const small = fc.nat(900)
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('refresh' as const),
      sizes: fc.record({
        user: size,
        access: fc.nat(3000),
        note: small,
        further: fc.array(fc.nat(2000), { maxLength: 4 }),
        connections: fc.array(fc.nat(5000), { maxLength: 3 }),
      }),
      isFurther: fc.boolean(),
    }),
    fc.record({
      kind: fc.constant('login' as const),
      sizes: fc.record({ user: fc.nat(5000), access: small }),
    }),
    fc.record({
      kind: fc.constant('begin' as const),
      path: fc.nat(2000),
      scope: fc.oneof(fc.nat(100), fc.nat(3000)),
      seconds: fc.nat(100),
    }),
    fc.record({ kind: fc.constant('logout' as const) }),
  )

  test('never exceed 7900 bytes together, and no refresh token is lost', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const profile = browser()
        for (const next of steps) {
          if (next.kind === 'begin') {
            profile.clock.now += next.seconds
            const begun = await profile.begin({
              returnTo: returnPath(`/${'p'.repeat(next.path)}`),
              scope: 's'.repeat(next.scope),
            })
            expect(
              await profile.engine.transactions.load(profile.cookies.exchange(), begun.stateHash),
            ).toMatchObject({
              kind: 'found',
            })
          } else if (next.kind === 'logout') await profile.logOut()
          else if (next.kind === 'login')
            await profile.logIn(next.sizes).catch((error: unknown) => {
              if (!isIdpError(error, 'SESSION_TOO_LARGE')) throw error
            })
          else if (await profile.load()) {
            const written = await profile.refresh(next.sizes, next.isFurther)
            const after = await profile.load()
            expect(after?.data.tokenSet.refreshToken).toBe(written.tokenSet.refreshToken)
            expect(after?.data.user.sub).toBe('alice')
          }
          expect(profile.bytes('__session__ended')).toBeLessThanOrEqual(400)
          expect(profile.bytes('__session') - profile.bytes('__session__ended')).toBeLessThanOrEqual(
            MAX_BYTES + OVERDRAFT,
          )
          expect(profile.bytes('__txn_')).toBeLessThanOrEqual(3500)
          expect(profile.bytes()).toBeLessThanOrEqual(ALL_COOKIES)
        }
      }),
      { numRuns: RUNS },
    )
  })
})

describe('[L1] a session write after a redemption leaves out', () => {
  const full: Sizes = { user: 3500, access: 300 }

  test('all other tokens, if the new one does not fit beside the earlier ID token', async () => {
    const profile = browser()
    await profile.logIn(full)
    const before = await profile.load()
    const [user, authentication] = [before?.data.user, before?.authentication]
    const written = await profile.refresh({ user: 20_000, access: 2000, further: [3000] }, true)
    const after = await profile.load()
    expect(profile.limits().map(({ leftOut, level }) => ({ leftOut, level }))).toEqual([
      { leftOut: ['access token'], level: 'warn' },
      { leftOut: ['new ID token'], level: 'warn' },
      { leftOut: ['all other tokens'], level: 'warn' },
    ])
    expect(after?.data.user).toEqual(user)
    expect(after?.data.tokenSet).toMatchObject({
      accessToken: '',
      refreshToken: written.tokenSet.refreshToken,
    })
    expect(after?.data.tokenSet.idToken).toBeUndefined()
    expect(after?.data.accessTokens).toBeUndefined()
    // Guards and later refreshes still know who logged in.
    expect(authentication).toBeUndefined()
    expect(after?.authentication).toMatchObject({
      iss: 'https://idp.example.com',
      sub: 'alice',
      aud: 'client',
    })
    // A refresh that fits again brings everything back.
    const small = await profile.refresh({ user: 10 })
    expect((await profile.load())?.data).toEqual(small)
  })

  test.each([300, 3000])('not the proof of a step-up (further token: %d characters)', async (further) => {
    const profile = browser()
    await profile.logIn(full)
    const session = await profile.load()
    if (!session) throw new Error('there is no session')
    const proven = { iss: 'https://idp.example.com', sub: 'alice', aud: 'client', auth_time: 5, acr: 'gold' }
    await profile.refresh({ user: 20_000, access: 2000, further: [further] }, true, proven)
    const after = await profile.load()
    expect(after?.data.user).toEqual(session.data.user)
    expect(after?.authentication).toEqual({ ...proven, ahead: true })
    await profile.refresh({ user: 20_000, access: 2000 }, false, proven)
    expect((await profile.load())?.authentication).toEqual({ ...proven, ahead: true })
  })

  test('nothing, if only the refresh token is too large: the cookies stay as they are', async () => {
    const profile = browser()
    await profile.logIn(full)
    const before = new Map(profile.cookies.stored)
    await expect(profile.refresh({ user: 10, refresh: 8000 })).rejects.toMatchObject({
      code: 'SESSION_TOO_LARGE',
      fields: expect.objectContaining({ 'tokenSet.refreshToken': expect.any(Number) }),
    })
    expect(profile.cookies.stored).toEqual(before)
  })

  test('[Q4] the new tokens, if the refresh token has grown beside fewer claims, which stay', async () => {
    let profile = browser()
    let written: SessionData | undefined
    const leftOut = (): readonly (readonly string[])[] => profile.limits().map((event) => event.leftOut)
    for (let refresh = 1000; !leftOut().flat().includes('all other tokens'); refresh += 60) {
      profile = browser()
      await profile.logIn({ user: 3500 })
      written = await profile.refresh({ user: 3000, refresh })
    }
    const { user, tokenSet } = (await profile.load())?.data ?? {}
    expect([user, tokenSet?.refreshToken]).toEqual([written?.user, written?.tokenSet.refreshToken])
    // The earlier claims would take more.
    expect(leftOut()).toEqual([['access token'], ['all other tokens']])
  })

  test('nothing more of a session that was written with a higher limit', async () => {
    const profile = browser({ session: { cookie: { maxBytes: 20_000 } } })
    await profile.logIn({ user: 9000 })
    const { engine } = engineFor()
    const session = await profile.load()
    if (!session) throw new Error('there is no session')
    const exchange = profile.cookies.exchange()
    await engine.sessions.save(exchange, { ...session, usedAt: session.usedAt + 1 })
    profile.cookies.take(exchange)
    const { data } = (await engine.sessions.load(profile.cookies.exchange())) ?? {}
    expect(data?.user).toEqual(session.data.user)
    expect(data?.tokenSet.refreshToken).toBe(session.data.tokenSet.refreshToken)
  })
})

test('a session without a refresh token that was written with a higher limit is written as it is, and may not grow', async () => {
  const profile = browser({ session: { cookie: { maxBytes: 20_000 } } })
  const session = freshlyStored(dataOf(profile.clock.now, 1000, { user: 9000 }), profile.clock.now)
  const { refreshToken: _none, ...tokenSet } = session.data.tokenSet
  const before = { ...session, data: { ...session.data, tokenSet } }
  await profile.within((exchange) => profile.engine.sessions.save(exchange, before))
  const { engine } = engineFor()
  const save = (data: SessionData): Promise<boolean> =>
    profile.within((exchange) =>
      engine.sessions.save(exchange, { ...before, data, usedAt: before.usedAt + 1 }),
    )
  expect(await save(before.data)).toBe(true)
  expect((await profile.load())?.data).toEqual(before.data)
  await expect(save({ ...before.data, note: incompressible(100) })).rejects.toMatchObject({
    code: 'SESSION_TOO_LARGE',
  })
})

test('a session has at most 32 cookies for tokens of connections, and none that is larger than is read', async () => {
  const options = { session: { cookie: { maxBytes: 150_000 } } }
  const many = browser(options)
  await many.logIn({ user: 10, connections: Array.from({ length: 33 }, () => 10) })
  expect((await many.load())?.data.connectionTokenSets).toHaveLength(32)
  const first = many.cookies.stored.get('__session__conn_0') ?? expect.fail('a cookie')
  many.cookies.stored.set('__session__conn_32', first)
  expect((await many.load())?.data.connectionTokenSets).toHaveLength(32)
  const large = browser(options)
  await large.logIn({ user: 10, connections: [100_000] })
  expect((await large.load())?.data.connectionTokenSets).toBeUndefined()
})

test('[Q4] a login gets none of the bytes that a write after a redemption may take', async () => {
  const profile = browser()
  let failure: unknown
  for (let user = 3500; failure === undefined; user += 20)
    failure = await profile.logIn({ user }).then(
      () => undefined,
      (error: unknown) => error,
    )
  expect(failure).toMatchObject({ code: 'SESSION_TOO_LARGE' })
  const bytes = profile.bytes('__session') - profile.bytes('__session__ended')
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES)
  expect(bytes).toBeGreaterThan(MAX_BYTES - 200)
})

describe('[L1] the cookies of transactions', () => {
  /** Logs in so that the session takes between 6700 and 6800 bytes. */
  async function besideFullSession() {
    const profile = browser()
    await profile.logIn({ user: 100 })
    for (let user = 3000; user < 6000 && profile.bytes('__session') < MAX_BYTES + 300; user += 20)
      await profile.refresh({ user })
    expect(profile.bytes('__session')).toBeGreaterThan(MAX_BYTES + 300)
    expect(profile.bytes('__session')).toBeLessThanOrEqual(MAX_BYTES + OVERDRAFT)
    return profile
  }
  const find = async ({ cookies, engine }: ReturnType<typeof browser>, { stateHash }: LoginTransaction) => {
    const found = await engine.transactions.load(cookies.exchange(), stateHash)
    return found.kind === 'found' ? found.transaction : null
  }

  test('get what a large session leaves: scope, audience and then the path are left out', async () => {
    const profile = await besideFullSession()
    const begun = await profile.begin({
      returnTo: returnPath(`/${'p'.repeat(500)}`),
      audience: 'https://api.example.test/',
    })
    expect(profile.bytes('__txn_')).toBeLessThanOrEqual(800)
    const found = await find(profile, begun)
    expect(found?.codeVerifier).toBe(begun.codeVerifier)
    expect(found).not.toHaveProperty('scope')
    expect(found).not.toHaveProperty('audience')
    expect(found).not.toHaveProperty('returnTo')
    const next = await profile.begin()
    expect(await find(profile, begun)).toBeNull()
    expect(await find(profile, next)).toMatchObject({ scope: next.scope, returnTo: '/' })
  })

  test('[Q4] share what is left with the cookie that prevents a loop of restarts', async () => {
    const profile = await besideFullSession()
    expect(await profile.within(async (exchange) => profile.engine.transactions.claimRestart(exchange))).toBe(
      true,
    )
    const left = Math.max(700, ALL_COOKIES - 400 - profile.bytes('__session'))
    for (let length = 0; length < 400; length += 5) {
      await profile.begin({ returnTo: returnPath(`/${'p'.repeat(length)}`) })
      expect(profile.bytes('__txn_')).toBeLessThanOrEqual(left)
    }
    expect(profile.cookies.stored.has('__txn_restart')).toBe(true)
  })

  test('are not set if not even the smallest fits: nothing else changes', async () => {
    const profile = await besideFullSession()
    const begun = await profile.begin()
    await expect(profile.begin({ organization: 'o'.repeat(256) })).rejects.toMatchObject({
      code: 'SESSION_TOO_LARGE',
      bytes: expect.any(Number),
      message: expect.stringContaining('This login or connection needs a cookie of'),
    })
    expect(await find(profile, begun)).not.toBeNull()
  })

  test('are deleted with the response that writes a larger session, the oldest first', async () => {
    const profile = browser()
    await profile.logIn({ user: 10 })
    const begun: LoginTransaction[] = []
    for (let count = 0; count < 4; count++) {
      begun.push(await profile.begin({ returnTo: returnPath(`/${'p'.repeat(200)}`) }))
      profile.clock.now += 1
    }
    const alive = async () => (await Promise.all(begun.map((each) => find(profile, each)))).map(Boolean)
    expect(await alive()).toEqual([true, true, true, true])
    await profile.refresh({ user: 4000 })
    const left = await alive()
    expect([left[0], left.at(-1)]).toEqual([false, true])
    expect(profile.bytes()).toBeLessThanOrEqual(ALL_COOKIES)
  })

  test('even the newest is deleted if it is too large beside the session', async () => {
    const profile = browser()
    await profile.logIn({ user: 10 })
    const begun = await profile.begin({ returnTo: returnPath(`/${'p'.repeat(1500)}`) })
    expect(await find(profile, begun)).not.toBeNull()
    await profile.refresh({ user: 4100 })
    expect(profile.bytes('__session')).toBeGreaterThan(6000)
    expect(await find(profile, begun)).toBeNull()
  })
})

test('[L1] the logout marker takes at most 400 bytes: its oldest keys go', async () => {
  const profile = browser()
  const sessions: StoredSession[] = []
  for (let count = 0; count < 16; count++) {
    profile.cookies.stored.delete('__session')
    await profile.logIn({ user: 10 })
    const session = await profile.load()
    if (session) sessions.push(session)
    await profile.logOut()
    expect(profile.bytes('__session__ended')).toBeLessThanOrEqual(400)
  }
  expect(sessions).toHaveLength(16)
  const last = sessions.at(-1)
  if (!last) throw new Error('there is no session')
  // A late response to a request of the last session, which began in the second in which it ended.
  const late = browser()
  await late.within((exchange) => late.engine.sessions.save(exchange, last))
  for (const [name, cookie] of late.cookies.stored) profile.cookies.stored.set(name, cookie)
  expect(await profile.load()).toBeNull()
})
