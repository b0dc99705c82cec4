import type { Settings } from '../../config/config.ts'
import type { FrameworkRequest } from './client.ts'

/** Returns the `basename` that React Router removed before it matched a route, if the path of the route has no parameters. */
function toBasename({ params, pattern = ':', request }: FrameworkRequest): string | undefined {
  const path = pattern.replace(/\*$/, () => params?.['*'] ?? '*')
  const { pathname } = new URL(request.url)
  // The URL of a request for data ends with `.data`.
  return !/[:?*()]/.test(path) && pathname.endsWith(path) ? pathname.slice(0, -path.length) : undefined
}

/** Settings whose missing base path was reported: React Router ignores the case, and each spelling would be another notice. */
const reported = new WeakSet<Settings>()

/** Reports a `basename` that the base path does not name, once. */
export async function reportBasename(settings: Settings, args: FrameworkRequest): Promise<void> {
  if (reported.has(settings)) return
  const basename = toBasename(args)?.replace(/\/+$/, '')
  if (!basename || basename.toLowerCase() === settings.basePath.toLowerCase()) return
  reported.add(settings)
  const { reportFrameworkBase } = await import('../../config/framework-base.ts')
  reportFrameworkBase(settings, basename)
}
