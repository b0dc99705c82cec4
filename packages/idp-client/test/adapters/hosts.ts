import type { RequestListener, Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DevProvider } from 'idp-dev-provider'
import { startUpstream } from 'idp-dev-provider'
import type { IdpClientOptions } from '../../src/index.ts'
import type { ContractHost, ProxyLimits } from '../../src/testing/index.ts'
import { contractHooks } from '../../src/testing/index.ts'
import { sendBytes } from '../support/send-bytes.ts'

export const SECRET = 'a5f1c3e8b7d94e20a5f1c3e8b7d94e20a5f1c3e8b7d94e20a5f1c3e8b7d94e20'

/** Where an application lives, as its browsers see it. */
export interface Place {
  readonly title: string
  readonly basePath: string
  /** Public URL of a proxy that ends TLS in front of the application; absent: reached directly. */
  readonly proxy?: string
  readonly options?: IdpClientOptions
  readonly proxyLimits?: ProxyLimits
}

export const places: readonly Place[] = [
  { title: 'reached directly over http', basePath: '' },
  { title: 'below a base path', basePath: '/app' },
  { title: 'behind a proxy that ends TLS', basePath: '', proxy: 'https://app.example.test' },
  {
    title: 'behind a proxy that takes away the path of appBaseUrl',
    basePath: '',
    proxy: 'https://example.test/app',
    options: { appBaseUrl: 'https://example.test/app' },
  },
]

/** Where an application that is not started yet has to be mounted, and the API that it proxies at `/proxied`. */
export interface Surroundings {
  readonly basePath: string
  readonly target: string
}

/** Creates an application. */
export type MakeApplication = (options: IdpClientOptions, surroundings: Surroundings) => RequestListener

export interface RunningHost {
  readonly host: ContractHost
  stop(): Promise<void>
}

function listen(listener: RequestListener): Promise<Server> {
  const server = createServer(listener)
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server))
  })
}

export async function startHost(
  make: MakeApplication,
  { basePath, proxy, proxyLimits = {}, options: local }: Place,
  provider: DevProvider,
  options: IdpClientOptions,
): Promise<RunningHost> {
  const events: unknown[] = []
  const logger = (event: unknown): void => {
    events.push(event)
  }
  const upstream = await startUpstream()
  const server = await listen(make({ ...options, ...local, logger }, { basePath, target: upstream.url }))
  const listensAt = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const url = `${proxy ?? listensAt}${basePath}`
  provider.registerApp(url)
  return {
    host: {
      url,
      ...(proxy === undefined ? {} : { listensAt }),
      secret: SECRET,
      styles: ['ambient', 'explicit'],
      signIn: (authorizationUrl, user) => provider.login(authorizationUrl, user),
      infersBaseUrl: proxy !== undefined && local?.appBaseUrl === undefined,
      accessToken: (claims, header = {}) => provider.signAccessToken(claims, { header }),
      publicKeys: () => provider.jwks().keys,
      log: () => JSON.stringify(events),
      upstream,
      sendBytes,
      proxyLimits,
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await upstream.close()
    },
  }
}

/** Options of a complete application at the given provider. */
export function configured(provider: DevProvider): IdpClientOptions {
  return {
    ...contractHooks,
    domain: provider.issuer,
    clientId: provider.clientId,
    clientSecret: provider.clientSecret,
    secret: SECRET,
    allowInsecureRequests: true,
  }
}
