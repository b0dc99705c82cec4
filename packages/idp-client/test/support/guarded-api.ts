import type { JWTPayload } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { Auth, ResourceGuardOptions, ResourceOptions } from '../../src/index.ts'
import type { Browser, World } from './app.ts'
import { startWorld } from './app.ts'

/** The audience of an API that the development provider knows, and its scopes. */
export const API = 'https://api.example.test/'
export const SCOPES = ['read:things', 'write:things']

/** The challenge of a refused token. */
export const INVALID =
  'Bearer error="invalid_token", error_description="The access token is not valid for this API."'

export type Options = Omit<ResourceGuardOptions, 'accept'> & {
  /** Accepts sessions, too. */
  readonly mixed?: boolean
  readonly resource?: Partial<ResourceOptions>
}

export interface Call {
  readonly authorization?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sends the session cookie. */
  readonly cookie?: boolean
}

export interface Outcome {
  readonly status: number
  readonly challenge: string | null
  readonly auth?: Auth
  readonly error?: string
  /** Query of a login that can meet the requirements. */
  readonly login?: Record<string, string>
  readonly headers: Headers
}

type SignOptions = Parameters<World['provider']['sign']>[1]

/** An API that access tokens may call, and a browser whose user has a session with the scope `read:things`. */
export class GuardedApi {
  readonly world: World
  readonly browser: Browser

  private constructor(world: World, browser: Browser) {
    this.world = world
    this.browser = browser
  }

  static async start(): Promise<GuardedApi> {
    const world = await startWorld({
      authorizationParameters: { audience: API, scope: 'openid read:things' },
    })
    const browser = world.newBrowser()
    await world.login(browser)
    return new GuardedApi(world, browser)
  }

  /** Calls a guarded handler, which responds with `auth`. */
  async call(request: Call, { mixed = false, resource = {}, ...rest }: Options = {}): Promise<Outcome> {
    const { client } = this.world
    const api = client.resource({ audience: API, scopes: SCOPES, ...resource })
    const handler = client.withApiAuthRequired(
      (_request: Request, { auth }: { readonly auth: Auth }) => Response.json({ auth }),
      { ...rest, accept: mixed ? ['session', api] : [api] },
    )
    const { authorization, cookie = false, headers, method = 'GET' } = request
    const sent = { ...headers, ...(authorization === undefined ? {} : { authorization }) }
    const from = cookie ? this.browser : this.world.newBrowser()
    const response = await handler(from.request('/api/orders', { method, headers: sent }))
    const { auth, error, login } = await response.json()
    if (response.status !== 200) expect(response.headers.get('cache-control')).toContain('no-store')
    const challenge = response.headers.get('www-authenticate')
    return { status: response.status, challenge, auth, error, login, headers: response.headers }
  }

  /** The claims of a token that passes. */
  claims(changes: Readonly<Record<string, unknown>> = {}): JWTPayload {
    const { clock, provider } = this.world
    return {
      iss: provider.issuer,
      aud: API,
      sub: 'dev|alice',
      client_id: 'mobile-app',
      scope: 'openid read:things',
      jti: 'one',
      iat: clock.now,
      exp: clock.now + 300,
      ...changes,
    }
  }

  sign(changes?: Readonly<Record<string, unknown>>, options?: SignOptions): Promise<string> {
    return this.world.provider.sign(this.claims(changes), { header: { typ: 'at+jwt' }, ...options })
  }

  async bearer(changes?: Readonly<Record<string, unknown>>, options?: SignOptions): Promise<Call> {
    return { authorization: `Bearer ${await this.sign(changes, options)}` }
  }
}

/** Starts a guarded API for the tests of a file, and passes it to `assign` before them. */
export function provideGuardedApi(assign: (api: GuardedApi) => void): void {
  let api: GuardedApi
  beforeAll(async () => {
    api = await GuardedApi.start()
    assign(api)
  })
  beforeEach(() => {
    api.world.events.length = 0
    api.world.provider.clearRequests()
  })
  afterEach(() => api.world.provider.faults.clear())
  afterAll(() => api.world.provider.stop())
}
