import { useUser } from 'idp-client/react'
import { Orders } from './orders'

export function App() {
  const { user, isLoading, error } = useUser()
  return (
    <>
      <header>
        <p>Tea shop</p>
        {user ? (
          <p>
            Signed in as {user.name} <a href="/auth/logout">Log out</a>
          </p>
        ) : (
          <a href="/auth/login">Log in</a>
        )}
      </header>
      <main>
        <h1>Orders</h1>
        {isLoading && <p role="status">Loading…</p>}
        {error && <p role="alert">{error.message}</p>}
        {!isLoading && !user && <p>Signed out. Log in to see your orders.</p>}
        {user && <Orders key={user.sub} />}
      </main>
    </>
  )
}
