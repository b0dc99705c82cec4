'use client'

import { useUser } from '@auth0/nextjs-auth0/client'

export function Greeting() {
  const { user, isLoading, checkSession } = useUser()
  if (isLoading) return <span>…</span>
  return (
    <button type="button" onClick={checkSession}>
      Hello {user?.name}
    </button>
  )
}
