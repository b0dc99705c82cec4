import { describe, expect, test } from 'vitest'
import { createSealer } from '../../src/crypto/seal.ts'
import type { Engine } from '../../src/engine.ts'
import { parseCookies } from '../../src/http/cookie-text.ts'
import type { Exchange } from '../../src/http/exchange.ts'
import { requestCookies } from '../../src/http/host-state.ts'
import type { IdpClientOptions, SessionDataStore } from '../../src/index.ts'
import { customClock, IdpClient } from '../../src/index.ts'
import { utf8 } from '../../src/lib/utf8.ts'
import { encodeSession } from '../../src/session/cookie/codec.ts'
import { encodeReference } from '../../src/session/model/reference.ts'
import { createSession, freshlyStored } from '../../src/session/model/session.ts'
import type { StoredSession } from '../../src/session/model/stored-session.ts'
import type { LoginTransaction } from '../../src/transaction/transaction.ts'
import { Cookies, engineFor, SECRET } from '../support/engine.ts'
import { fc, RUNS } from '../support/fast-check.ts'
import type { Material, Named } from '../support/hostile-cookies.ts'
import { decoded, floods, headerOf, hostileCookies, isWhole, spoilt } from '../support/hostile-cookies.ts'

const NAME = '__session'

function sessionAt(now: number, size = 0): StoredSession {
  const tokenSet = { accessToken: 'at', expiresAt: now + 60, refreshToken: 'rt' }
  const claims = { sub: 'alice', note: Buffer.alloc(size, 'abcdefghij').toString() }
  return freshlyStored(createSession({ claims, tokenSet, now }), now)
}

async function cookiesOf(engine: Engine, session: StoredSession): Promise<Named[]> {
  const cookies = new Cookies()
  const exchange = cookies.exchange()
  await engine.sessions.save(exchange, session)
  cookies.take(exchange)
  return [...cookies.stored].map(([name, { value }]) => ({ name, value }))
}

/** Sealed texts that are as good as any, and none of them a cookie of this client's sessions. */
async function foreignTexts(engine: Engine, now: number, purpose: 'session' | 'session-id') {
  const clientTag = await engine.clientTag()
  const reference = { clientTag, sessionKey: 'h'.repeat(22), writtenAt: now }
  const bytes =
    purpose === 'session' ? encodeSession({ ...sessionAt(now), clientTag }) : encodeReference(reference)
  const purposes = ['session', 'session-id', 'transaction', 'state', 'mfa', 'connection', 'logout'] as const
  const otherwise = purposes.filter((other) => other !== purpose)
  const stranger = encodeReference({ ...reference, clientTag: 'someone-else' })
  const old = sessionAt(now - 400_000)
  return Promise.all([
    ...otherwise.map((other) => engine.sealer.seal(other, bytes)),
    createSealer([`${SECRET}x`]).seal(purpose, bytes),
    engine.sealer.seal(
      purpose,
      purpose === 'session' ? encodeSession({ ...old, clientTag: 'other' }) : stranger,
    ),
    ...['', '\x01', '\x02\0\0\0\x02{}', '\x01\0\0\0\x02{}', '1..', 'null'].map((text) =>
      engine.sealer.seal(purpose, new Uint8Array(Buffer.from(text))),
    ),
  ])
}

async function cookieMaterial({ clock, engine }: ReturnType<typeof engineFor>): Promise<Material> {
  const [first] = await cookiesOf(engine, sessionAt(clock.now))
  const sets = [3500, 4000].map((size) => cookiesOf(engine, sessionAt(clock.now, size)))
  return {
    name: NAME,
    whole: first?.value ?? '',
    sets: await Promise.all(sets),
    foreign: await foreignTexts(engine, clock.now, 'session'),
  }
}

function exchangeOf(header: string): Exchange {
  return { ...new Cookies().exchange(), ...requestCookies(parseCookies(header)) }
}

