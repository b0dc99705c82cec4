import { hkdfSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { CompactEncrypt } from 'jose'
import { describe, expect, test } from 'vitest'
import { InvalidConfigurationError } from '../errors/configuration.ts'
import type { FormerCookies, NextAuthSession, NextAuthToken, TakeOver } from './index.ts'
import { expressOpenidConnect, nextAuth, nextjsAuth0 } from './index.ts'

interface Fixture {
  readonly writtenBy: string
  readonly secret: string
  /** Cookies of each kind, written by the former library. */
  readonly kinds: Readonly<Record<string, Readonly<Record<string, string>>>>
}

const loadFixture = (name: string): Fixture =>
  JSON.parse(readFileSync(new URL(`../../test/fixtures/former/${name}.json`, import.meta.url), 'utf8'))

const packages = [
  'nextjs-auth0-4',
  'nextjs-auth0-3',
  'express-openid-connect-3',
  'express-openid-connect-2',
  'next-auth-4',
] as const
const fixtures = Object.fromEntries(packages.map((name) => [name, loadFixture(name)]))

function fixture(name: (typeof packages)[number]): Fixture {
  const found = fixtures[name]
  if (!found) throw new Error(name)
  return found
}

const toCookies = (values: Readonly<Record<string, string>>): FormerCookies => ({
  get: (name) => (Object.hasOwn(values, name) ? values[name] : undefined),
  names: () => Object.keys(values),
})

/** The time at which the fixtures were written, and that of the login. */
const NOW = 1_800_000_000
const LOGIN = NOW - 100
const until = '2027-01-31'
const { secret } = fixture('nextjs-auth0-4')

function mapToken(token: NextAuthToken): NextAuthSession {
  const { sub, name, accessToken, refreshToken, expiresAt } = token
  return { user: { sub, name }, tokens: { accessToken, refreshToken, expiresAt } }
}

type Reader = (options?: { secret?: string | readonly string[]; cookieName?: string }) => TakeOver

const readers: Readonly<Record<string, Reader>> = {
  'nextjs-auth0': (options) => nextjsAuth0({ secret, until, ...options }),
  'express-openid-connect': (options) => expressOpenidConnect({ secret, until, ...options }),
  'next-auth': (options) => nextAuth({ secret, until, map: mapToken, ...options }),
}

function create(library: string, options?: Parameters<Reader>[0]): TakeOver {
  const reader = readers[library]
  if (!reader) throw new Error(library)
  return reader(options)
}

const toLibrary = (name: string) => name.replace(/-\d$/, '')

const tokens = { accessToken: 'access-token', expiresAt: NOW + 500, refreshToken: 'refresh-token' }
const idToken = expect.stringMatching(/^ey.+\..+\..+$/)
const alice = { sub: 'alice', name: 'Alice Ä', email: 'alice@example.com' }

/** The session that a reader returns for each kind of cookie. For every other kind it returns null. */
const sessions: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  'nextjs-auth0-4': {
    session: {
      user: alice,
      createdAt: LOGIN,
      expiresAt: NOW + 86_400,
      sid: 's-1',
      idToken,
      tokens: {
        ...tokens,
        scope: 'openid profile',
        requestedScope: 'openid profile offline_access',
        audience: 'https://api.example.com/',
        token_type: 'Bearer',
      },
    },
  },
  'nextjs-auth0-3': {
    session: {
      user: { ...alice, sid: 's-1' },
      createdAt: LOGIN,
      usedAt: NOW,
      expiresAt: NOW + 86_400,
      sid: 's-1',
      idToken,
      tokens: { ...tokens, scope: 'openid profile', token_type: 'Bearer' },
    },
    withoutIdToken: { createdAt: LOGIN, idToken: undefined },
  },
  'express-openid-connect-3': {
    session: {
      user: { ...alice, iss: 'https://idp.example.com/', sid: 's-1', auth_time: LOGIN },
      createdAt: NOW,
      usedAt: NOW,
      expiresAt: NOW + 86_400,
      sid: 's-1',
      idToken,
      tokens: { ...tokens, token_type: 'Bearer' },
    },
  },
  'express-openid-connect-2': {
    session: {
      createdAt: NOW,
      usedAt: NOW,
      expiresAt: NOW + 86_400,
      tokens: { ...tokens, scope: 'openid profile' },
    },
  },
  'next-auth-4': {
    session: {
      user: { sub: 'alice', name: 'Alice Ä' },
      createdAt: NOW,
      usedAt: NOW,
      expiresAt: NOW + 86_400,
      id: expect.stringMatching(/^[\w-]{43}$/),
      tokens,
    },
  },
}

