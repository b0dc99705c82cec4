import type { Settings } from '../../config/config.ts'
import { reportFrameworkBase } from '../../config/framework-base.ts'
import type { FrameworkRequest } from './client.ts'

/** Returns the `basename` that React Router removed before it matched a route, if the path of the route has no parameters. */
function toBasename({ params, pattern = ':', request }: FrameworkRequest): string | undefined {
  const path = pattern.replace(/\*$/, () => params?.['*'] ?? '*')
  const { pathname } = new URL(request.url)
  // The URL of a request for data ends with `.data`.
  return !/[:?*()]/.test(path) && pathname.endsWith(path) ? pathname.slice(0, -path.length) : undefined
}

/** Settings that were compared with the `basename`: it is the same in every request, except for its case and slashes. */
const compared = new WeakSet<Settings>()

/** Reports a `basename` that the base path does not name, in the first request that tells it. React Router ignores its case. */
export function reportBasename(settings: Settings, args: FrameworkRequest): void {
  if (compared.has(settings)) return
  const basename = toBasename(args)?.replace(/\/+$/, '')
  if (basename === undefined) return
  compared.add(settings)
  if (basename.toLowerCase() !== settings.basePath.toLowerCase()) reportFrameworkBase(settings, basename)
}
