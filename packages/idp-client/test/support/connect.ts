import type { IdpClientOptions, OnCallbackContext } from '../../src/index.ts'
import type { Browser, World } from './app.ts'
import { startWorld } from './app.ts'

export const json = { headers: { accept: 'application/json' } }

/** Returns the `code` of a JSON error response. */
export async function codeOf(response: Response): Promise<unknown> {
  return ((await response.json()) as { error: { code: unknown } }).error.code
}

/** A world whose application connects accounts, and what its `onCallback` was told. */
export interface ConnectWorld extends World {
  readonly told: OnCallbackContext[]
  signedIn(user?: string, browser?: Browser): Promise<Browser>
  /** From the connect route to the page of the provider. */
  beginConnect(browser: Browser, query?: string): Promise<string>
  /** From there back to the callback, which is not sent yet. */
  decide(url: string, options?: Parameters<World['authorize']>[1]): Promise<string>
  /** A complete connection; returns the response of the callback route. */
  connect(browser: Browser, query?: string): Promise<Response>
}

export async function startConnectWorld(
  options: IdpClientOptions = {},
  providerOptions: Parameters<typeof startWorld>[1] = {},
): Promise<ConnectWorld> {
  const told: OnCallbackContext[] = []
  const onCallback = (context: OnCallbackContext) => {
    told.push(context)
  }
  const world = await startWorld(
    { enableConnectAccountEndpoint: true, onCallback, ...options },
    providerOptions,
  )

  async function beginConnect(browser: Browser, query = '?connection=github'): Promise<string> {
    const response = await browser.send(`/auth/connect${query}`)
    const location = response.headers.get('location')
    if (response.status !== 302 || location === null)
      throw new Error(`connect responded with ${response.status}`)
    return location
  }
  const decide: ConnectWorld['decide'] = (url, choice = {}) => world.authorize(url, choice)
  return {
    ...world,
    told,
    beginConnect,
    decide,
    async signedIn(user = 'alice', browser = world.newBrowser()) {
      await world.login(browser, '', { user })
      return browser
    },
    connect: async (browser, query) => browser.send(await decide(await beginConnect(browser, query))),
  }
}