const sessionKinds = ['session', 'parts', 'secure', 'withoutIdToken']

const kinds = packages.flatMap((name) =>
  Object.entries(fixture(name).kinds).map(([kind, cookies]) => ({ name, kind, cookies })),
)

describe.each(kinds)('a cookie of $name, $kind', ({ name, kind, cookies }) => {
  test('is read by the reader of its library', async () => {
    const session = await create(toLibrary(name)).read(toCookies(cookies))
    if (!sessionKinds.includes(kind)) expect(session).toBeNull()
    else expect(session).toMatchObject(sessions[name]?.[kind] ?? sessions[name]?.['session'] ?? {})
  })

  const names = ['__session', 'appSession', 'next-auth.session-token', '__Secure-next-auth.session-token']
  const values = Object.values(cookies)

  test.each(names)('is a session under the name %s for the reader of its library alone', async (other) => {
    if (kind === 'parts') return
    for (const library of Object.keys(readers))
      for (const value of values) {
        const session = await create(library, { cookieName: other }).read(toCookies({ [other]: value }))
        expect(session !== null).toBe(toLibrary(name) === library && sessionKinds.includes(kind))
      }
  })

  test('is not read under the name of a part', async () => {
    for (const library of Object.keys(readers))
      for (const value of kind === 'parts' ? values : [])
        expect(await create(library, { cookieName: 's' }).read(toCookies({ s: value }))).toBeNull()
  })
})

describe.each(kinds.filter(({ kind }) => kind === 'session'))('a session of $name', ({ name, cookies }) => {
  const [cookieName = '', value = ''] = Object.entries(cookies)[0] ?? []
  const read = (values: Record<string, string>, options?: Parameters<Reader>[0]) =>
    create(toLibrary(name), options).read(toCookies(values))

  test('opens with each of several secrets', async () => {
    const another = 'another secret of the application, 0123456789'
    expect(await read(cookies, { secret: [another, secret] })).not.toBeNull()
    expect(await read(cookies, { secret: [another] })).toBeNull()
  })

  test('is null with another secret', async () => {
    expect(await read(cookies, { secret: `${secret}.` })).toBeNull()
  })

  test('is null if it was cut', async () => {
    for (const length of [0, 1, 20, value.length - 30, value.length - 1])
      expect(await read({ [cookieName]: value.slice(0, length) })).toBeNull()
  })

  test('is null if a character was changed', async () => {
    const changes = [...value].map((character, at) => {
      const other = character === 'A' ? 'B' : 'A'
      return value.slice(0, at) + other + value.slice(at + 1)
    })
    // Every fifth, and all of the authentication tag.
    for (const changed of changes.filter((_, at) => at % 5 === 0 || at > value.length - 22))
      expect(await read({ [cookieName]: changed })).toBeNull()
  })

  test('is null in another encoding of the same bytes', async () => {
    const { length } = value
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const last = alphabet[alphabet.indexOf(value[length - 1] ?? '') + 1] ?? ''
    const sameTag = value.slice(0, -1) + last
    const toTag = (jwe: string) => Buffer.from(jwe.split('.')[4] ?? '', 'base64url').toString('hex')
    expect(toTag(sameTag)).toBe(toTag(value))
    for (const other of [sameTag, `${value}=`, `${value} `, ` ${value}`, `${value}.`])
      expect(await read({ [cookieName]: other })).toBeNull()
  })
})

