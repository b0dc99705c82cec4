import { describe, expect, test } from 'vitest'
import { fc } from '../../../test/support/fast-check.ts'
import { incompressible } from '../../../test/support/incompressible.ts'
import type { SessionData } from '../model/session-data.ts'
import { decodeSession, encodeSession } from './codec.ts'

const jwt = [
  Buffer.from('{"alg":"RS256"}').toString('base64url'),
  Buffer.from(JSON.stringify({ sub: 'alice', claims: 'x'.repeat(600) })).toString('base64url'),
  Buffer.alloc(256, 7).toString('base64url'),
].join('.')

const data: SessionData = {
  user: { sub: 'alice', name: 'Alice Ü' },
  tokenSet: {
    accessToken: jwt,
    idToken: jwt,
    refreshToken: 'v1.opaque~token',
    expiresAt: 1,
    token_type: 'Bearer',
  },
  accessTokens: [{ accessToken: 'abcd', audience: 'https://api.example.com', expiresAt: 2 }],
  internal: { sid: 's', createdAt: 5 },
  favouriteColour: 'teal',
}
const stored = { data, sessionKey: 'h', usedAt: 6, clientTag: 'c', requestedAuthentication: 'q' }

/** Changes the lengths in the head, which is JSON after a version byte and its own length. */
function withLengths(bytes: Uint8Array, change: (lengths: number[]) => unknown): Uint8Array<ArrayBuffer> {
  const end = 5 + Buffer.from(bytes).readUInt32BE(1)
  const [sessionKey, usedAt, createdAt, flags, lengths, optional] = JSON.parse(
    Buffer.from(bytes.slice(5, end)).toString(),
  )
  const head = Buffer.from(JSON.stringify([sessionKey, usedAt, createdAt, flags, change(lengths), optional]))
  const prefix = Buffer.alloc(5, 2)
  prefix.writeUInt32BE(head.length, 1)
  return new Uint8Array(Buffer.concat([prefix, head, bytes.slice(end)]))
}

/** Returns the lengths of the claims as they are stored, and before compression. */
function getLengths(bytes: Uint8Array): { stored: number; claims: number } {
  let found: number[] = []
  withLengths(bytes, (lengths) => {
    found = lengths
    return lengths
  })
  const [stored = 0, claims = 0] = found
  return { stored, claims }
}

