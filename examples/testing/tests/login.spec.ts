import { signIn } from 'idp-client/playwright'
import { expect, test } from './test.ts'

test('a user logs in and out', async ({ page, provider }) => {
  await page.goto('/account')
  await signIn(page, 'alice')
  await expect(page).toHaveURL('/account')
  await expect(page.getByRole('heading')).toHaveText('Account of Alice Anderson')
  expect(provider.count('token')).toBe(1)
  await page.getByRole('link', { name: 'Home' }).click()
  await page.getByRole('link', { name: 'Log out' }).click()
  await expect(page.getByRole('link', { name: 'Log in' })).toBeVisible()
})

test.describe('an access token that has expired', () => {
  test.beforeEach(async ({ page, provider }) => {
    // The application has a clock of its own, for which the token of the login is expired at once.
    provider.rewrite('token', (json) => Object.assign(json, { expires_in: 0 }), { times: 1 })
    await signIn(page, 'bob')
  })

  test('is refreshed', async ({ page, provider }) => {
    expect((await page.request.get('/api/orders')).status()).toBe(200)
    expect(provider.count('token')).toBe(2)
  })

  test('needs a new login if the refresh token has expired, too', async ({ page, provider }) => {
    provider.clock.advance(15 * 86_400)
    expect((await page.request.get('/api/orders')).status()).toBe(401)
  })

  test('ends no session while the provider is down', async ({ page, provider }) => {
    provider.faults.set('token', { kind: 'respond', status: 503 })
    expect((await page.request.get('/api/orders')).status()).toBe(503)
    await page.goto('/account')
    await expect(page.getByRole('heading')).toHaveText('Account of Bob Brandt')
  })
})