describe('sessions in cookies', () => {
  const made = engineFor()

  test('fuzzed cookies give no session and never throw', async () => {
    const given = await cookieMaterial(made)
    const { sessions } = made.engine
    let refused = 0
    await fc.assert(
      fc.asyncProperty(hostileCookies(given), async (cookies) => {
        const exchange = exchangeOf(headerOf(cookies))
        const session = await sessions.load(exchange)
        await sessions.sweep(exchange)
        if (session === null) refused++
        else if (!isWhole(given, cookies)) throw new Error(`opened: ${headerOf(cookies)}`)
        else expect(session.data.user.sub).toBe('alice')
      }),
    )
    // The rest had a whole session among them.
    expect(refused).toBeGreaterThan(RUNS / 2)
  })

  test('thousands of chunks are not a session', async () => {
    const given = await cookieMaterial(made)
    for (const cookies of floods(given)) {
      const exchange = exchangeOf(headerOf(cookies))
      expect(await made.engine.sessions.load(exchange)).toBeNull()
      expect(await made.engine.sessions.sweep(exchange)).toBe(false)
      expect(exchange.cookies.pending()).toEqual([])
    }
    const spoiltOne = { name: NAME, value: `${given.whole}A` }
    const [flood = []] = floods(given)
    const mixed = exchangeOf(headerOf([...flood, spoiltOne]))
    expect(await made.engine.sessions.sweep(mixed)).toBe(true)
    expect(mixed.cookies.pending()).toHaveLength(flood.length + 1)
    const [set = []] = given.sets
    for (const cookies of floods({ ...given, sets: [] })) {
      const session = await made.engine.sessions.load(exchangeOf(headerOf([...cookies, ...set])))
      expect(session?.data.user.sub).toBe('alice')
    }
  })

  test('cookies beside a session neither hide it nor add to it', async () => {
    const given = await cookieMaterial(made)
    const own = { name: NAME, value: given.whole }
    const marker = await made.engine.sealer.seal('logout', utf8('1.x'))
    const spoiltMarker = fc.oneof(spoilt(marker), fc.constantFrom(...given.foreign))
    const beside = fc.oneof(
      spoiltMarker.map((value) => [{ name: `${NAME}__ended`, value }]),
      spoiltMarker.map((value) => [{ name: `${NAME}__conn_0`, value }]),
      hostileCookies({ ...given, name: `${NAME}__conn_0` }),
      hostileCookies(given),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(beside, { maxLength: 20 }), async (all) => {
        for (const cookies of all) {
          const session = await made.engine.sessions.load(exchangeOf(headerOf([...cookies, own])))
          expect(session?.data.user.sub).toBe('alice')
          expect(session?.data).not.toHaveProperty('connectionTokenSets')
        }
      }),
    )
  })

  test('damaged transactions are rejected', async () => {
    const { clock, engine } = made
    const stateHash = 'h'.repeat(22)
    const begun: LoginTransaction = {
      stateHash,
      responseType: 'code',
      nonce: 'n',
      codeVerifier: 'v',
      redirectUri: 'https://app.example.com/cb',
      appBaseUrl: 'https://app.example.com',
      startedAt: clock.now,
      expiresAt: clock.now + 60,
      clientTag: await engine.clientTag(),
    }
    const cookies = new Cookies()
    const exchange = cookies.exchange()
    const stageTransaction = await engine.transactions.prepare(exchange, begun)
    stageTransaction()
    cookies.take(exchange)
    const [[name, { value }] = ['', { value: '' }]] = cookies.stored
    const sealed = value.slice(value.indexOf(':') + 1)
    const loaded = (text: string) => engine.transactions.load(exchangeOf(`${name}=${text}`), stateHash)
    expect(await loaded(value)).toMatchObject({ kind: 'found' })
    await fc.assert(
      fc.asyncProperty(spoilt(value), async (text) => {
        // The time in front is there to tell which cookie is older; nothing else depends on it.
        if (!decoded(text).endsWith(sealed)) expect((await loaded(text)).kind).toBe('missing')
      }),
    )
  })
})

describe('sessions in a store', () => {
  test('a cookie that does not decrypt causes no read of the store', async () => {
    const records = new Map<string, string>()
    let asked = 0
    const store: SessionDataStore = {
      async get(id) {
        asked++
        const text = records.get(id)
        return text === undefined ? null : JSON.parse(text)
      },
      async set(id, session) {
        records.set(id, JSON.stringify(session))
      },
      async delete(id) {
        records.delete(id)
      },
    }
    const { clock, engine } = engineFor({ sessionStore: store })
    const [own] = await cookiesOf(engine, sessionAt(clock.now))
    const { sets, whole } = await cookieMaterial(engineFor())
    const foreign = await foreignTexts(engine, clock.now, 'session-id')
    const given = { name: NAME, whole: own?.value ?? '', sets, foreign: [...foreign, whole] }
    expect((await engine.sessions.load(exchangeOf(`${NAME}=${given.whole}`)))?.data.user.sub).toBe('alice')
    expect(asked).toBe(1)
    asked = 0
    await fc.assert(
      fc.asyncProperty(hostileCookies(given), async (cookies) => {
        fc.pre(!isWhole({ ...given, sets: [] }, cookies))
        const exchange = exchangeOf(headerOf(cookies))
        expect(await engine.sessions.load(exchange)).toBeNull()
        await engine.sessions.sweep(exchange)
      }),
    )
    expect(asked).toBe(0)
  })
})

test('the profile route responds with 401 to fuzzed cookies and never fails', async () => {
  const made = engineFor()
  const given = await cookieMaterial(made)
  const codes: string[] = []
  const options: IdpClientOptions = {
    domain: 'idp.example.com',
    clientId: 'client',
    clientSecret: 'client-secret',
    secret: SECRET,
    appBaseUrl: 'https://app.example.com',
    logger: ({ code }) => codes.push(code),
    [customClock]: () => made.clock.now,
  }
  const client = new IdpClient(options)
  const profile = (cookies: readonly Named[]): Promise<Response> =>
    client.middleware(
      new Request('https://app.example.com/auth/profile', { headers: { cookie: headerOf(cookies) } }),
    )
  const own = { name: NAME, value: given.whole }
  for (const beside of ['garbage', '', given.whole.slice(1)]) {
    const response = await profile([{ name: NAME, value: beside }, own])
    expect([response.status, response.headers.getSetCookie()]).toEqual([200, []])
  }
  await fc.assert(
    fc.asyncProperty(hostileCookies(given), async (cookies) => {
      const { status } = await profile(cookies)
      expect(status === 401 || (status === 200 && isWhole(given, cookies))).toBe(true)
    }),
  )
  for (const cookies of floods(given)) expect((await profile(cookies)).status).toBe(401)
  expect(codes).not.toContain('REQUEST_FAILED')
})