describe('session codec', () => {
  test('[S009,S010,S012,S013] decoding returns the encoded session', () => {
    expect(decodeSession(encodeSession(stored))).toEqual(stored)
  })

  test('an invalid session is not read again', () => {
    for (const invalid of [{ data: { ...data, user: { sub: '' } } }, { usedAt: Number.NaN }])
      expect(decodeSession(encodeSession({ ...stored, ...invalid }))).toBeNull()
  })

  test('tokens are not base64-encoded twice: packed bytes are a quarter smaller than their text', () => {
    expect(encodeSession(stored).length).toBeLessThan(JSON.stringify(data).length * 0.85)
  })

  test('a user that equals the claims of the ID token is written once, also with additional claims', () => {
    const groups = Array.from({ length: 60 }, (_, index) => `group-${index}`)
    const claims = { iss: 'i', aud: 'a', exp: 1, sub: 'alice', groups, nested: { a: [1, null] } }
    const idToken = ['e30', Buffer.from(JSON.stringify(claims)).toString('base64url'), 'c2ln'].join('.')
    const { iss, aud, exp, ...user } = claims
    const sessionOf = (changed: Record<string, unknown>) => ({
      ...stored,
      data: { ...data, user: { ...changed, sub: 'alice' }, tokenSet: { ...data.tokenSet, idToken } },
    })
    for (const changed of [
      user,
      { ...user, extra: 1 },
      { ...user, groups: [] },
      { name: 'other' },
      { ...user, iss },
    ]) {
      expect(decodeSession(encodeSession(sessionOf(changed)))).toEqual(sessionOf(changed))
    }
    const saved =
      getLengths(encodeSession(sessionOf({ ...user, groups: [...groups, 'x'] }))).claims -
      getLengths(encodeSession(sessionOf(user))).claims
    expect(saved).toBeGreaterThan(JSON.stringify(user).length * 0.9)
    void [aud, exp]
  })

  test('any token is unchanged, byte for byte', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.base64String(),
      fc.stringMatching(/^[\w-]{0,40}$/),
    )
    const token = fc.oneof(
      piece,
      fc.array(piece, { minLength: 2, maxLength: 5 }).map((parts) => parts.join('.')),
    )
    fc.assert(
      fc.property(token, token, (accessToken, refreshToken) => {
        fc.pre(accessToken.isWellFormed() && refreshToken.isWellFormed())
        const session = { ...data, tokenSet: { accessToken, refreshToken, expiresAt: 9 } }
        expect(decodeSession(encodeSession({ ...stored, data: session }))?.data.tokenSet).toEqual(
          session.tokenSet,
        )
      }),
    )
  })

  test('an ID token whose payload is not JSON, and tokens that are null, are unchanged', () => {
    const idToken = ['{"alg":"RS256"}', '{not json}', 'signature']
      .map((part) => Buffer.from(part).toString('base64url'))
      .join('.')
    const tokenSet = { accessToken: 'at', idToken, refreshToken: null, expiresAt: 9 }
    const session = { ...data, tokenSet } as unknown as SessionData
    expect(decodeSession(encodeSession({ ...stored, data: session }))?.data).toEqual(session)
  })

  test('any application data is unchanged, and names of Object.prototype have no effect', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const extra: unknown = JSON.parse(JSON.stringify(value))
        expect(decodeSession(encodeSession({ ...stored, data: { ...data, extra } }))?.data['extra']).toEqual(
          extra,
        )
      }),
    )
    const hostile: SessionData = JSON.parse(
      '{"user":{"sub":"a","__proto__":{"polluted":1}},"tokenSet":{},"internal":{"createdAt":1}}',
    )
    decodeSession(encodeSession({ ...stored, data: hostile }))
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test('invalid bytes give no session and never throw', () => {
    const good = encodeSession(stored)
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(decodeSession(new Uint8Array(bytes))).toBeNull()
      }),
    )
    for (let length = 0; length < good.length; length++)
      expect(decodeSession(good.slice(0, length))).toBeNull()
    const next = good.slice()
    next[0] = 3
    expect(decodeSession(next)).toBeNull()
  })

  test('[L2] with any bit changed they give no session, or one that can be read', () => {
    const good = encodeSession(stored)
    let rejected = 0
    for (let bit = 0; bit < good.length * 8; bit++) {
      const bytes = good.slice()
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit % 8))
      const session = decodeSession(bytes)
      expect(() => JSON.stringify(session)).not.toThrow()
      if (!session) rejected++
    }
    expect(rejected).toBeGreaterThan(0)
  })

  test.each([
    ['user without sub', { user: {}, tokenSet: data.tokenSet, internal: { createdAt: 1 } }],
    ['sub of another type', { user: { sub: 7 }, tokenSet: data.tokenSet, internal: { createdAt: 1 } }],
    ['createdAt missing', { user: { sub: 'a' }, tokenSet: data.tokenSet, internal: {} }],
  ])('%s gives no session', (_, invalid) => {
    expect(decodeSession(encodeSession({ ...stored, data: invalid as unknown as SessionData }))).toBeNull()
  })
})

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const header = part({ alg: 'RS256', typ: 'JWT', kid: 'key-1' })
const payload = part({ iss: 'https://idp.example.com/', sub: 'alice', iat: 1, exp: 2, name: 'Alice Ü' })
const signature = Buffer.from(incompressible(342), 'base64url').toString('base64url')

/** The length before encryption of a session with the token. */
const lengthWith = (refreshToken: string, user: Record<string, unknown> = {}): number =>
  encodeSession({
    ...stored,
    data: { ...data, user: { ...data.user, ...user }, tokenSet: { ...data.tokenSet, refreshToken } },
  }).length

