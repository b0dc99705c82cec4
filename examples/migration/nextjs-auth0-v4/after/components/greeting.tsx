'use client'

import { useUser } from 'idp-client/react'

export function Greeting() {
  const { user, isLoading } = useUser()
  if (isLoading) return <span>…</span>
  return <span>Hello {user?.name}</span>
}
