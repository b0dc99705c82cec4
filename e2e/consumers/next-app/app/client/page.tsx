'use client'

import { useUser } from 'idp-client/react'

export default function ClientPage() {
  const { user } = useUser()
  return <p>{user?.name ?? 'nobody'}</p>
}
