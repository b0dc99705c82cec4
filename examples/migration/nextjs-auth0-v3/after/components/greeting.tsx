'use client'

import { useUser } from 'idp-client/react'

export function Greeting() {
  const { user, isLoading, invalidate } = useUser()
  if (isLoading) return <span>…</span>
  return (
    <button type="button" onClick={invalidate}>
      Hello {user?.name}
    </button>
  )
}