describe.each(kinds.filter(({ kind }) => kind === 'parts'))('parts of $name', ({ name, cookies }) => {
  const reader = create(toLibrary(name))
  const entries = Object.entries(cookies)

  test('are null if one is missing, twice there or in another order', async () => {
    for (const [missing] of entries) {
      const others = Object.fromEntries(entries.filter(([each]) => each !== missing))
      expect(await reader.read(toCookies(others))).toBeNull()
    }
    const swapped = Object.fromEntries(entries.map(([each], at) => [each, entries.at(at - 1)?.[1] ?? '']))
    expect(await reader.read(toCookies(swapped))).toBeNull()
  })

  test('are read beside an empty or foreign cookie of their name', async () => {
    const [[first = ''] = []] = entries
    for (const foreign of ['', 'foreign']) {
      const values = { ...cookies, [first.replace(/(?:__|\.)0$/, '')]: foreign }
      expect(await reader.read(toCookies(values))).not.toBeNull()
    }
  })
})

describe.each(Object.keys(readers))('the reader of %s', (library) => {
  test('names its library and its cookies', () => {
    const reader = create(library)
    expect(reader).toMatchObject({ library, until })
    expect(create(library, { cookieName: 'own' }).cookies).toEqual(['own'])
  })

  test('returns null for anything else', async () => {
    const values = [
      '',
      '.',
      '....',
      'a.b.c',
      '{}',
      'e30..e30.e30.e30',
      'eyJhbGciOiJub25lIn0.e30.',
      '\u0000',
      'Ä'.repeat(50),
    ]
    for (const value of [...values, `${'e30.'.repeat(4)}e30`, 'e'.repeat(70_000)])
      expect(await create(library, { cookieName: 's' }).read(toCookies({ s: value }))).toBeNull()
    expect(await create(library).read(toCookies({}))).toBeNull()
  })

  test('joins no more than 64 KiB', async () => {
    let asked = 0
    const endless: FormerCookies = {
      get: () => {
        asked++
        return 'e'.repeat(4000)
      },
      names: () => [],
    }
    expect(await create(library).read(endless)).toBeNull()
    expect(asked).toBeLessThan(200)
  })

  test('rejects a secret below 32 characters', () => {
    const long = 'x'.repeat(32)
    for (const short of ['', 'x'.repeat(31), [], [long, 'short']])
      expect(() => create(library, { secret: short })).toThrow(InvalidConfigurationError)
    expect(() => create(library, { secret: 'x'.repeat(31) })).toThrow(
      /takeOver .*at least 32 characters.*shorter, omit takeOver/,
    )
    const unset = [long, undefined] as unknown as string[]
    expect(() => create(library, { secret: unset })).toThrow(InvalidConfigurationError)
    expect(create(library, { secret: [long] }).until).toBe(until)
  })
})

test('next-auth requires map', () => {
  const options = { secret, until } as unknown as Parameters<typeof nextAuth>[0]
  expect(() => nextAuth(options)).toThrow(InvalidConfigurationError)
  expect(() => nextAuth(options)).toThrow(/map of takeOver .*must be a function/)
})

test('an undefined secret throws when a session is read, not when the application is built', async () => {
  const { kinds } = fixture('nextjs-auth0-4')
  const reader = nextjsAuth0({ secret: undefined, until })
  await expect(reader.read(toCookies(kinds['session'] ?? {}))).rejects.toThrow(
    /secret of takeOver .*undefined/,
  )
  expect(await reader.read(toCookies({}))).toBeNull()
})

