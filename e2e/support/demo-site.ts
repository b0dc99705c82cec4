import type { DevProvider } from 'idp-dev-provider'
import type { RunOptions } from '../fixtures/support/next-application.ts'
import { startNext } from '../fixtures/support/next-application.ts'
import { builtFolder } from './built.ts'
import type { Complaints } from './complaints.ts'
import type { HttpsFront } from './https-front.ts'
import { startHttpsFront } from './https-front.ts'

/** Seals the cookies of every site that a test starts. */
export const SECRET = '3d0f6a9bb1c24785e6d2094fa7c813563d0f6a9bb1c24785e6d2094fa7c81356'

export interface DemoSite {
  /** How a browser reaches it, by https. */
  readonly url: string
  /** How the proxy in front reaches it, by http. */
  readonly internalUrl: string
  readonly front: HttpsFront
  /** The output of the server. */
  readonly output: () => string
  /** Errors and warnings of the server, to be compared with what a test announces. */
  readonly complaints: Complaints
  /** Sets how far a server with a movable clock is ahead of time, in seconds. */
  shiftClock(seconds: number): Promise<void>
  /** @throws if the server reported an error or a warning that was not announced */
  stop(): Promise<void>
}

/**
 * Starts the production build of the example behind a proxy that ends TLS.
 *
 * @param provider Without one, no variable of ours is set.
 */
export async function startDemo(
  provider?: DevProvider,
  variables: Readonly<Record<string, string>> = {},
  options?: RunOptions,
): Promise<DemoSite> {
  const folder = await builtFolder('demo')
  const front = await startHttpsFront()
  const configured = provider ? { ...provider.env, IDP_SECRET: SECRET, APP_BASE_URL: front.url } : {}
  const server = await startNext(folder, 'start', () => ({ ...configured, ...variables }), options)
  front.forwardTo(server.url)
  provider?.registerApp(front.url)
  return {
    url: front.url,
    internalUrl: server.url,
    front,
    output: server.output,
    complaints: server.complaints,
    shiftClock: server.shiftClock,
    async stop() {
      await front.stop()
      await server.stop()
      await server.complaints.settle()
    },
  }
}
