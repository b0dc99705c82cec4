import { IdpError } from '../../errors/base.ts'
import type { FrameworkRequest } from './context.ts'

/** Astro marks the contexts of actions with it. */
const ACTION = Symbol.for('astro.actionAPIContext')

/** Throws `INVALID_ARGUMENTS` in actions and server islands: requests of their own, whose response cannot redirect. */
export function assertPage(context: FrameworkRequest): void {
  if (ACTION in context) reject('An action cannot redirect: use idp.requireActionAuth(context).')
  if (context.routePattern?.startsWith('/_server-islands/'))
    reject(
      'A server island cannot redirect: use idp.getSession(Astro), and render nothing without a session.',
    )
}

function reject(detail: string): never {
  throw new IdpError('INVALID_ARGUMENTS', { detail })
}
