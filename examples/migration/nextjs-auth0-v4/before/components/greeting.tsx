'use client'

import { useUser } from '@auth0/nextjs-auth0/client'

export function Greeting() {
  const { user, isLoading } = useUser()
  if (isLoading) return <span>…</span>
  return <span>Hello {user?.name}</span>
}
