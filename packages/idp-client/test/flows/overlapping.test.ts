import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { IdpClient } from '../../src/index.ts'
import { customFetch } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser } from '../support/app.ts'
import type { ConnectWorld } from '../support/connect.ts'
import { startConnectWorld } from '../support/connect.ts'
import { keeping } from '../support/mfa.ts'

let world: ConnectWorld
beforeAll(async () => {
  world = await startConnectWorld()
})
afterAll(() => world.provider.stop())
beforeEach(() => world.provider.accounts.remove('alice'))

const storages = ['cookies', 'a store'] as const

/** A signed-in user, whose client waits with `during` between the provider's response to a token request and its arrival. */
async function signedIn(storage: (typeof storages)[number]) {
  const during: { response?: () => Promise<void> } = {}
  const waiting: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    const { response: act } = during
    delete during.response
    await act?.()
    return response
  }
  const clock = (): number => world.clock.now
  const store = { sessionStore: memoryStore({ name: crypto.randomUUID(), clock }) }
  const made = world.another({ [customFetch]: waiting, ...(storage === 'cookies' ? {} : store) })
  await world.login(made.browser)
  return { ...made, during }
}

const connectionToken = (client: IdpClient, browser: Browser, connection: string) =>
  keeping(browser, (request, headers) => client.getAccessTokenForConnection(request, headers, { connection }))

test.each(storages)(
  'with %s, an account that is disconnected while a token of another one is requested leaves no token',
  async (storage) => {
    const { browser, client, during } = await signedIn(storage)
    for (const connection of ['github', 'google-oauth2']) world.provider.accounts.add('alice', { connection })
    await connectionToken(client, browser, 'github')
    // From now on the process has a token for the account API.
    const accounts = await client.listConnectedAccounts(browser.request('/'))
    const github = accounts.find(({ connection }) => connection === 'github') ?? expect.fail('is connected')
    during.response = () =>
      keeping(browser, (request, headers) => client.deleteConnectedAccount(request, headers, github))
    await connectionToken(client, browser, 'google-oauth2')
    const { connectionTokenSets } = await browser.session()
    expect(connectionTokenSets?.map(({ connection }) => connection)).toEqual(['google-oauth2'])
  },
)