describe('compressed claims', () => {
  test('tokens of every kind are unchanged', () => {
    const json = fc
      .dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 4 })
      .map((value): Record<string, unknown> => JSON.parse(JSON.stringify(value)))
    const jws = fc
      .tuple(json, json, fc.base64String())
      .map(([first, second, third]) => [part(first), part(second), third.replace(/[+/=]/g, '')].join('.'))
    const token = fc.oneof(
      jws,
      fc.constantFrom(
        '',
        '.',
        '..',
        '....',
        `${header}.${payload}.`,
        `${header}.${payload}.${signature}`,
        `${header}..${signature}.${signature}.${signature}`,
        // The unused bits of the last character are not zero.
        `${header}.${payload.slice(0, -1)}B.${signature}`,
        `${header}.${payload}=.${signature}`,
        'v1.M2YwNGE4',
        incompressible(30_000),
        `${header}.${part({ groups: 'x'.repeat(70_000) })}.${signature}`,
        `${header}.${part({ groups: 'x'.repeat(50_000) })}.${signature}`,
      ),
    )
    fc.assert(
      fc.property(token, token, token, json, (accessToken, idToken, refreshToken, claims) => {
        const session = {
          user: { ...data.user, ...claims, sub: 'alice' },
          tokenSet: { accessToken, idToken, refreshToken, expiresAt: 9 },
          accessTokens: [{ accessToken: idToken, audience: 'a', expiresAt: 9 }],
          internal: { createdAt: 1 },
        }
        const bytes = new Uint8Array(encodeSession({ ...stored, data: session }))
        expect(decodeSession(bytes)?.data).toEqual(session)
      }),
    )
  })

  test('contain no secret: the length of a session does not depend on what a secret and a claim have in common', () => {
    for (const secret of [
      incompressible(64),
      `v1.${incompressible(64)}`,
      `${header}.${payload}.${incompressible(64)}`,
    ]) {
      const [guess = ''] = secret.split('.').slice(-1)
      const reversed = [...guess].reverse().join('')
      expect(lengthWith(secret, { note: guess })).toBe(lengthWith(secret, { note: reversed }))
      expect(lengthWith(secret, { note: guess })).toBe(
        lengthWith(`${secret.slice(0, -4)}0000`, { note: guess }),
      )
    }
    const key = incompressible(22)
    const note = incompressible(40)
    const bytes = Buffer.from(
      encodeSession({
        ...stored,
        sessionKey: key,
        data: {
          ...data,
          user: { sub: 'alice', key, note },
          favouriteColour: note,
          connectionTokenSets: [{ accessToken: `gho.${note}.`, connection: 'github', expiresAt: 1 }],
        },
      }),
    )
    const before = bytes.indexOf(key)
    expect(before).toBeGreaterThan(0)
    expect(bytes.indexOf(`"favouriteColour":"${note}"`)).toBeGreaterThan(before)
    expect(bytes.indexOf(`"gho.${note}."`)).toBeGreaterThan(before)
  })

  test('[L6] contain no text of a login link: two guesses of equal statistics give equal lengths', () => {
    const email = 'margarethe.von.tirol@example.com'
    const lengthOf = (guess: string, fromLink: boolean): number => {
      const scope = `openid profile ${guess}`
      const claims = { iss: 'https://idp.example.com/', sub: 'alice', email, scope }
      const accessToken = `${header}.${part(claims)}.${signature}`
      const tokens = { ...data.tokenSet, accessToken, scope, requestedScope: scope, audience: guess }
      const further = [{ audience: guess, scope, accessToken, expiresAt: 9 }]
      const session = { ...data, user: { ...data.user, email }, tokenSet: tokens, accessTokens: further }
      const bytes = encodeSession({ ...stored, data: session, ...(fromLink ? { fromLink } : {}) })
      expect(decodeSession(bytes)?.data).toEqual(session)
      return bytes.length
    }
    const wrong = [...email].reverse().join('')
    expect(lengthOf(email, true)).toBe(lengthOf(wrong, true))
    // The application's own scope is compressed with the claims.
    expect(lengthOf(email, false)).toBeLessThan(lengthOf(wrong, false))
  })

  test('[L6] contain no granted details, which may repeat text of a link; without them nothing is stored for them', () => {
    const email = 'margarethe.von.tirol@example.com'
    const lengthOf = (creditorName: string): number => {
      const authorizationDetails = [{ type: 'payment', creditorName }]
      const tokenSet = { ...data.tokenSet, authorizationDetails }
      const accessTokens = [{ audience: 'a', accessToken: 'b', expiresAt: 9, authorizationDetails }]
      const session = { ...data, user: { ...data.user, email }, tokenSet, accessTokens }
      const bytes = encodeSession({ ...stored, data: session })
      expect(decodeSession(bytes)?.data).toEqual(session)
      return bytes.length
    }
    expect(lengthOf(email)).toBe(lengthOf([...email].reverse().join('')))
    const { authorizationDetails: _none, ...without } = { ...data.tokenSet, authorizationDetails: undefined }
    const unset = { ...data, tokenSet: { ...data.tokenSet, authorizationDetails: undefined } } as never
    expect(encodeSession({ ...stored, data: unset })).toEqual(
      encodeSession({ ...stored, data: { ...data, tokenSet: without } }),
    )
  })

  test('are compressed from 128 to 61,440 bytes, if that makes them smaller', () => {
    const encodeUser = (user: Record<string, unknown>): Uint8Array => {
      const session = { user: { sub: 'a', ...user }, tokenSet: {}, internal: { createdAt: 1 } }
      const bytes = encodeSession({ ...stored, data: session as unknown as SessionData })
      expect(decodeSession(bytes)?.data).toEqual(session)
      return bytes
    }
    const overhead = getLengths(encodeUser({ note: '' })).claims
    for (const [length, isCompressed] of [
      [127, false],
      [128, true],
      [61_440, true],
      [61_441, false],
    ] as const) {
      const lengths = getLengths(encodeUser({ note: 'x'.repeat(length - overhead) }))
      expect(lengths.claims).toBe(length)
      expect(lengths.stored < length, `${length}`).toBe(isCompressed)
    }
    // Literals above 143 take nine bits.
    const note = Array.from({ length: 400 }, (_, at) => String.fromCodePoint(0x4e00 + at * 37)).join('')
    const { claims, stored: same } = getLengths(encodeUser({ note }))
    expect(same).toBe(claims)
  })

  test('[L2] with lengths that are wrong give no session, or one that can be read', () => {
    const good = encodeSession(stored)
    for (let index = 0; index < 6; index++) {
      for (const change of [-1, 1, 100, 60_000, -1e6, 1e9, 2 ** 53, 0.5, Number.NaN]) {
        const session = decodeSession(
          withLengths(good, (lengths) => lengths.with(index, (lengths[index] ?? 0) + change)),
        )
        expect(() => JSON.stringify(session), `${index} ${change}`).not.toThrow()
        // That of the secrets.
        if (index === 5) expect(session, `${change}`).toBeNull()
      }
    }
    const bomb = withLengths(good, (lengths) => lengths.with(1, 61_441))
    expect(decodeSession(bomb)).toBeNull()
    for (const lengths of [undefined, null, 'lengths', {}, [], [1, 2, 3]])
      expect(decodeSession(withLengths(good, () => lengths))).toBeNull()
  })

  test.each([
    ['a secret', 'abcd', '[2,3]', '[2,2]'],
    ['claims', 'e30.e30.AAAA', '[3,2,2,3]', '[3,2,1,3]'],
  ])(
    'with the layout of a token that leaves bytes of %s give no session',
    (_which, accessToken, layout, shorter) => {
      const session = {
        user: { sub: 'a' },
        tokenSet: { accessToken, expiresAt: 1 },
        internal: { createdAt: 1 },
      }
      const good = Buffer.from(encodeSession({ ...stored, data: session }))
      expect(decodeSession(new Uint8Array(good))?.data).toEqual(session)
      const at = good.indexOf(layout)
      expect(at).toBeGreaterThan(0)
      good.write(shorter, at)
      expect(decodeSession(new Uint8Array(good))).toBeNull()
    },
  )

  test('make the cookie of the reference session less than 1500 bytes long', () => {
    expect(Math.ceil((encodeSession(referenceSession).length * 4) / 3)).toBeLessThan(1400)
  })
})

