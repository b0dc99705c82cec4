import type { Upstream } from 'idp-dev-provider'
import { startUpstream } from 'idp-dev-provider'
import type { IdpClientOptions, ProxyOptions } from '../../src/index.ts'
import type { Browser, World } from './app.ts'
import { APP, startWorld } from './app.ts'
import { SECRET } from './engine.ts'

/** An application with a proxy at `/api/orders`, and the API behind it. */
export interface ProxiedWorld extends World {
  readonly upstream: Upstream
  stop(): Promise<void>
}

type ProviderOptions = Parameters<typeof startWorld>[1]

export async function startProxiedWorld({
  client = {},
  provider = {},
  proxy = {},
}: {
  readonly client?: IdpClientOptions
  readonly provider?: ProviderOptions
  readonly proxy?: Partial<ProxyOptions>
} = {}): Promise<ProxiedWorld> {
  const upstream = await startUpstream()
  const world = await startWorld({ enableAccessTokenEndpoint: false, ...client }, provider)
  world.client.proxy({ prefix: '/api/orders', target: upstream.url, ...proxy })
  return {
    ...world,
    upstream,
    async stop() {
      await upstream.close()
      await world.provider.stop()
    },
  }
}

/** Options of an application with a proxy whose users are signed in already, so that it needs no provider. */
export const PROXIED_OPTIONS: IdpClientOptions = {
  domain: 'idp.example',
  clientId: 'app',
  clientSecret: 'client-secret',
  secret: SECRET,
  appBaseUrl: APP,
  enableAccessTokenEndpoint: false,
  logger: () => undefined,
}

/** Headers of a request of a script of the application. */
export const OWN = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }

/** A request of a script of the application, as `fetch` sends it. */
export function fromPage(
  browser: Browser,
  path: string,
  { headers, ...init }: RequestInit & { readonly duplex?: 'half' } = {},
): Request {
  const origin = init.method === undefined || init.method === 'GET' ? {} : { origin: APP }
  return browser.request(path, {
    ...init,
    headers: { ...OWN, ...origin, ...Object.fromEntries(new Headers(headers)) },
  })
}
