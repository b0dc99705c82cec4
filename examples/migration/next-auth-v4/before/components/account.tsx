'use client'

import { signIn, signOut, useSession } from 'next-auth/react'

export function Account() {
  const { data, status } = useSession()
  if (status === 'loading') return <span>…</span>
  if (!data) {
    return (
      <button type="button" onClick={() => signIn('idp', { callbackUrl: '/orders' })}>
        Log in
      </button>
    )
  }
  return (
    <button type="button" onClick={() => signOut({ callbackUrl: '/' })}>
      Log out {data.user?.name}
    </button>
  )
}