/** Like that of the benchmark: an ID token with 15 claims, an access token with 12 permissions, both signed with RSA. */
const referenceUser = {
  sub: 'provider|0123456789abcdef01234567',
  name: 'Alice Anderson',
  given_name: 'Alice',
  family_name: 'Anderson',
  nickname: 'alice',
  picture: 'https://images.example.com/avatars/0123456789abcdef.png',
  email: 'alice@example.com',
  email_verified: true,
  updated_at: '2026-01-01T00:00:00.000Z',
}
const issuer = 'https://idp.example.com'
const scope = 'openid profile email offline_access'
const sid = incompressible(22)
const issuedAt = 1_800_000_000
const idTokenClaims = {
  ...referenceUser,
  iss: issuer,
  aud: 'client-0123456789',
  iat: issuedAt,
  exp: issuedAt + 36_000,
  sid,
  nonce: incompressible(65).slice(22),
}
const accessTokenClaims = {
  iss: `${issuer}/`,
  sub: referenceUser.sub,
  aud: ['https://api.example.com', `${issuer}/userinfo`],
  iat: issuedAt,
  exp: issuedAt + 86_400,
  scope: `${scope} read:things write:things`,
  azp: 'client-0123456789',
  permissions: Array.from({ length: 12 }, (_, index) => `permission:number-${index}`),
}
const referenceSession = {
  data: {
    user: referenceUser,
    tokenSet: {
      accessToken: `${header}.${part(accessTokenClaims)}.${signature}`,
      expiresAt: issuedAt + 86_400,
      idToken: `${header}.${part(idTokenClaims)}.${signature}`,
      refreshToken: incompressible(64),
      requestedScope: scope,
      scope,
      token_type: 'Bearer',
    },
    internal: { createdAt: issuedAt, sid },
  },
  sessionKey: 'AAECAwQFBgcICQoLDA0ODw',
  usedAt: issuedAt,
  clientTag: 'JmaOLxAPLRz3',
} as const
