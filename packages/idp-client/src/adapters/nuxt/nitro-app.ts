import type { Settings } from '../../config/config.ts'
import { invalidAtStart } from '../../errors/configuration.ts'
import type { FrameworkRequest } from './event-handler.ts'

/** The used part of a `NitroApp`. */
export interface NitroApp {
  readonly h3App: {
    readonly stack?: readonly { readonly route: string; readonly handler: unknown }[]
    handler(event: FrameworkRequest): unknown
  }
  readonly router?: { readonly handler: unknown }
}

/** Returns the application of h3 1. Throws `INVALID_CONFIGURATION` with h3 2, for which Nitro names it differently. */
export function toH3App({ h3App }: Partial<NitroApp>): NitroApp['h3App'] {
  if (h3App) return h3App
  const detail = 'idp-client/nuxt needs h3 1: Nuxt 3 or 4, or Nitro 2. With h3 2 use idp-client.'
  throw invalidAtStart(detail)
}

/**
 * Returns the path below which Nitro serves the routes of the application (`app.baseURL` of Nuxt, `baseURL` of Nitro), where it has
 * mounted its router. `undefined` for `/`, and while it prerenders pages: a build may lack the variables of the server.
 */
export function findBasePath({ h3App: { stack }, router }: NitroApp): string | undefined {
  if (import.meta.prerender || !router) return undefined
  const route = stack?.find(({ handler }) => handler === router.handler)?.route
  return route === '/' ? undefined : route
}

/** Reports the path if it is not the configured one. Loaded when an application has a base path: few have one. */
export async function reportBasePath(settings: Settings, basePath: string): Promise<void> {
  if (basePath === settings.basePath) return
  const { reportFrameworkBase } = await import('../../config/framework-base.ts')
  reportFrameworkBase(settings, basePath)
}
