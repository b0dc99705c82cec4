import type { Application } from '../engine.ts'
import type { Exchange } from '../http/exchange.ts'
import { publicPrefix } from '../http/return-path.ts'

/**
 * Returns the path prefix of the links of a failure page. Without a base URL, whose lack may be the failure, it is the configured base
 * path.
 */
export function linkPrefix(application: Application, exchange: Exchange): string {
  const { basePath } = application.settings
  try {
    return publicPrefix(basePath, application.apiEngine().baseUrl(exchange))
  } catch {
    return basePath
  }
}