describe('map of nextAuth', () => {
  const cookies = fixture('next-auth-4').kinds['session'] ?? {}
  const read = (map: (token: NextAuthToken) => NextAuthSession | null | Promise<NextAuthSession | null>) =>
    nextAuth({ secret, until, map }).read(toCookies(cookies))

  test('gets what the jwt callback returned', async () => {
    const seen: NextAuthToken[] = []
    expect(
      await read((token) => {
        seen.push(token)
        return null
      }),
    ).toBeNull()
    expect(seen).toMatchObject([{ sub: 'alice', accessToken: 'access-token', iat: NOW, exp: NOW + 86_400 }])
  })

  test('is not called for a state, nonce or PKCE cookie of an earlier version', async () => {
    const never = () => {
      throw new Error('called')
    }
    for (const value of Object.values(fixture('next-auth-4').kinds['earlierTransaction'] ?? {}))
      expect(
        await nextAuth({ secret, until, map: never, cookieName: 's' }).read(toCookies({ s: value })),
      ).toBeNull()
  })

  test('may return the time of the login, which then identifies the session', async () => {
    const session = await read(async () => ({
      user: { sub: 'alice' },
      createdAt: LOGIN,
      expiresAt: NOW + 1e6,
    }))
    expect(session).toMatchObject({ createdAt: LOGIN, usedAt: NOW, expiresAt: NOW + 86_400, id: undefined })
  })

  test('may return an id and an earlier end', async () => {
    const session = await read(() => ({ user: { sub: 'alice' }, id: 'own', expiresAt: NOW + 10 }))
    expect(session).toMatchObject({ createdAt: NOW, id: 'own', expiresAt: NOW + 10 })
  })

  test('returns a session only with a user', async () => {
    for (const sub of ['', undefined, 1]) expect(await read(() => ({ user: { sub } }))).toBeNull()
  })

  test('returns no tokens of another type', async () => {
    const tokens = { accessToken: 1, refreshToken: {}, expiresAt: '1' }
    const session = await read(() => ({ user: { sub: 'alice' }, idToken: 1, sid: null, tokens }))
    const absent = { accessToken: undefined, refreshToken: undefined, expiresAt: undefined }
    expect(session).toMatchObject({ idToken: undefined, sid: undefined, tokens: absent })
  })

  test('may throw', async () => {
    await expect(
      read(() => {
        throw new Error('of the application')
      }),
    ).rejects.toThrow('of the application')
  })

  test('may return a time of the token, whose type the compiler does not know; only a number is one', async () => {
    const withTime = (time: unknown) =>
      read((token) => ({ user: token, createdAt: { ...token, loginAt: time }['loginAt'] }))
    expect(await withTime(1_700_000_000)).toMatchObject({ createdAt: 1_700_000_000, id: undefined })
    expect(await withTime(undefined)).toMatchObject({ createdAt: expect.any(Number), id: expect.any(String) })
    for (const time of [null, '1700000000'])
      expect(await withTime(time)).toMatchObject({ createdAt: Number.NaN })
  })
})

/** Encrypts as the libraries do, for content that they do not write. */
function seal(payload: object, header: object = {}, info = 'JWE CEK'): Promise<string> {
  const key = new Uint8Array(hkdfSync('sha256', secret, '', info, 32))
  const json = JSON.stringify(payload).replaceAll('"infinite"', '1e400')
  return new CompactEncrypt(new TextEncoder().encode(json))
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', ...header })
    .encrypt(key)
}

const toIdToken = (claims: object) =>
  ['{}', JSON.stringify(claims), ''].map((part) => Buffer.from(part).toString('base64url')).join('.')

const times = { iat: LOGIN, uat: NOW, exp: NOW + 10 }
const version4 = {
  user: { sub: 'alice' },
  tokenSet: { accessToken: 'a', expiresAt: NOW },
  internal: { createdAt: LOGIN, sid: 's-1' },
  exp: NOW + 10,
}
const express = { id_token: toIdToken({ sub: 'alice' }), access_token: 'a' }
const nextAuthInfo = 'NextAuth.js Generated Encryption Key'

const complete: [library: string, payload: object, header?: object, info?: string][] = [
  ['nextjs-auth0', version4],
  ['nextjs-auth0', { user: { sub: 'alice' } }, times],
  ['express-openid-connect', express, times],
  ['next-auth', { sub: 'alice', ...times }, {}, nextAuthInfo],
]

