import { describe, expect, test } from 'vitest'
import { toAuthorizationScheme } from './authorization-scheme.ts'

describe('the authorization scheme of a token', () => {
  test.each<[unknown, boolean, 'Bearer' | 'DPoP']>([
    ['abc', false, 'Bearer'],
    ['abc', true, 'DPoP'],
    [{ token: 'abc' }, true, 'DPoP'],
    [{ token: 'abc', token_type: 'bearer' }, true, 'Bearer'],
    [{ accessToken: 'abc', tokenType: 'BEARER' }, false, 'Bearer'],
    [{ token: 'abc', token_type: 'dpop' }, true, 'DPoP'],
    [{ accessToken: 'abc', token_type: undefined, tokenType: 'DPoP' }, true, 'DPoP'],
  ])('[S199] %j, possession is proven: %s', (brought, bound, scheme) => {
    expect(toAuthorizationScheme(brought, bound)).toEqual({ scheme, accessToken: 'abc' })
  })

  test('is also found for a token with getters', () => {
    class Token {
      get accessToken(): string {
        return 'abc'
      }
    }
    expect(toAuthorizationScheme(new Token(), false)).toEqual({ scheme: 'Bearer', accessToken: 'abc' })
  })

  test.each([
    [undefined],
    [null],
    [7],
    [''],
    ['a b'],
    ['a\nb'],
    ['ä'],
    [{}],
    [{ token: { nested: 'abc' } }],
    [{ token: 'abc', token_type: 'N_A' }],
    [{ token: 'abc', token_type: 7 }],
  ])('%j is rejected', (brought) => {
    expect(() => toAuthorizationScheme(brought, true)).toThrow(
      expect.objectContaining({ code: 'FETCHER_TOKEN_UNUSABLE' }),
    )
  })
})
