import { afterEach, beforeEach, expect, test } from 'vitest'
import { customFetch } from '../../src/index.ts'
import type { MfaWorld } from '../support/mfa.ts'
import { BANK, demandOf, startMfaWorld } from '../support/mfa.ts'

let world: MfaWorld
/** The user of the request that the code runs in, or the code of the error outside one. */
const found = { hook: [] as unknown[], tokenRequest: [] as unknown[] }

const findUser = (): Promise<unknown> =>
  world.client.getSession().then(
    (session) => session?.user.sub,
    (error: unknown) => error instanceof Error && 'code' in error && error.code,
  )

const fetching: typeof fetch = async (input, init) => {
  if (init?.body instanceof URLSearchParams && init.body.has('grant_type'))
    found.tokenRequest.push(await findUser())
  return fetch(input, init)
}

beforeEach(async () => {
  world = await startMfaWorld({
    [customFetch]: fetching,
    async beforeSessionSaved(session) {
      // At a login there is no session yet; its route opens no scope.
      found.hook.push(await findUser())
      return session
    },
  })
  await world.login(world.browser)
  Object.assign(found, { hook: [], tokenRequest: [] })
})
afterEach(() => world.provider.stop())

async function inRequest(run: () => Promise<unknown>): Promise<void> {
  const response = await world.client.middleware(world.browser.request('/'), async () => {
    await run()
    return new Response('done')
  })
  expect([response.status, await response.text()]).toEqual([200, 'done'])
}

const outside = 'AMBIENT_REQUEST_MISSING'

test('[D2] a refresh runs outside the request that caused it, its hook inside', async () => {
  await inRequest(() => world.client.getAccessToken({ refresh: true }))
  expect(found).toEqual({ hook: ['dev|alice'], tokenRequest: [outside] })
})

test('[D2] the exchange for the token of a connection runs outside the request', async () => {
  await inRequest(() => world.client.getAccessTokenForConnection({ connection: 'google-oauth2' }))
  expect(found).toEqual({ hook: [], tokenRequest: [outside] })
})

test('[D2] the verification of a factor runs outside the request, its hook inside', async () => {
  await inRequest(async () => {
    const { mfa_token: mfaToken } = await demandOf(world.client.getAccessToken({ audience: BANK }))
    Object.assign(found, { hook: [], tokenRequest: [] })
    await world.client.mfa.verify({ mfaToken, otp: world.otp() })
  })
  expect(found).toEqual({ hook: ['dev|alice'], tokenRequest: [outside] })
})
