import { expect, test } from './test.ts'

test.describe('a signed-in user', () => {
  test.use({ user: { sub: 'u-1', name: 'Ada' } })

  test('sees the account', async ({ page }) => {
    await page.goto('/account')
    await expect(page.getByRole('heading')).toHaveText('Account of Ada')
  })

  test('can call the API', async ({ request }) => {
    const response = await request.get('/api/me')
    expect(await response.json()).toEqual({ sub: 'u-1', name: 'Ada' })
  })
})

test.describe('a user of the development provider', () => {
  test.use({ user: 'alice' })

  test('has the claims of a real login', async ({ page }) => {
    await page.goto('/account')
    await expect(page.getByRole('heading')).toHaveText('Account of Alice Anderson')
  })
})

test.describe('without a session', () => {
  test.use({ user: null })

  test('the home page offers the login', async ({ page }) => {
    await page.goto('/')
    await expect(page.getByRole('link', { name: 'Log in' })).toBeVisible()
  })

  test('the API refuses', async ({ request }) => {
    expect((await request.get('/api/me')).status()).toBe(401)
  })
})

test.describe('a session whose access token has expired', () => {
  test.use({ user: 'alice', session: { tokenSet: { accessToken: 'expired', expiresAt: 1 } } })

  test('has no refresh token, so the user has to log in again', async ({ page }) => {
    const response = await page.request.get('/api/orders')
    expect(response.status()).toBe(401)
  })
})

test.describe('a session that was last used two days ago', () => {
  const now = Math.floor(Date.now() / 1000) - 2 * 86_400
  test.use({ user: 'alice', sessionCookie: { now } })

  test('has ended', async ({ request }) => {
    expect((await request.get('/api/me')).status()).toBe(401)
  })
})
