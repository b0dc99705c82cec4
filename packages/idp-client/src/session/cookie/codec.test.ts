import { describe, expect, test } from 'vitest'
import { fc } from '../../../test/support/fast-check.ts'
import { utf8 } from '../../lib/utf8.ts'
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

describe('session codec', () => {
  test('[S009,S010,S012,S013] decoding returns the encoded session', () => {
    expect(decodeSession(encodeSession(stored))).toEqual(stored)
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
      encodeSession(sessionOf({ ...user, groups: [...groups, 'x'] })).length -
      encodeSession(sessionOf(user)).length
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
    next[0] = 2
    expect(decodeSession(next)).toBeNull()
  })

  test.each([
    ['no user', { tokenSet: {}, internal: { createdAt: 1 } }],
    ['user without sub', { user: {}, tokenSet: {}, internal: { createdAt: 1 } }],
    ['sub of another type', { user: { sub: 7 }, tokenSet: {}, internal: { createdAt: 1 } }],
    ['no tokenSet', { user: { sub: 'a' }, internal: { createdAt: 1 } }],
    ['no internal', { user: { sub: 'a' }, tokenSet: {} }],
    ['createdAt missing', { user: { sub: 'a' }, tokenSet: {}, internal: {} }],
    ['an array', []],
    ['null', null],
  ])('%s gives no session', (_, s) => {
    const head = utf8(JSON.stringify({ h: 'h', u: 1, s, t: [] }))
    const bytes = new Uint8Array(5 + head.length)
    bytes[0] = 1
    new DataView(bytes.buffer).setUint32(1, head.length)
    bytes.set(head, 5)
    expect(decodeSession(bytes)).toBeNull()
  })
})
