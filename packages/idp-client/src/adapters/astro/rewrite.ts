import { InvalidConfigurationError } from '../../errors/configuration.ts'
import { openBinding } from '../../http/host-state.ts'
import { ambient } from '../web/web-host.ts'
import type { FrameworkRequest } from './client.ts'

/**
 * Returns whether Astro runs the middleware again for a rewrite: inside the first run, with another request; a second mount
 * has the same one. Throws `INVALID_CONFIGURATION` if `locals` belongs to another request: its session would be that of
 * another user.
 */
export function isRewrite({ locals, request }: FrameworkRequest): boolean {
  const outer = openBinding(locals)
  if (!outer || openBinding(request)) return false
  if (outer === ambient.get()) return true
  const detail = 'Astro.locals belongs to another request. Pass Astro a new object for each request.'
  throw new InvalidConfigurationError('INVALID_CONFIGURATION', { detail })
}
