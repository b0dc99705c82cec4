import type { User } from 'idp-client'
import { displayName } from '../lib/display-name'
import { initials } from '../lib/format'

export function Avatar({ user, large = false }: { user: User; large?: boolean }) {
  return (
    <span aria-hidden="true" className={large ? 'avatar avatar-large' : 'avatar'}>
      {initials(displayName(user))}
    </span>
  )
}
