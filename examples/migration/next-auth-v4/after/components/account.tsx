'use client'

import { useUser } from 'idp-client/react'

export function Account() {
  const { user, isLoading } = useUser()
  if (isLoading) return <span>…</span>
  if (!user) return <a href="/auth/login?returnTo=/orders">Log in</a>
  return <a href="/auth/logout">Log out {user.name}</a>
}
