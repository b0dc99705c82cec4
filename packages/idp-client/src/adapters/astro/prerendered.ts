import { IdpError } from '../../errors/base.ts'
import type { FrameworkRequest } from './context.ts'

export const REQUEST_TIME = 'Write export const prerender = false in a page that Astro prerenders.'

/** Returns whether Astro renders the page at build time. Throws `INVALID_ARGUMENTS` before Astro 5, which does not tell. */
export function isPrerendered({ isPrerendered }: FrameworkRequest): boolean {
  if (isPrerendered !== undefined) return isPrerendered
  throw new IdpError('INVALID_ARGUMENTS', { detail: 'idp-client/astro needs Astro 5 or later.' })
}

export async function rejectPrerendered(): Promise<never> {
  const detail = `A prerendered page has no session. ${REQUEST_TIME}`
  throw new IdpError('AMBIENT_REQUEST_MISSING', { detail })
}
