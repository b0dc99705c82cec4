import type { Settings } from '../../config/config.ts'

/** The part of a `NitroApp` that tells its base path. */
export interface RoutedApp {
  readonly h3App: { readonly stack?: readonly { readonly route: string; readonly handler: unknown }[] }
  readonly router?: { readonly handler: unknown }
}

/**
 * Returns the path below which Nitro serves the routes of the application (`app.baseURL` of Nuxt, `baseURL` of Nitro), where it has
 * mounted its router. `undefined` for `/`, and while it prerenders pages: a build may lack the variables of the server.
 */
export function findBasePath({ h3App: { stack }, router }: RoutedApp): string | undefined {
  if (import.meta.prerender || !router) return undefined
  const route = stack?.find(({ handler }) => handler === router.handler)?.route
  return route === '/' ? undefined : route
}

/** Reports the path if it is not the configured one. Loaded when an application has a base path: few have one. */
export async function reportBasePath(settings: Settings, basePath: string): Promise<void> {
  const { reportFrameworkBase } = await import('../../config/framework-base.ts')
  reportFrameworkBase(settings, basePath)
}
