'use client'

import type { User } from 'idp-client'
import { useUser, withPageAuthRequired } from 'idp-client/react'
import { useState } from 'react'
import { UserCard } from '../../components/user-card'
import { ApiCall } from './api-call'

function Profile({ user }: { user: User }) {
  return (
    <>
      <UserCard user={user} />
      <Refresh />
      <section className="card" aria-labelledby="api-title">
        <h2 id="api-title">Protected API routes</h2>
        <p>Without a session both respond with status 401.</p>
        <ApiCall path="/api/me" label="App Router" />
        <ApiCall path="/api/legacy-me" label="Pages Router" />
      </section>
    </>
  )
}

function Refresh() {
  const { invalidate, error } = useUser()
  const [message, setMessage] = useState('')
  async function refresh() {
    setMessage('Loading…')
    await invalidate()
    setMessage('Up to date.')
  }
  return (
    <p className="actions">
      <button className="button" type="button" onClick={refresh}>
        Reload the user
      </button>
      <span role="status">{error ? error.message : message}</span>
    </p>
  )
}

export const ClientProfile = withPageAuthRequired(Profile, {
  onRedirecting: () => <p role="status">Redirecting to the login…</p>,
  onError: (error) => <p role="alert">{error.message}</p>,
})
