import { invalidConfiguration } from '../../errors/configuration.ts'
import { openBinding } from '../../http/host-state.ts'
import { ambient } from '../web/web-host.ts'
import type { FrameworkRequest } from './context.ts'

/** Objects that the application has passed to several requests as their `locals`. */
const shared = new WeakSet<object>()

/** Returns whether several requests have the same `locals`: then nothing in it belongs to any of them. */
export const isShared = (locals: object): boolean => shared.has(locals)

function rejectShared(): never {
  const detail = 'Astro.locals belongs to another request. Pass Astro a new object for each request.'
  throw invalidConfiguration(detail)
}

/** Throws `INVALID_CONFIGURATION` if several requests have the same `locals`: its session may be that of another user. */
export function assertNotShared(locals: object): void {
  if (isShared(locals)) rejectShared()
}

/**
 * Returns whether Astro runs the middleware again for a rewrite: inside the first run, with another request; a second mount
 * has the same one. Throws `INVALID_CONFIGURATION` if `locals` belongs to another request, from then on: Astro passes it to
 * the page of errors as well.
 */
export function isRewrite({ locals, request }: FrameworkRequest): boolean {
  assertNotShared(locals)
  const outer = openBinding(locals)
  if (!outer || openBinding(request)) return false
  if (outer === ambient.getStore()) return true
  shared.add(locals)
  return rejectShared()
}
