import { expect, test } from 'vitest'
import { createSealer } from '../crypto/seal.ts'
import { decodeSession } from '../session/cookie/codec.ts'
import type { SignedIn } from './session-state.ts'
import { toSessionState } from './session-state.ts'

const secret = 'the secret of the application under test'
const given: SignedIn = {
  session: { user: { sub: 'alice' } },
  cookie: {},
  baseURL: 'http://localhost:3000',
  env: { IDP_SECRET: secret },
}

test('the session is a cookie of the browser session for the host of the application', async () => {
  const { cookies } = await toSessionState(given)
  const [{ value = '', ...cookie } = {}, ...more] = cookies
  expect(more).toEqual([])
  expect(cookie).toEqual({
    ...{ name: '__session', domain: 'localhost', path: '/', expires: -1 },
    ...{ httpOnly: true, secure: false, sameSite: 'Lax' },
  })
  const bytes = await createSealer([secret]).open('session', value)
  expect(bytes && decodeSession(bytes)?.data.user).toEqual({ sub: 'alice' })
})

test('attributes follow the URL and the variables of the application', async () => {
  const env = { IDP_COOKIE_DOMAIN: 'example.com', IDP_COOKIE_PATH: '/shop', IDP_COOKIE_SAME_SITE: 'strict' }
  const { cookies } = await toSessionState({
    ...given,
    baseURL: 'https://app.example.com/shop',
    env: { ...given.env, ...env },
  })
  expect(cookies[0]).toMatchObject({
    ...{ domain: '.example.com', path: '/shop', secure: true, sameSite: 'Strict' },
  })
})

test('IDP_COOKIE_SECURE decides whether the cookie is secure: browsers accept no other with SameSite=None', async () => {
  const secure = { ...given.env, IDP_COOKIE_SECURE: 'true', IDP_COOKIE_SAME_SITE: 'none' }
  expect((await toSessionState({ ...given, env: secure })).cookies[0]).toMatchObject({ secure: true })
  const insecure = { ...given.env, IDP_COOKIE_SECURE: '0' }
  const baseURL = 'https://localhost:3000'
  expect((await toSessionState({ ...given, baseURL, env: insecure })).cookies[0]).toMatchObject({
    secure: false,
  })
})

test('options take precedence over the variables', async () => {
  const cookie = { name: 'app', secret: [secret, 'o'.repeat(40)], sameSite: 'none', secure: true } as const
  const { cookies } = await toSessionState({ ...given, cookie, env: { IDP_SECRET: 'x'.repeat(32) } })
  expect(cookies[0]).toMatchObject({ name: 'app', secure: true, sameSite: 'None' })
  expect(await createSealer([secret]).open('session', cookies[0]?.value ?? '')).not.toBeNull()
})

test('the first of several secrets in IDP_SECRET encrypts', async () => {
  const env = { IDP_SECRET: `${secret},${'o'.repeat(40)}` }
  const { cookies } = await toSessionState({ ...given, env })
  expect(await createSealer([secret]).open('session', cookies[0]?.value ?? '')).not.toBeNull()
})

test.each([
  ['no secret', { env: {} }, 'set IDP_SECRET'],
  ['a short secret', { env: { IDP_SECRET: 'too short' } }, 'set IDP_SECRET'],
  ['a short option', { cookie: { secret: 'too short' } }, 'sessionCookie.secret'],
  ['no base URL', { baseURL: undefined }, 'set baseURL'],
  ['a relative base URL', { baseURL: '/shop' }, 'set baseURL'],
  [
    'a cookie domain of another host',
    { env: { ...given.env, IDP_COOKIE_DOMAIN: 'example.com' } },
    'IDP_COOKIE_DOMAIN',
  ],
  ['an unknown Secure', { env: { ...given.env, IDP_COOKIE_SECURE: 'some' } }, 'IDP_COOKIE_SECURE'],
  ['an unknown SameSite', { env: { ...given.env, IDP_COOKIE_SAME_SITE: 'some' } }, 'IDP_COOKIE_SAME_SITE'],
])('%s is reported by the name of what to set, without its value', async (_title, wrong, named) => {
  const error = await toSessionState({ ...given, ...wrong }).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ message: expect.stringContaining(named) })
  expect(String(error)).not.toMatch(/too short|some\b|the secret of the application under/)
})
