import { signIn } from 'idp-client/playwright'
import { test } from '../example/tests/test.ts'

test.describe('a short secret', () => {
  test.use({ user: { sub: 'alice' }, sessionCookie: { secret: 'a secret that is short' } })
  test('fails', async ({ request }) => void request)
})

test.describe('a user without sub', () => {
  test.use({ user: { sub: '' } })
  test('fails', async ({ request }) => void request)
})

test.describe('an unknown user', () => {
  test.use({ user: 'zoe' })
  test('fails', async ({ request }) => void request)
})

test.describe('a user and a state', () => {
  test.use({ user: 'alice', storageState: { cookies: [], origins: [] } })
  test('fails', async ({ context }) => void context)
})

test('a wrong login route', async ({ page }) => {
  await signIn(page, 'alice', { loginPath: '/nowhere' })
})