const incomplete: typeof complete = [
  ...[undefined, null, 'alice', {}, { sub: '' }, { sub: 1 }, ['alice']].flatMap((user): typeof complete => [
    ['nextjs-auth0', { ...version4, user }],
    ['nextjs-auth0', { user }, times],
    ['express-openid-connect', { ...express, id_token: toIdToken({ ...Object(user) }) }, times],
  ]),
  ...[undefined, null, '1', -1, 'infinite', {}].flatMap((time): typeof complete => [
    ['nextjs-auth0', { ...version4, exp: time }],
    ['nextjs-auth0', { ...version4, internal: { createdAt: time } }],
    ...Object.keys(times).flatMap((name): typeof complete => [
      ['nextjs-auth0', { user: { sub: 'alice' } }, { ...times, [name]: time }],
      ['express-openid-connect', express, { ...times, [name]: time }],
    ]),
    ['next-auth', { sub: 'alice', ...times, iat: time }, {}, nextAuthInfo],
    ['next-auth', { sub: 'alice', ...times, exp: time }, {}, nextAuthInfo],
  ]),
  ...['tokenSet', 'internal'].map((name): (typeof complete)[number] => [
    'nextjs-auth0',
    { ...version4, [name]: 1 },
  ]),
  ...['codeVerifier', 'responseType', 'mfaToken', 'mfaRequirements'].map(
    (name): (typeof complete)[number] => ['nextjs-auth0', { ...version4, [name]: 'x' }],
  ),
  ['nextjs-auth0', [version4]],
  ['express-openid-connect', { ...express, id_token: 'a.b.c' }, times],
  ['express-openid-connect', { ...express, id_token: undefined }, times],
  ['next-auth', times, {}, nextAuthInfo],
  ['next-auth', { value: 'alice', provider: 'idp', ...times }, {}, nextAuthInfo],
  ['next-auth', { sub: 'alice', ...times }],
]

describe('content that opens', () => {
  const read = async ([library, ...parts]: (typeof complete)[number]) =>
    create(library, { cookieName: 's' }).read(toCookies({ s: await seal(...parts) }))

  test('is a session if it is complete', async () => {
    for (const content of complete) expect(await read(content), JSON.stringify(content)).not.toBeNull()
  })

  test('is null if a part of it is missing, wrong or of something else', async () => {
    for (const content of incomplete) expect(await read(content), JSON.stringify(content)).toBeNull()
  })

  test('ends when the provider or the application ends it', async () => {
    const early = { sessionExpiresAt: NOW + 5 }
    const internal = { ...version4.internal, ...early }
    expect(await read(['nextjs-auth0', { ...version4, internal }])).toMatchObject(early)
    expect(await read(['express-openid-connect', { ...express, ...early }, times])).toMatchObject(early)
    const content = { user: { sub: 'alice' }, exp: NOW + 5 }
    expect(await read(['nextjs-auth0', content, times])).toMatchObject({ expiresAt: NOW + 5 })
  })

  test('without a time of the access token has a token whose time is unknown', async () => {
    const session = await read([
      'nextjs-auth0',
      { ...version4, tokenSet: { accessToken: 'a', expiresAt: null } },
    ])
    expect(session?.tokens).toMatchObject({ accessToken: 'a', expiresAt: undefined })
  })

  test('is not decrypted if the cookie is longer than 64 KiB', async () => {
    const noted = (length: number) => read(['nextjs-auth0', { ...version4, note: 'x'.repeat(length) }])
    expect(await noted(48_000)).not.toBeNull()
    expect(await noted(50_000)).toBeNull()
  })

  test('has the sid of the ID token if the session has none', async () => {
    const id_token = toIdToken({ sub: 'alice', sid: 's-2' })
    expect(await read(['express-openid-connect', { id_token }, times])).toMatchObject({ sid: 's-2' })
  })
})
