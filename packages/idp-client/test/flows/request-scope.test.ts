import { afterEach, beforeEach, expect, test } from 'vitest'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'

let world: World
const users: unknown[] = []

beforeEach(async () => {
  users.length = 0
  world = await startWorld({
    async beforeSessionSaved(session) {
      // At a login there is no session yet; its route opens no scope.
      users.push(await world.client.getSession().then((found) => found?.user.sub, String))
      return session
    },
  })
})
afterEach(() => world.provider.stop())

test('[D2] a hook that a refresh runs finds the request that asked for it', async () => {
  await world.login(world.browser)
  users.length = 0
  const response = await world.client.middleware(world.browser.request('/'), async () => {
    const { token } = await world.client.getAccessToken({ refresh: true })
    return new Response(token)
  })
  expect(response.status).toBe(200)
  expect(users).toEqual(['dev|alice'])
})
