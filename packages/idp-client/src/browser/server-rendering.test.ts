import { afterEach, describe, expect, it, vi } from 'vitest'
import { isIdpError } from '../errors/base.ts'
import { configure, fetchApi, fetchUser, getAccessToken, mfa, userStore } from './index.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

describe('on a server', () => {
  it('sends no request and shares no user between renderings', async () => {
    const fetch = vi.fn()
    vi.stubGlobal('fetch', fetch)
    configure({ user: { sub: 'alice' }, routes: { profile: '/me' } })
    const store = userStore()
    const end = store.subscribe(() => undefined)
    expect(store.current()).toEqual({ user: null, isLoading: true, error: null })
    expect(userStore()).not.toBe(store)
    end()
    expect(fetch).not.toHaveBeenCalled()
  })

  it('users, tokens and factors are available in browsers only', async () => {
    const fetch = vi.fn()
    vi.stubGlobal('fetch', fetch)
    const calls = [
      getAccessToken(),
      mfa.challengeWithPopup({ audience: 'a' }),
      fetchUser({ route: 'https://app.example.test/auth/profile' }),
      mfa.getAuthenticators({ mfaToken: 'a' }),
      fetchApi('https://app.example.test/api/orders'),
    ]
    const errors = await Promise.all(
      calls.map((call) => call.then(() => null).catch((error: unknown) => error)),
    )
    expect(isIdpError(errors[0], 'INTERNAL_ERROR')).toBe(true)
    expect(isIdpError(errors[1], 'INVALID_EXECUTION_CONTEXT')).toBe(true)
    expect(isIdpError(errors[2], 'INTERNAL_ERROR')).toBe(true)
    expect(isIdpError(errors[3], 'INTERNAL_ERROR')).toBe(true)
    expect(isIdpError(errors[4], 'INTERNAL_ERROR')).toBe(true)
    expect(fetch).not.toHaveBeenCalled()
  })
})
