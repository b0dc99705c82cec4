import type { User } from 'idp-client'
import { displayName } from '../lib/display-name'
import { initials } from '../lib/format'

/** The user's picture, or the initials if there is none or it cannot be loaded. */
export function Avatar({ user, large = false }: { user: User; large?: boolean }) {
  return (
    <span aria-hidden="true" className={large ? 'avatar avatar-large' : 'avatar'}>
      {initials(displayName(user))}
      {isWebAddress(user.picture) ? <img src={user.picture} alt="" referrerPolicy="no-referrer" /> : null}
    </span>
  )
}

function isWebAddress(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\//i.test(value)
}
