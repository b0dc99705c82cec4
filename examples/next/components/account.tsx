'use client'

import { useUser } from 'idp-client/react'
import { usePathname } from 'next/navigation'
import { displayName } from '../lib/display-name'
import { Avatar } from './avatar'

/** Shows who is signed in. Links to the auth routes are plain `<a>`, because a router must not fetch or prefetch them. */
export function Account() {
  const { user, isLoading, error } = useUser()
  const pathname = usePathname()
  if (isLoading) return <p className="account">Loading…</p>
  if (user) {
    return (
      <div className="account">
        <Avatar user={user} />
        <bdi className="account-name">{displayName(user)}</bdi>
        <a className="button" href="/auth/logout">
          Log out
        </a>
      </div>
    )
  }
  return (
    <div className="account">
      {error ? <span role="status">Could not load your session.</span> : null}
      <a
        className="button button-primary"
        href={`/auth/login?returnTo=${encodeURIComponent(pathname ?? '/')}`}
      >
        Log in
      </a>
    </div>
  )
}
