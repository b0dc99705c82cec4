import { randomUUID } from 'node:crypto'
import type { DevProviderOptions } from 'idp-dev-provider'
import type { IdpClient, IdpClientOptions, LogoutToken, SessionDataStore } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser, World } from './app.ts'
import { APP, startWorld } from './app.ts'
import { listenerOf, startFront } from './front.ts'

export const ROUTE = '/auth/backchannel-logout'

type Failing = 'deleteByLogoutToken' | 'once' | 'get'

/** A real store that keeps what it was told, and whose members can be made to fail. */
export interface ToldStore extends Required<SessionDataStore> {
  readonly told: LogoutToken[]
  readonly failing: Set<Failing>
}

/** Stores of one name share their sessions, as two processes in front of one database do. */
export function toldStore(name: string = randomUUID()): ToldStore {
  const store = memoryStore({ name })
  const told: LogoutToken[] = []
  const failing = new Set<Failing>()
  async function unlessFailing<T>(member: Failing, work: () => Promise<T>): Promise<T> {
    if (failing.has(member)) throw new Error('the store is down')
    return work()
  }
  return {
    ...store,
    told,
    failing,
    get: (id) => unlessFailing('get', () => store.get(id)),
    once: (...given) => unlessFailing('once', () => store.once(...given)),
    deleteByLogoutToken: (token) =>
      unlessFailing('deleteByLogoutToken', async () => {
        told.push(token)
        await store.deleteByLogoutToken(token)
      }),
  }
}

/** The response of the route, with the code of its JSON. */
export interface RouteResponse {
  readonly status: number
  readonly code: string | undefined
  readonly text: string
  readonly headers: Headers
}

export async function readResponse(response: Response): Promise<RouteResponse> {
  const text = await response.text()
  const body = text === '' ? undefined : (JSON.parse(text) as { error?: { code?: string } })
  return { status: response.status, code: body?.error?.code, text, headers: response.headers }
}

/** Posts to the route as a provider does: a form, and no cookie. */
export async function post(
  client: IdpClient,
  body: RequestInit['body'],
  headers: Record<string, string> = {},
  path = ROUTE,
): Promise<RouteResponse> {
  const all = { host: new URL(APP).host, ...headers }
  return readResponse(
    await client.middleware(new Request(APP + path, { method: 'POST', body: body ?? null, headers: all })),
  )
}

export function deliver(client: IdpClient, token: string): Promise<RouteResponse> {
  return post(client, new URLSearchParams({ logout_token: token }))
}

export interface LogoutWorld extends World {
  readonly store: ToldStore
  /** A browser with a session of this user, and a session of its own at the provider. */
  signedIn(user?: string): Promise<Browser>
  /** The user whom the application sees; null: nobody. */
  userOf(browser: Browser, client?: IdpClient): Promise<string | null>
  sidOf(browser: Browser): Promise<string>
  stop(): Promise<void>
}

/** An application with its sessions in a store, and a real server where the provider posts its notifications. */
export async function startLogoutWorld(
  options: IdpClientOptions = {},
  providerOptions: DevProviderOptions = {},
): Promise<LogoutWorld> {
  const store = toldStore()
  const world = await startWorld({ sessionStore: store, ...options }, providerOptions)
  const { client, provider } = world
  const front = await startFront(listenerOf((request) => client.middleware(request)))
  provider.registerApp(front.url, { backChannelLogout: true })
  return {
    ...world,
    store,

    async signedIn(user = 'alice') {
      const browser = world.newBrowser()
      const { status } = await world.login(browser, '', { user })
      if (status !== 302) throw new Error(`the login responded with ${status}`)
      return browser
    },

    userOf: async (browser, asked = client) =>
      (await asked.getSession(browser.request('/')))?.user.sub ?? null,

    async sidOf(browser) {
      const session = await client.getSession(browser.request('/'))
      if (session?.internal.sid === undefined) throw new Error('the session has no sid')
      return session.internal.sid
    },

    async stop() {
      await front.stop()
      await provider.stop()
    },
  }
}
